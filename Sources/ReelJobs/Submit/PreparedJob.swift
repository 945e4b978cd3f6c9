public import ReelCore
internal import ReelStore

/// A job as it would be done: its plan, with what it was made from.
public struct PreparedJob: Sendable {
    private let record: JobRecord
    private let plan: Plan
    private let indexes: [SourceIndex]

    init(_ job: StoredJob, indexes: [SourceIndex]) {
        (record, plan, self.indexes) = (job.record, job.plan, indexes)
    }

    /// What `plan` shows.
    public var view: PlanView {
        PlanView(id: record.id.text, sources: record.sources.map(\.path), plan: plan, indexes: indexes)
    }

    /// Writes the edit as a timeline of OpenTimelineIO. Reading that gives the same plan.
    ///
    /// Throws `.timelineSpeed` if a clip is played at another speed than its source's, `.timelineSoundtrack`, and `.output` if the file cannot be
    /// written; nothing half-written remains.
    public func writeTimeline(to destination: Destination) throws(ReelFailure) {
        let writer = try TimelineWriter(plan, record.spec, sources: record.sources.map(\.path), indexes: indexes)
        try destination.write(writer.bytes(at: destination.path))
    }
}
