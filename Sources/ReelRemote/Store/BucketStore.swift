internal import Foundation
package import ReelCore
package import ReelStore
internal import Synchronization

/// A store in a bucket. Its objects have the names that the files of a ``FolderStore`` have, below a prefix.
///
/// Engines read and write files. So each process keeps a folder of its own, `local`, with the same names: what an engine
/// reads is brought there, and what it has written is uploaded from there. Nothing in it is needed after the process.
///
/// An object appears as a whole. Few stores can write an object only if it does not exist, so writers of a record, or of a
/// job's plans, take turns by locks on the board. Reads see what was written before; lists may be late.
package struct BucketStore: JobStore {
    let objects: StoreObjects
    let local: FolderStore
    private let locks: any StoreLocks
    private let kept: LocalFiles
    let tidied = TidiedJobs()
    /// The name of the object by which processes try to work. All write the same, and none removes it: one that was killed in
    /// between would leave it for good.
    private static let trial = "trial"
    /// Nil for an empty place that is not a store yet.
    private let id: StoreID?

    package var name: String { objects.place.text }

    package var isMetered: Bool { true }

    /// Opens a store.
    ///
    /// Throws `.storeMissing` if something else is at its place, `.storeOfOtherVersion`, and the failures of buckets.
    ///
    /// - Parameters:
    ///   - locks: of the board that belongs to the store.
    ///   - scratch: a folder of this machine, with room for what engines read and write.
    package init(
        _ place: StorePlace, in store: ObjectStore, locks: any StoreLocks, scratch: String
    ) async throws(ReelFailure) {
        objects = StoreObjects(place, in: store)
        self.locks = locks
        let folder = try TemporaryFolder(scratchIn: scratch)
        local = try FolderStore.make(root: folder.path + "/store")
        kept = LocalFiles(folder)
        id = try await BucketStore.identity(objects)
        if id == nil, try await !objects.list("").isEmpty { throw ReelFailure(.storeMissing(path: place.text)) }
    }

    private static func identity(_ objects: StoreObjects) async throws(ReelFailure) -> StoreID? {
        guard let bytes = try await objects.read(StoreMarker.name) else { return nil }
        return try StoreMarker.read(bytes, at: objects.shown(StoreMarker.name), root: objects.place.text)
    }

    package func identity() async throws(ReelFailure) -> StoreID? {
        if let id { return id }
        return try await BucketStore.identity(objects)
    }

    package func establish() async throws(ReelFailure) -> StoreID {
        if let found = try await BucketStore.identity(objects) { return found }
        // Processes that make the same place a store at once write the same marker.
        let marker = StoreMarker(id: StoreID(String(Fingerprint.sha256Hex(Array(objects.url.utf8)).prefix(16))))
        try await objects.write(AtomicFile.json(of: marker), to: StoreMarker.name)
        return marker.id
    }

    package func check() async throws(ReelFailure) {
        guard let id else { return }
        guard try await BucketStore.identity(objects) == id else { throw ReelFailure(.storeMissing(path: name)) }
    }

    package func tryWorking() async throws(ReelFailure) {
        let bytes = Array("reel\n".utf8)
        try await objects.write(bytes, to: Self.trial)
        guard try await objects.read(Self.trial) == bytes else {
            let address = objects.shown(Self.trial)
            throw ReelFailure(
                .bucketMisanswered(role: .store, address: address, said: "other bytes than it was given"))
        }
    }

    /// In the folder of this machine: engines write there.
    package func hasRoom() -> Bool { local.hasRoom() }

    package var freeSpace: Int64? { nil }

    package var showsWritesLate: Bool { false }

    // MARK: Turns

    static func newToken() -> String { Hexadecimal.text((0..<16).map { _ in UInt8.random(in: .min ... .max) }) }

    /// A lock that is held. Its holder may freeze: then the lock lapses, and another process goes on.
    struct Turn {
        fileprivate let name: String
        fileprivate let token: String
        fileprivate let store: BucketStore

        /// Throws `.storeTurnLost` if the lock is not held any more; otherwise it is held for longer.
        func goOn(to object: String) async throws(ReelFailure) {
            guard try await store.locks.keep(name, token: token, for: BucketStore.lease) else {
                throw ReelFailure(.storeTurnLost(path: store.objects.shown(object)))
            }
        }

        /// Writes an object. Throws `.storeTurnLost` if the lock is not held any more.
        func write(_ bytes: [UInt8], to object: String) async throws(ReelFailure) {
            try await goOn(to: object)
            try await store.objects.write(bytes, to: object, within: StoreObjects.patience)
        }
    }

    /// Longer than a write goes on, or the removal of some objects.
    private static let lease = StoreObjects.patience + .seconds(10)

    /// Runs a body while no other process holds the lock of that name.
    func inTurn<Answer>(
        _ name: String, _ body: (Turn) async throws(ReelFailure) -> Answer
    ) async throws(ReelFailure) -> Answer {
        let turn = Turn(name: name, token: BucketStore.newToken(), store: self)
        while try await !locks.take(name, token: turn.token, for: BucketStore.lease) {
            do { try await Task.sleep(for: .milliseconds(Int.random(in: 10...60))) } catch {
                throw ReelFailure(.interrupted)
            }
        }
        let answer: Answer
        do throws(ReelFailure) { answer = try await body(turn) } catch {
            await locks.release(name, token: turn.token)
            throw error
        }
        await locks.release(name, token: turn.token)
        return answer
    }

    // MARK: Jobs and sources

    package func job(_ id: JobID) -> BucketJob { BucketJob(id: id, store: self) }

    package func source(_ fingerprint: Fingerprint) throws(ReelFailure) -> BucketSources {
        BucketSources(local: try local.source(fingerprint), store: self)
    }

    package func jobs() async throws(ReelFailure) -> [JobID] {
        let found = try await objects.folders(in: "jobs/").map { JobID($0) }
        // A list names a job as long as it has any object.
        let recorded = try await concurrently(found) { id async throws(ReelFailure) in
            try await objects.exists(job(id).recordName)
        }
        return zip(found, recorded).filter(\.1).map(\.0).sorted { $0.text < $1.text }
    }

    /// A record is the first object of a job and the last to go, so there is nothing but uploads in parts that their makers
    /// have left. They go when a day has passed.
    package func removeUnrecordedJobs(before moment: Double) async {
        try? await objects.abortUploads(before: moment - 86_400)
    }

    package func readIndex(_ locator: Locator) throws(ReelFailure) -> SourceIndex { try local.readIndex(locator) }

    package func removeUnusedSources() async { try? await removeSources() }

    private func removeSources() async throws(ReelFailure) {
        // List the sources first, then the jobs: a source that is listed here has its job's record already.
        let folders = try await objects.folders(in: "sources/")
        guard !folders.isEmpty else { return }
        var used: Set<String> = []
        for id in try await jobs() {
            do throws(ReelFailure) {
                for source in try await job(id).read().sources { used.insert(try SourceFolder.key(source.fingerprint)) }
            } catch {
                guard case .jobUnknownHere = error.reason else { throw error }
            }
        }
        for folder in folders where !used.contains(folder) { try await objects.removeAll("sources/\(folder)/") }
    }

    // MARK: The local folder

    /// The name in the bucket of what has a path in the local folder.
    func name(of path: String) -> String { String(path.dropFirst(local.root.count + 1)) }

    /// Notes that a folder of the local store is used. The ones that were used least go when there are many.
    func noteUse(of folder: String) { kept.note(folder) }

    /// The path of a file of this machine with the bytes of an object. The last few stay.
    ///
    /// - Parameters:
    ///   - bytes: its size.
    ///   - content: names its contents; an object that is replaced has another.
    func fetch(_ name: String, bytes: Int64, _ content: String) async throws(ReelFailure) -> String {
        let path = "\(kept.folder)/\(Fingerprint.sha256Hex(Array("\(name) \(content)".utf8)))"
        if !FileManager.default.fileExists(atPath: path) { try await objects.download(name, bytes: bytes, to: path) }
        kept.note(fetched: path)
        return path
    }
}

/// Jobs that ended a while ago, and that this process has tidied up: each look costs requests. A worker that was frozen may
/// still write parts of a job that ended just now.
final class TidiedJobs: Sendable {
    private let jobs = Mutex<Set<String>>([])

    /// Seconds after a job's end in which it is looked at again and again.
    private static let patience = 3600.0

    func contains(_ record: JobRecord) -> Bool { jobs.withLock { $0.contains(TidiedJobs.name(record)) } }

    func insert(_ record: JobRecord) {
        guard let finished = record.finished, finished + TidiedJobs.patience < Date().timeIntervalSince1970 else {
            return
        }
        jobs.withLock { _ = $0.insert(TidiedJobs.name(record)) }
    }

    /// A job that is done anew ends at another time.
    private static func name(_ record: JobRecord) -> String { "\(record.id) \(record.finished ?? 0)" }
}

/// Runs a body for each of several values, some at a time, and returns the answers in their order.
func concurrently<Value: Sendable, Answer: Sendable>(
    _ values: [Value], _ body: @escaping @Sendable (Value) async throws(ReelFailure) -> Answer
) async throws(ReelFailure) -> [Answer] {
    do {
        return try await withThrowingTaskGroup(of: (Int, Answer).self) { group in
            var answers: [Answer?] = Array(repeating: nil, count: values.count)
            var next = 0
            func begin() {
                guard next < values.count else { return }
                let (place, value) = (next, values[next])
                group.addTask { (place, try await body(value)) }
                next += 1
            }
            for _ in 0..<8 { begin() }
            while let (place, answer) = try await group.next() {
                answers[place] = answer
                begin()
            }
            return answers.compactMap(\.self)
        }
    } catch {
        // Any other error here means that the task was cancelled.
        throw error as? ReelFailure ?? ReelFailure(.interrupted)
    }
}

/// What a process keeps of a store in a bucket on its machine.
final class LocalFiles: Sendable {
    private let room: TemporaryFolder
    var folder: String { room.path }
    /// From the one that was used least recently.
    private let used = Mutex<(folders: [String], fetched: [String])>(([], []))

    /// Sources' indexes are the largest part: some may be read while others come.
    private static let (mostFolders, mostFetched) = (200, 4)

    init(_ room: TemporaryFolder) { self.room = room }

    func note(_ folder: String) {
        used.withLock { LocalFiles.note(folder, in: &$0.folders, LocalFiles.mostFolders) }
    }

    func note(fetched path: String) {
        used.withLock { LocalFiles.note(path, in: &$0.fetched, LocalFiles.mostFetched) }
    }

    private static func note(_ path: String, in list: inout [String], _ most: Int) {
        list.removeAll { $0 == path }
        list.append(path)
        while list.count > most { try? FileManager.default.removeItem(atPath: list.removeFirst()) }
    }
}
