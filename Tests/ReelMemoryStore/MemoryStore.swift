import Foundation
import Glibc
package import ReelCore
package import ReelStore
import Synchronization

/// A store without a folder: what it knows are values in memory. Only the bytes that engines read and write are files,
/// each in a room of its own, which goes with the value that holds it.
package final class MemoryStore: JobStore {
    struct State {
        var id: StoreID?
        var isFull = false
        var isAway = false
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

    package func check() throws(ReelFailure) {
        if isAway { throw ReelFailure(.bucketUnanswered(role: .store, address: name, said: "no answer")) }
    }

    package func tryWorking() throws(ReelFailure) { try check() }

    /// Whether it says that it does not answer when it is asked whether it is there. It works all the same.
    package var isAway: Bool {
        get { state.withLock(\.isAway) }
        set { state.withLock { $0.isAway = newValue } }
    }

    package func hasRoom() -> Bool { !isFull }

    /// Whether nothing more fits, as engines report it. Writes succeed all the same.
    package var isFull: Bool {
        get { state.withLock(\.isFull) }
        set { state.withLock { $0.isFull = newValue } }
    }

    /// Less than a disk has, so that what others write meanwhile does not matter.
    package var freeSpace: Int64? { 1 << 20 }

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

/// What a `MemoryStore` has of one source.
package struct MemorySource: SourceEntry {
    let fingerprint: Fingerprint
    let store: MemoryStore

    package var name: String { store.name }

    private var indexes: [MemoryStore.StoredIndex] { store.withState { $0.sources[fingerprint]?.indexes ?? [] } }

    package func index(_ kind: IndexKind) -> (hash: String, locator: Locator)? {
        indexes.filter { $0.kind == kind }.min { $0.hash < $1.hash }.map { ($0.hash, $0.draft.locator) }
    }

    package func locator(of hash: String) -> Locator? { indexes.first { $0.hash == hash }?.draft.locator }

    package func isDecoded(_ hash: String) -> Bool { indexes.contains { $0.hash == hash && $0.kind == .decoded } }

    package func draft() throws(ReelFailure) -> IndexDraft {
        let room = try store.room()
        return IndexDraft(at: room.locator("index"), in: .file(room.path), room: room)
    }

    package func indexFolder() throws(ReelFailure) -> Locator { .file(try store.room().path) }

    package func keep(_ draft: IndexDraft, as kind: IndexKind) throws(ReelFailure) -> String {
        let index = MemoryStore.StoredIndex(
            kind: kind, hash: try Fingerprint.sha256Hex(of: draft.locator.name), draft: draft)
        store.withState { state in
            guard !indexed(state, index) else { return }
            state.sources[fingerprint, default: MemoryStore.SourceState()].indexes.append(index)
        }
        return index.hash
    }

    private func indexed(_ state: MemoryStore.State, _ index: MemoryStore.StoredIndex) -> Bool {
        state.sources[fingerprint]?.indexes.contains { ($0.kind, $0.hash) == (index.kind, index.hash) } ?? false
    }

    package func isDisproved() -> Bool { store.withState { $0.sources[fingerprint]?.disproof != nil } }

    package func disprove(_ reason: ReelFailure) {
        store.withState { $0.sources[fingerprint, default: MemoryStore.SourceState()].disproof = reason }
    }
}

/// A folder of its own for bytes that an engine reads or writes: locators are files. It is removed with the last
/// reference.
final class Room: Sendable {
    let path: String

    init(in parent: String) throws(ReelFailure) {
        path = parent + "/" + UUID().uuidString
        guard mkdir(path, 0o700) == 0 else { throw Room.failure(path) }
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func locator(_ name: String) -> Locator { .file("\(path)/\(name)") }

    func write(_ bytes: [UInt8], as name: String) throws(ReelFailure) {
        do {
            try Data(bytes).write(to: URL(filePath: "\(path)/\(name)"))
        } catch {
            throw Room.failure(path)
        }
    }

    /// Nil if there is no such file.
    func read(_ name: String) -> [UInt8]? {
        (try? Data(contentsOf: URL(filePath: "\(path)/\(name)"))).map { Array($0) }
    }

    /// The size of a file in bytes; nil if there is none.
    func size(of name: String) -> Int64? {
        var status = stat()
        return stat("\(path)/\(name)", &status) == 0 ? Int64(status.st_size) : nil
    }

    /// Copies a file from elsewhere, which then has this modification time.
    func copy(_ file: String, as name: String, mtimeNanoseconds: Int64) throws(ReelFailure) {
        let copy = "\(path)/\(name)"
        let (seconds, rest) = mtimeNanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        let time = timespec(tv_sec: Int(seconds), tv_nsec: Int(rest))
        guard (try? FileManager.default.copyItem(atPath: file, toPath: copy)) != nil,
            utimensat(AT_FDCWD, copy, [time, time], 0) == 0
        else { throw Room.failure(copy) }
    }

    static func failure(_ path: String) -> ReelFailure {
        ReelFailure(.storeUnusable(doing: .write, path: path, errno: errno))
    }
}
