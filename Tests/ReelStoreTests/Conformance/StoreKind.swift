import Foundation
import ReelCore
import ReelMemoryStore
import ReelStore
import Testing

/// An implementation of `JobStore`.
struct StoreKind: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// Opens an empty place that is no store yet; it may use this empty folder.
    let open: @Sendable (_ folder: String) throws -> any JobStore

    static let all = [
        StoreKind(testDescription: "folder") { try FolderStore(root: $0) },
        StoreKind(testDescription: "memory") { _ in try MemoryStore() },
    ]

    /// Runs a test's body with an empty place, and a folder for files of the test's own.
    func withPlace(_ body: (_ store: any JobStore, _ files: String) async throws -> Void) async throws {
        let folder = NSTemporaryDirectory() + "reel-store-tests-" + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: folder) }
        for name in ["store", "files"] {
            try FileManager.default.createDirectory(atPath: "\(folder)/\(name)", withIntermediateDirectories: true)
        }
        try await body(try open(folder + "/store"), folder + "/files")
    }

    /// Runs a test's body with an empty store.
    func withStore(_ body: (any JobStore) async throws -> Void) async throws {
        try await withPlace { store, _ in
            _ = try await store.establish()
            try await body(store)
        }
    }

    /// Runs a test's body with a store and a job that has nothing but its record.
    func withJob(_ body: (_ store: any JobStore, _ job: any JobEntry) async throws -> Void) async throws {
        try await withStore { store in
            let job = store.job(JobID("a1"))
            #expect(try await job.create(record(job.id)))
            try await body(store, job)
        }
    }
}

/// The reason of a failure; nil if there is none.
func reason(_ body: () async throws -> Void) async -> FailureReason? {
    do {
        try await body()
        return nil
    } catch {
        return (error as? ReelFailure)?.reason
    }
}

/// Whether there is a file for a locator.
func isThere(_ locator: Locator) -> Bool { FileManager.default.fileExists(atPath: locator.name) }
