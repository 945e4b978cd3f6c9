package import ReelCore
package import ReelQueue
package import ReelStore

/// Where a source has to be read from its start to its end, hundreds of slots would wait for it. So a job of its own
/// reverses the source's first part meanwhile, and the whole job takes over what that has made.
package struct EarlyStart: Sendable {
    private let submit: Submit
    private let board: any Board

    package init(submit: Submit, board: any Board) {
        self.submit = submit
        self.board = board
    }

    /// One part in so many is begun with. Slots wait for that part to be read; and it must keep them busy while the rest
    /// is.
    package static let share = 8
    /// How long probing may take before: most sources are read by then.
    static let patience = Duration.seconds(3)

    /// Whether what is made of the first part could be the whole job's: how a part is encoded and when it is shown must
    /// not depend on the rest.
    package static func isPossible(_ record: JobRecord) -> Bool {
        let spec = record.spec
        return record.headBytes == nil && record.source.staged == nil && spec.from == nil && spec.to == nil
            && spec.timestamps == .mirror && spec.bitrate != .source
    }

    /// Has the first part of a source reversed: an ordinary job without sound. The whole job's record names it from here
    /// on, so that whoever plans that finds it, and whoever removes that removes it. Does nothing where the whole job has
    /// a plan.
    package func begin(for whole: JobID) async throws(ReelFailure) {
        let folder = submit.store.job(whole)
        var record = try folder.read()
        guard try folder.planNumbers().isEmpty,
            try !submit.store.source(record.source.fingerprint).isDisproved()
        else { return }
        let head = try job(of: record)
        record.head = head.id
        try folder.write(record)
        let begun = try await submit.submit(head, to: board).job
        // One that was held back for a whole job which came to nothing.
        _ = try? await JobControl(board: board, store: submit.store).setPaused(begun.id, false)
    }

    private func job(of whole: JobRecord) throws(ReelFailure) -> JobRecord {
        var (spec, terms) = (whole.spec, whole.terms)
        spec.audio = .none
        // An early start pays only where many passes follow: one thread per codec is enough.
        spec.threads = spec.threads ?? 1
        terms.keepsSegments = true
        let bytes = whole.source.fingerprint.size / Int64(EarlyStart.share)
        return JobRecord(
            id: try JobID.make(sources: whole.sources.map(\.fingerprint), spec: spec, head: bytes), spec: spec,
            source: whole.source, headBytes: bytes, terms: terms, created: whole.created)
    }
}
