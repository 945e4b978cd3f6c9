import Foundation
import Glibc
import ReelCore
import ReelStore
import Testing

@Suite("Identity of a store")
struct StoreIdentityTests {
    private func refusal(_ root: String) -> FailureReason? {
        do {
            _ = try FolderStore(root: root)
            return nil
        } catch {
            #expect(error.exitCode == 4)
            return error.reason
        }
    }

    @Test("A store keeps its id; opening makes nothing")
    func identity() throws {
        try withFolder { folder throws in
            let root = folder + "/store"
            #expect(refusal(root) == .storeMissing(path: root))
            #expect(try names(folder).isEmpty)
            let id = try #require(try FolderStore.make(root: root).id)
            #expect(id.text.count == 16)
            #expect(try FolderStore(root: root).id == id)
            #expect(try FolderStore.make(root: root).id == id)
            #expect(try text(root + "/store.json") == #"{"id":"\#(id)","version":1}"#)
            #expect(try FolderStore.make(root: folder + "/other").id != id)
        }
    }

    @Test("An empty folder is no store yet, and any other folder without an id is refused, whatever is in it")
    func kinds() throws {
        try withFolder { folder throws in
            #expect(try FolderStore(root: folder).id == nil)
            #expect(try names(folder).isEmpty)
            try write("mine", folder + "/file")
            #expect(refusal(folder) == .storeMissing(path: folder))
            #expect(refusal(folder + "/file") == .storeMissing(path: folder + "/file"))
            mkdir(folder + "/jobs", 0o777)
            #expect(refusal(folder) == .storeMissing(path: folder))
            try write(#"{"version":2}"#, folder + "/store.json")
            #expect(refusal(folder) == .storeOfOtherVersion(path: folder, found: 2, known: 1))
        }
    }

    @Test("While a store is away, nothing is made in its place")
    func away() throws {
        try withFolder { folder throws in
            let root = folder + "/store"
            let store = try FolderStore.make(root: root)
            try FileManager.default.moveItem(atPath: root, toPath: folder + "/away")
            // The file system is not mounted: its place is missing, or an empty folder.
            for hasPlace in [false, true] {
                if hasPlace { mkdir(root, 0o777) }
                let failures = [
                    try #require(throws: ReelFailure.self) { try store.job(JobID("0123456789abcdef")).engineFolders() },
                    try #require(throws: ReelFailure.self) { try store.source(fingerprint).indexFolder() },
                    try #require(throws: ReelFailure.self) {
                        try store.source(fingerprint).disprove(ReelFailure(.storeMissing(path: "")))
                    },
                ]
                #expect(failures.allSatisfy { $0.reason == .storeMissing(path: root) }, "\(failures)")
                #expect(try names(folder) == (hasPlace ? ["away", "store"] : ["away"]))
            }
            #expect(try names(root).isEmpty)
        }
    }

    @Test("Processes that make a store at the same time make one")
    func atOnce() async throws {
        let folder = NSTemporaryDirectory() + "reel-store-tests-" + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let ids = try await withThrowingTaskGroup(of: StoreID?.self) { group in
            for _ in 0..<8 { group.addTask { try FolderStore.make(root: folder).id } }
            return try await group.reduce(into: Set<StoreID?>()) { $0.insert($1) }
        }
        #expect(ids.count == 1 && !ids.contains(nil))
    }
}
