internal import Glibc
package import ReelCore

/// The bytes that several machines need: the records, plans, segments and results of jobs, and the indexes of their
/// sources. The store is the truth; the board is an index of it that can be rebuilt.
///
/// Guarantees, on which coordinators and workers rely:
///
/// - **Readers see whole files.** A record, plan, index or result that is written appears at once, as a whole, and
///   stays after a crash. A segment counts when its record is there, which is written last.
/// - **Plans and indexes never change** once they are written. A plan has the next free number, an index is named by
///   its hash.
/// - **Only values and locators go in and out.** No code above a store knows the place of its bytes. An engine reads
///   and writes only at the locators of its request; the store makes them, and byte sources and sinks open them.
/// - **Other users may write here.** Everything that is read is checked, and a failure names the damaged file.
///
/// Calls throw `.unreachable` if the store cannot be read or written, with cause no-space if it is full.
///
/// ``FolderStore`` is a store in a folder that all machines see. The tests' `MemoryStore` is another.
package protocol JobStore: Sendable {
    associatedtype Job: JobEntry
    associatedtype Source: SourceEntry

    /// The store's name in messages.
    var name: String { get }

    // MARK: The store itself

    /// The store's id, which no other store has. Nil for an empty place that is not a store yet.
    func identity() async throws(ReelFailure) -> StoreID?

    /// Makes an empty place a store; if it is one, it stays as it is. If several processes do this at once, they make
    /// one store. Returns its identity.
    func establish() async throws(ReelFailure) -> StoreID

    /// Throws `.storeMissing` if the store is not at its place any more, for example because its file system is not
    /// mounted.
    func check() async throws(ReelFailure)

    /// Checks that a worker can work here: writes a file and removes it again, and checks whether the entry of any
    /// unfinished job may be written.
    ///
    /// Throws `.storeUnusable` or `.storeFull`, with the system's reason.
    func tryWorking() async throws(ReelFailure)

    /// Whether a few MiB can be written now.
    func hasRoom() async -> Bool

    /// Bytes that can still be written; nil if there is no limit or the limit is unknown.
    var freeSpace: Int64? { get async }

    /// Whether the writes of another machine may become visible here only after a delay.
    var showsWritesLate: Bool { get async }

    /// Whether each call costs money, so that what looks at the store again and again looks rarely.
    var isMetered: Bool { get }

    // MARK: Jobs and sources

    /// Every job that has a record, sorted.
    func jobs() async throws(ReelFailure) -> [JobID]

    /// Removes the entries of jobs without a record, whose submitters ended before they wrote it. Entries that have
    /// changed since a moment, in seconds since 1970, or that a process holds, stay.
    func removeUnrecordedJobs(before moment: Double) async

    /// The entry of a job, which may or may not exist yet.
    func job(_ id: JobID) -> Job

    /// The entry of a source, which may or may not exist yet.
    func source(_ fingerprint: Fingerprint) throws(ReelFailure) -> Source

    /// Reads an index of this store. Throws what decoding throws, too.
    func readIndex(_ locator: Locator) async throws(ReelFailure) -> SourceIndex

    /// Removes the entries of sources that no job uses. A job's record is written before its source's index is kept, so
    /// a job that is just being submitted loses nothing. Entries that cannot be removed now are removed by a later
    /// call.
    func removeUnusedSources() async
}

/// Everything that a store has of one source, shared by all jobs made of it.
package protocol SourceEntry: Sendable {
    /// The entry's name in messages.
    var name: String { get }

    /// The index that this release can read, or nil. If there are several, because repeated recons had
    /// different results, the first by hash.
    func index(_ kind: IndexKind) async throws(ReelFailure) -> (hash: String, locator: Locator)?

    /// The place of the index with this hash, of any kind, or nil.
    func locator(of hash: String) async throws(ReelFailure) -> Locator?

    /// Whether the index with this hash was made by decoding the whole source.
    func isDecoded(_ hash: String) async throws(ReelFailure) -> Bool

    /// The folder of the source's indexes, made if it is missing.
    func indexFolder() async throws(ReelFailure) -> Locator

    /// Room for an index that an engine is to write.
    func draft() async throws(ReelFailure) -> IndexDraft

    /// Keeps an index that an engine has written as a draft, and returns its SHA-256 in hexadecimal. It is harmless if
    /// another process keeps the same index at the same time.
    func keep(_ draft: IndexDraft, as kind: IndexKind) async throws(ReelFailure) -> String

    /// Whether a pass has disproved the index that tables and headers made.
    func isDisproved() async throws(ReelFailure) -> Bool

    /// Records that the index of this source is wrong, and why: from now on the whole source is decoded to plan a job.
    func disprove(_ reason: ReelFailure) async throws(ReelFailure)
}

extension JobStore {
    package var isMetered: Bool { false }
}

extension JobStore {
    /// The failure of an engine as it is, but a full disk only if a disk is full: a compromised engine may lie, and a
    /// full disk is charged to no job and keeps a worker from all jobs. Call it while the engine's files are still
    /// there.
    ///
    /// - Parameter scratch: the folder in which the engine spilled; nil if it did not.
    package func checked(_ failure: ReelFailure, scratch: TemporaryFolder? = nil) async -> ReelFailure {
        guard failure.cause == .noSpace, await hasRoom(), scratch?.hasRoom() ?? true else { return failure }
        let path: String
        switch failure.reason {
        case .diskFull(let file): path = file ?? name
        case .storeFull(_, let file, _): path = file
        default: return failure
        }
        return ReelFailure(.fileFailed(path: path, step: .write, errno: ENOSPC, passes: true))
    }

    /// Whether a failure says that the store cannot be used, and it cannot.
    package func isAway(by failure: ReelFailure) async -> Bool {
        guard failure.reason.saysStoreIsAway else { return false }
        return (try? await check()) == nil
    }

    /// The places of the indexes that a plan was made from, in the order of its sources.
    ///
    /// Throws `.indexMissing` if this machine does not see one, and `.jobFileUnreadable` if the plan is not one of the
    /// record's sources.
    package func indexes(of plan: Plan, _ record: JobRecord) async throws(ReelFailure) -> [Locator] {
        guard plan.sources.count == record.sources.count else { throw unfit(plan, record) }
        var found: [Locator] = []
        for (planned, recorded) in zip(plan.sources, record.sources) {
            let entry = try source(recorded.fingerprint)
            guard let index = try await entry.locator(of: planned.indexHash) else {
                throw ReelFailure(.indexMissing(hash: planned.indexHash, folder: entry.name))
            }
            found.append(index)
        }
        return found
    }

    /// The indexes that a plan was made from, in the order of its sources, with everything that the plan names in them.
    ///
    /// Throws as `indexes` does, also if the plan names frames or tracks that the indexes do not have.
    package func readIndexes(of plan: Plan, _ record: JobRecord) async throws(ReelFailure) -> [SourceIndex] {
        var indexes: [SourceIndex] = []
        for locator in try await self.indexes(of: plan, record) { indexes.append(try await readIndex(locator)) }
        guard plan.fits(indexes) else { throw unfit(plan, record) }
        return indexes
    }

    private func unfit(_ plan: Plan, _ record: JobRecord) -> ReelFailure {
        ReelFailure(
            .jobFileUnreadable(
                path: job(record.id).plan(plan.number).name,
                said: "it names what its sources or their indexes do not have"))
    }
}
