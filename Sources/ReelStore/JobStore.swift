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

/// Everything that a store has of one job.
package protocol JobEntry: Sendable {
    var id: JobID { get }

    // MARK: The record

    /// Whether the store has a record of the job.
    var exists: Bool { get async }

    /// Throws `.unreachable`, cause incompatible, if this machine does not see the job; `.jobOfOtherVersion` if this
    /// release does not know the record's version.
    func read() async throws(ReelFailure) -> JobRecord

    /// Whether its record or a plan takes a large part of a second to decode, or more, as with an edit of 10,000 clips.
    var isLarge: Bool { get async }

    /// The part of the job that lists show. Takes little time, even if the job's edit is long. Throws what `read`
    /// throws.
    func outline() async throws(ReelFailure) -> JobOutline

    /// Writes a changed record if the record is still the one that was read; otherwise returns false. Callers use
    /// `change`. Throws `.unreachable` if this machine does not see the job.
    func replace(_ read: JobRecord, with changed: JobRecord) async throws(ReelFailure) -> Bool

    /// Writes the record of a new job. False if it has one, which stays as it is.
    func create(_ record: JobRecord) async throws(ReelFailure) -> Bool

    /// Removes the parts that a finished job no longer needs: the source's copy, outputs that were not published and,
    /// unless they are to be kept, segments with the half-written files of attempts.
    func removeParts(keepingSegments: Bool) async throws(ReelFailure)

    /// Removes the copies of the sources if the job is done or was cancelled: it does not need them any more, unless it
    /// is submitted again with new ones. A failed job keeps them, since it can be retried. A process that restarts the
    /// job meanwhile finds either the end in the record, or the copies.
    func giveBackCopies() async throws(ReelFailure)

    /// Removes everything of the job except the mark that a process works on it.
    func removeContents() async throws(ReelFailure)

    /// Removes the job. Its record goes last: until then it can be removed again.
    func remove() async throws(ReelFailure)

    /// The same, if the record is still the one that was read; otherwise returns false and removes nothing. So a job
    /// that runs again meanwhile is not removed, and a job that is being removed is not reopened. A missing job counts
    /// as removed.
    func remove(ifStill read: JobRecord) async throws(ReelFailure) -> Bool

    // MARK: Sources

    /// The place of a source's bytes: in the store if it is to be staged, otherwise at the path in the record.
    func locator(of source: JobSource) -> Locator

    /// Whether the source is to be staged and its copy exists.
    func hasCopy(of source: JobSource) async -> Bool

    /// Copies a source into the store, so that workers need not see it at its path.
    ///
    /// Throws `.sourceChangedWhileCopied`, and makes no copy, if the fingerprint does not match any more.
    ///
    /// - Parameters:
    ///   - path: of the source on this machine.
    ///   - name: of the copy, as in `JobSource.staged`.
    func stage(_ path: String, as name: String, _ fingerprint: Fingerprint) async throws(ReelFailure)

    // MARK: Plans

    /// The numbers of the existing plans, ascending.
    func planNumbers() async throws(ReelFailure) -> [Int]

    /// Writes a plan under the next free number, which becomes its own, and returns it.
    func writePlan(_ plan: Plan) async throws(ReelFailure) -> Int

    /// Throws `.unreachable`, cause incompatible, if it cannot be read; `.planOfOtherVersion` if this release does not
    /// know its version.
    func readPlan(_ number: Int) async throws(ReelFailure) -> Plan

    /// The plan with the highest number; nil if no plan exists. Throws as `readPlan` does.
    func latestPlan() async throws(ReelFailure) -> Plan?

    /// The place at which an engine reads a plan.
    func plan(_ number: Int) -> Locator

    // MARK: Segments

    /// The place at which an engine writes the segment of a name.
    func place(of name: SegmentName) -> SegmentPlace

    /// Whether there may be segments of any of these parts of the sources; reads names alone.
    func hasSegments(of parts: Set<SegmentPart>) async -> Bool

    /// Whether any segment is finished, for this plan or an earlier one.
    var hasFinishedSegments: Bool { get async }

    /// For each content that the passes want, in the same order, the record of a whole segment, or nil. A
    /// segment counts if it has the recorded size and checksum, no matter which attempt made it for which plan and
    /// which of its clips. If there are several, the first by name counts.
    func wholeSegments(_ wanted: [[SegmentContent]]) async -> [[SegmentRecord?]]

    /// For each content, in the same order, the record of a segment that claims it, or nil. Does not read the segments.
    func recordedSegments(_ wanted: [SegmentContent]) async -> [SegmentRecord?]

    /// The records whose segment is missing or has another size. If writes show late, segments that another machine has
    /// just written may be among them for a while.
    func missingSegments(of records: [SegmentRecord]) async -> [SegmentRecord]

    /// Whether every one of these segments is there with the recorded size and checksum.
    func areWhole(_ records: [SegmentRecord]) async -> Bool

    /// Removes the files that the attempt that held `token` left half-written. Whole segments stay.
    func removePartial(token: String) async

    /// Removes what no attempt needs any more once the job has failed: every file among the segments that is neither a
    /// record nor has one.
    func removeStrays() async

    // MARK: Engines

    /// The folders in which the job's engines write, made if they are missing. The job's record is in another folder.
    func engineFolders() async throws(ReelFailure) -> [Locator]

    // MARK: Pictures for people

    /// Opens a picture; nil if it has not been made.
    func picture(_ name: PictureName) async -> OpenFile?

    /// The place at which an engine writes a picture.
    func place(of picture: PictureName) -> Locator

    /// Makes room for a picture, at the cost of the oldest if there are `most`. Returns the folder, in which an engine
    /// may write.
    func roomForPicture(of most: Int) async throws(ReelFailure) -> Locator

    // MARK: The result

    /// The place at which the assembler that holds `token` writes its result before it is published.
    func assembling(_ container: Container, token: String) -> Locator

    /// Makes the file that the assembler with `token` has written and verified the job's output. The last of two
    /// assemblers wins; both made the same bytes.
    ///
    /// Throws `.engineMisanswered` if the file has another size.
    ///
    /// - Returns: the entry for the job's record. The file becomes the job's result when the record has it.
    func adoptOutput(
        assembledBy token: String, as container: Container, bytes: Int64, sha256: String
    ) async throws(ReelFailure) -> JobResult

    /// The output that an assembly has published, even if the job's end was not recorded after that. Nil if it is
    /// missing or has another size than recorded.
    var publishedOutput: StoredResult? { get async }

    /// The verified output of a job that is done.
    ///
    /// Throws `.noResult` if the job has not ended well or its result is not there, `.storeFileForeign` and
    /// `.resultDiffers` if something else is in its place.
    func storedResult() async throws(ReelFailure) -> StoredResult

    // MARK: Engines' last words

    /// Keeps the end of an engine's standard error, so that a user can look into a failed attempt.
    func writeAttempt(pass: Int, token: String, standardError: String) async throws(ReelFailure)

    /// The last words of a failed attempt's engine; nil if none were kept.
    func readAttempt(pass: Int, token: String) async -> String?
}

extension JobEntry {
    /// The verified output, or nil.
    package var result: StoredResult? { get async { try? await storedResult() } }

    /// The same as for several passes.
    package func wholeSegments(_ wanted: [SegmentContent]) async -> [SegmentRecord?] {
        await wholeSegments([wanted]).first ?? []
    }

    /// Changes the record. If another process changes it meanwhile, `change` is called again, with what that process
    /// has written. Returns the record as it is then. Throws what `read` and `change` throw.
    @discardableResult
    package func change(
        _ change: (inout JobRecord) async throws(ReelFailure) -> Void
    ) async throws(ReelFailure) -> JobRecord {
        while true {
            let read = try await read()
            var changed = read
            try await change(&changed)
            if changed == read { return read }
            changed.revision = read.revision &+ 1
            if try await replace(read, with: changed) { return changed }
        }
    }
}

/// Everything that a store has of one source, shared by all jobs made of it.
package protocol SourceEntry: Sendable {
    /// The entry's name in messages.
    var name: String { get }

    /// The index that this release can read, or nil. If there are several, because repeated recons had
    /// different results, the first by hash.
    func index(_ kind: IndexKind) async -> (hash: String, locator: Locator)?

    /// The place of the index with this hash, of any kind, or nil.
    func locator(of hash: String) async -> Locator?

    /// Whether the index with this hash was made by decoding the whole source.
    func isDecoded(_ hash: String) async -> Bool

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

extension JobEntry {
    /// The present place of a source's bytes: `locator(of:)`, or the path of the record if the source is to be staged
    /// and its copy is not there yet.
    package func presentLocator(of source: JobSource) async -> Locator {
        await hasCopy(of: source) ? locator(of: source) : source.original
    }

    /// The places at which an engine reads segments.
    package func stored(_ records: [SegmentRecord]) -> [StoredSegment] {
        records.map { StoredSegment(record: $0, data: place(of: $0.name).data) }
    }
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

    /// The places of the indexes that a plan was made from, in the order of its sources.
    ///
    /// Throws `.indexMissing` if this machine does not see one, and `.jobFileUnreadable` if the plan is not one of the
    /// record's sources.
    package func indexes(of plan: Plan, _ record: JobRecord) async throws(ReelFailure) -> [Locator] {
        guard plan.sources.count == record.sources.count else { throw unfit(plan, record) }
        var found: [Locator] = []
        for (planned, recorded) in zip(plan.sources, record.sources) {
            let entry = try source(recorded.fingerprint)
            guard let index = await entry.locator(of: planned.indexHash) else {
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
