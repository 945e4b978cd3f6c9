package import ReelCore
package import ReelQueue
package import ReelStore

/// Reading a large source from its start to its end can take minutes, in which hundreds of slots would have nothing to do.
/// So a job of its own reverses the source's first part meanwhile, and the whole job reuses what that has made.
package struct EarlyStart: Sendable {
    private let probe: Probe
    private let board: any Board

    package init(probe: Probe, board: any Board) {
        self.probe = probe
        self.board = board
    }

    /// The first part is one in so many parts of the source's bytes. Slots wait until it is read, and it must keep them busy
    /// while the rest is read.
    package static let share = 8
    /// How long probing may take before an early start begins: most sources are read by then.
    static let patience = Duration.seconds(3)

    /// Whether segments of the first part could be the whole job's: how that part is encoded and when it is shown must not
    /// depend on the rest.
    package static func isPossible(_ record: JobRecord) -> Bool {
        let spec = record.spec
        return record.headBytes == nil && record.source.staged == nil && spec.from == nil && spec.to == nil
            && spec.duration == nil
            && spec.edit == nil && spec.timestamps == .mirror && spec.bitrate != .source
    }

    /// Submits a job without sound that reverses the first part of a source. The whole job's record names it from then on,
    /// so that a process that plans the whole job finds it, and one that removes the whole job removes it. Does nothing if
    /// the whole job has a plan.
    package func begin(for whole: JobID) async throws(ReelFailure) {
        let entry = probe.store.job(whole)
        let record = try await entry.read()
        guard try await entry.planNumbers().isEmpty,
            try await !probe.store.source(record.source.fingerprint).isDisproved()
        else { return }
        let head = try job(of: record)
        try await entry.change { $0.head = head.id }
        let begun = try await Submitter(probe: probe, board: board, wanted: head).submit().job
        // It may have been paused for an earlier whole job that was removed.
        _ = try? await JobControl(board: board, store: probe.store).setPaused(begun.id, false)
    }

    private func job(of whole: JobRecord) throws(ReelFailure) -> JobRecord {
        var (spec, terms) = (whole.spec, whole.terms)
        spec.audio = .none
        // An early start pays only if many passes follow: one thread per codec is enough.
        spec.threads = spec.threads ?? 1
        terms.keepsSegments = true
        let bytes = whole.source.fingerprint.size / Int64(EarlyStart.share)
        return JobRecord(
            id: try JobID.make(sources: whole.sources.map(\.fingerprint), spec: spec, head: bytes), spec: spec,
            sources: whole.sources, headBytes: bytes, terms: terms, created: whole.created)
    }
}
