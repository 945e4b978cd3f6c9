import Foundation
package import ReelCore
package import ReelStore
import Synchronization

/// A store without a folder: what it knows are values in memory. Only the bytes that engines read and write are files,
/// each in a room of its own, which goes with the value that holds it.
package final class MemoryStore: JobStore {
    struct State {
        var id: StoreID?
        var isFull = false
        var jobs: [JobID: JobState] = [:]
        var sources: [Fingerprint: SourceState] = [:]
    }

    /// What the store has of one job.
    struct JobState {
        var record: JobRecord?
        var plans: [Int: StoredPlan] = [:]
        /// Rooms of segments that engines were asked for, finished or not.
        var segments: [SegmentName: Room] = [:]
        /// Rooms of outputs that are not published yet, by token and name.
        var assembling: [[String]: Room] = [:]
        var output: Room?
        /// Copies of sources, by name.
        var copies: [String: Room] = [:]
        var attempts: [String: String] = [:]
        var pictures: Room?
    }

    struct StoredPlan {
        var plan: Plan
        /// Where engines read it.
        var room: Room
    }

    /// What the store has of one source.
    struct SourceState {
        var indexes: [StoredIndex] = []
        var disproof: ReelFailure?
    }

    struct StoredIndex {
        var kind: IndexKind
        var hash: String
        var draft: IndexDraft
    }

    private let state = Mutex(State())
    let folder: String

    package let name = "memory"

    /// An empty place that is no store yet.
    package init() throws {
        folder = NSTemporaryDirectory() + "reel-memory-store-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    /// Reads or changes what the store has; no other caller does meanwhile.
    func withState<R: Sendable, E: Error>(_ body: (inout State) throws(E) -> R) throws(E) -> R {
        try state.withLock { state throws(E) in try body(&state) }
    }

    /// A new room.
    func room() throws(ReelFailure) -> Room { try Room(in: folder) }

    /// A locator of nothing.
    func missing(_ name: String) -> Locator { .file("\(folder)/\(name)") }

    // MARK: JobStore

    package func identity() -> StoreID? { state.withLock(\.id) }

    package func establish() -> StoreID {
        state.withLock { state in
            let id = state.id ?? StoreID(String(UInt64.random(in: .min ... .max), radix: 16))
            state.id = id
            return id
        }
    }

    package func check() {}

    package func tryWorking() {}

    package func hasRoom() -> Bool { !isFull }

    /// Whether nothing more fits, as engines report it. Writes succeed all the same.
    package var isFull: Bool {
        get { state.withLock(\.isFull) }
        set { state.withLock { $0.isFull = newValue } }
    }

    package var freeSpace: Int64? { nil }

    package var showsWritesLate: Bool { false }

    package func jobs() -> [JobID] {
        state.withLock { state in state.jobs.filter { $0.value.record != nil }.keys.sorted { $0.text < $1.text } }
    }

    package func job(_ id: JobID) -> MemoryJob { MemoryJob(id: id, store: self) }

    package func source(_ fingerprint: Fingerprint) -> MemorySource {
        MemorySource(fingerprint: fingerprint, store: self)
    }

    package func readIndex(_ locator: Locator) throws(ReelFailure) -> SourceIndex {
        guard let data = try? Data(contentsOf: URL(filePath: locator.name)) else { throw Room.failure(locator.name) }
        return try SourceIndex(decoding: Array(data))
    }

    /// Nothing: a record is there as soon as anything of its job.
    package func removeUnrecordedJobs(before moment: Double) {}

    package func removeUnusedSources() {
        state.withLock { state in
            let used = Set(state.jobs.values.compactMap(\.record).flatMap { $0.sources.map(\.fingerprint) })
            state.sources = state.sources.filter { used.contains($0.key) }
        }
    }
}
