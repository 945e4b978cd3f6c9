internal import Glibc
package import ReelCore

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
    /// is submitted again with new ones. A failed job keeps them, since it can be retried. Removes the segments of a job
    /// that is done, unless they are to be kept: the worker that finished it does so, but may be killed before. A process
    /// that restarts the job meanwhile finds either the end in the record, or all of it.
    func giveBackParts() async throws(ReelFailure)

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

    /// Opens the copy of a source. Throws `.storeUnusable`, `.storeFileForeign` and the failures of buckets.
    func open(copyOf source: JobSource) async throws(ReelFailure) -> any StoredBytes

    /// Makes an upload the copy of a source, which may be removed after that.
    ///
    /// Throws `.storeUnusable`, and `.sourceInaccessible` if the upload is removed meanwhile.
    func take(_ upload: Upload, as name: String, _ fingerprint: Fingerprint) async throws(ReelFailure)

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
    func missingSegments(of records: [SegmentRecord]) async throws(ReelFailure) -> [SegmentRecord]

    /// Makes segments visible to other machines that engines of this one have written at their places. A segment's record
    /// comes after its data.
    ///
    /// Throws `.engineMisanswered` if the bytes at a place are missing or, where they are read for this, not those of the
    /// record.
    func publish(_ segments: [SegmentRecord]) async throws(ReelFailure)

    /// Brings segments to their places, where an engine of this machine reads them.
    func bring(_ segments: [SegmentRecord]) async throws(ReelFailure)

    /// Gives back the room of segments that were brought. The store keeps them.
    func giveBack(_ segments: [SegmentRecord]) async

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

    /// Opens the result. It has the recorded size; its bytes are not compared with those recorded.
    ///
    /// Throws `.storeUnusable`, `.storeFileForeign` and the failures of buckets.
    func open(_ result: StoredResult) async throws(ReelFailure) -> any StoredBytes

    /// The result as a file of this machine, which stays as long as the value or the job's entry needs it.
    func local(_ result: StoredResult) async throws(ReelFailure) -> StoredResult

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

extension JobEntry {
    /// The present place of a source's bytes: `locator(of:)`, or the path of the record if the source is to be staged
    /// and its copy is not there yet.
    package func presentLocator(of source: JobSource) async -> Locator {
        await hasCopy(of: source) ? locator(of: source) : source.original
    }

    /// The places at which an engine reads segments that were brought there.
    package func stored(_ records: [SegmentRecord]) -> [StoredSegment] {
        records.map { StoredSegment(record: $0, data: place(of: $0.name).data) }
    }
}

extension JobEntry {
    /// Keeps a copy of a file of this machine as a picture, which appears as a whole. Throws `.storeUnusable`.
    package func keep(_ file: Locator, as picture: PictureName) throws(ReelFailure) {
        let target = place(of: picture).path
        let temporary = Files.temporaryName(beside: target)
        try SystemError.inStore(.write, target) { () throws(SystemCode) in
            do throws(SystemCode) {
                try FileCopy.write(Descriptor(regular: file.path), to: temporary, mode: FileCopy.newFileMode)
                try Files.rename(temporary, to: target)
            } catch {
                unlink(temporary)
                throw error
            }
        }
    }
}

/// A store whose places are files that all machines see has nothing to bring anywhere.
extension JobEntry {
    package func publish(_ segments: [SegmentRecord]) async throws(ReelFailure) {
        guard try await missingSegments(of: segments).isEmpty else {
            throw ReelFailure(.engineMisanswered(task: .pass))
        }
    }

    package func bring(_ segments: [SegmentRecord]) {}

    package func giveBack(_ segments: [SegmentRecord]) {}

    package func open(copyOf source: JobSource) throws(ReelFailure) -> any StoredBytes {
        try OpenFile(inStore: locator(of: source))
    }

    package func open(_ result: StoredResult) throws(ReelFailure) -> any StoredBytes {
        try OpenFile(inStore: result.locator)
    }

    package func take(_ upload: Upload, as name: String, _ fingerprint: Fingerprint) async throws(ReelFailure) {
        try await stage(upload.data, as: name, fingerprint)
    }

    package func local(_ result: StoredResult) -> StoredResult { result }
}
