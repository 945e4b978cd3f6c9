package import ReelCore
internal import ReelStore

/// A job as it would be done: its plan, with what it was made from.
package struct PreparedJob: Sendable {
    private let record: JobRecord
    private let plan: Plan
    private let indexes: [SourceIndex]
    private let quotas: Quotas

    init(_ job: StoredJob, indexes: [SourceIndex], quotas: Quotas) {
        (record, plan, self.indexes, self.quotas) = (job.record, job.plan, indexes, quotas)
    }

    /// What `plan` shows.
    package var view: PlanView {
        var view = PlanView(id: record.id.text, sources: record.sources.map(\.path), plan: plan, indexes: indexes)
        view.quotas = Quotas.asked(by: plan, of: indexes).compactMap { quota, amount in
            quotas[quota].map { PlanView.QuotaView(quota: quota.rawValue, asked: amount, most: $0) }
        }
        return view
    }

    /// Writes the edit as a timeline of OpenTimelineIO. Reading that gives the same plan.
    ///
    /// Throws `.timelineSpeed` if a clip is played at another speed than its source's, `.timelineSoundtrack`, and `.output` if the file cannot be
    /// written; nothing half-written remains.
    package func writeTimeline(to destination: Destination) throws(ReelFailure) {
        let writer = try TimelineWriter(plan, record.spec, sources: record.sources.map(\.path), indexes: indexes)
        try destination.write(writer.bytes(at: destination.path))
    }
}
