internal import ReelCore
internal import ReelEngine
internal import ReelStore

extension Planning {
    /// Plans a job by what the engine said of its sources, unless the store's last plan is of the same indexes and encoders
    /// and fits the memory that there is now. Copies the sources into the store if the record says so. Only the caller may
    /// work at the job meanwhile.
    func findOrMakePlan(of id: JobID, from sources: PlanningSources) async throws(ReelFailure) -> StoredJob {
        let entry = store.job(id)
        let record = try await entry.read()
        let new = try newPlan(sources)
        var kept = try? await entry.latestPlan()
        if let latest = kept, !holds(latest, beside: new, record) { kept = nil }
        let plan = if let kept { kept } else { try await entry.readPlan(entry.writePlan(new)) }
        try await stage(record, in: entry)
        return StoredJob(record: record, plan: plan, entry: entry, hadPlan: kept != nil)
    }

    private func newPlan(_ sources: PlanningSources) throws(ReelFailure) -> Plan {
        var plan = try capacity.planner.plan(sources.input)
        try quotas.check(plan, of: sources.input.indexes)
        plan.encoders = plan.builds(among: sources.encoders)
        return plan
    }

    /// Whether an earlier plan still holds, compared with the one that would be made now.
    private func holds(_ earlier: Plan, beside plan: Plan, _ record: JobRecord) -> Bool {
        earlier.sources == plan.sources && earlier.encoders == plan.encoders
            && earlier.video.identity == plan.video.identity
            && earlier.need <= max(capacity.ceiling(record.spec) ?? .max, plan.need)
    }

    private func stage(_ record: JobRecord, in entry: any JobEntry) async throws(ReelFailure) {
        for source in record.sources {
            guard let name = source.staged, await !entry.hasCopy(of: source) else { continue }
            try await entry.stage(source.path, as: name, source.fingerprint)
        }
    }
}
