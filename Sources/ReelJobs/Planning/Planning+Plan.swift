internal import ReelCore
internal import ReelEngine
internal import ReelStore

extension Planning {
    /// Plans a job by what the engine said of its sources. Copies the sources into the store if the record says so.
    /// Only the caller may work at the job meanwhile.
    func plan(_ id: JobID, of sources: PlanningSources) async throws(ReelFailure) -> StoredJob {
        let entry = store.job(id)
        let record = try await entry.read()
        let choice = try await choosePlan(record, sources, in: entry)
        let plan = choice.isKept ? choice.plan : try await entry.readPlan(entry.writePlan(choice.plan))
        try await stage(record, in: entry)
        return StoredJob(record: record, plan: plan, entry: entry, hadPlan: choice.isKept)
    }

    /// The last plan in the store if it is of the same index and encoders and fits the memory that there is now; else a new
    /// one, which is not written yet.
    private func choosePlan(
        _ record: JobRecord, _ sources: PlanningSources, in entry: any JobEntry
    ) async throws(ReelFailure) -> (plan: Plan, isKept: Bool) {
        let new = try newPlan(record, sources)
        guard let latest = try? await entry.latestPlan(), holds(latest, beside: new, record) else {
            return (new, false)
        }
        return (latest, true)
    }

    private func newPlan(_ record: JobRecord, _ sources: PlanningSources) throws(ReelFailure) -> Plan {
        let targets = sources.targets
        var plan = try capacity.planner.plan(
            indexes: sources.indexes, spec: record.spec, video: targets.video, audio: targets.audio,
            indexHashes: sources.indexHashes, diagnostics: targets.diagnostics)
        try quotas.check(plan, of: sources.indexes)
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
