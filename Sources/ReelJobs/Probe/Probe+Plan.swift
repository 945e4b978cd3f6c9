internal import ReelCore
internal import ReelEngine
internal import ReelStore

extension Probe {
    /// Plans a job by what the engine said of its sources, with what its early start has made. Copies the sources into the
    /// store if the record says so. Only the caller may work at the job meanwhile.
    ///
    /// - Returns: the job, and its early start if that is of no use: its segments do not match the plan.
    func plan(_ id: JobID, of sources: ProbedSources) async throws(ReelFailure) -> (job: StoredJob, unused: JobID?) {
        let entry = store.job(id)
        var record = try await entry.read()
        let early = await earlyStart(of: record, in: sources)
        let choice = try await choosePlan(record, sources, early: early?.passes, in: entry)
        let unused = choice.isKept || early?.passes != nil ? nil : record.head
        if unused != nil { record = try await entry.change { $0.head = nil } }
        let plan = choice.isKept ? choice.plan : try await entry.readPlan(entry.writePlan(choice.plan))
        try await stage(record, in: entry)
        let job = StoredJob(record: record, plan: plan, entry: entry, hadPlan: choice.isKept)
        if unused == nil, let early { try await takeOverSegments(of: early.job, for: job, of: sources) }
        return (job, unused)
    }

    // MARK: The plan

    /// The last plan in the store if it is of the same index and encoders and fits the memory that there is now; else a new
    /// one, which is not written yet.
    private func choosePlan(
        _ record: JobRecord, _ sources: ProbedSources, early: [VideoPass]?, in entry: any JobEntry
    ) async throws(ReelFailure) -> (plan: Plan, isKept: Bool) {
        let new = try newPlan(record, sources, early: early ?? [])
        guard let latest = try? await entry.latestPlan(), holds(latest, beside: new, record) else {
            return (new, false)
        }
        return (latest, true)
    }

    private func newPlan(
        _ record: JobRecord, _ sources: ProbedSources, early: [VideoPass]
    ) throws(ReelFailure) -> Plan {
        let targets = sources.targets
        // The rest of the source may have more packets for its size than the first part has.
        let packets = record.headBytes == nil ? 0 : sources.indexes[0].video.packets.count * 2 * EarlyStart.share
        var plan = try capacity.planner.plan(
            indexes: sources.indexes, spec: record.spec, video: targets.video, audio: targets.audio, head: early,
            packets: packets, indexHashes: sources.indexHashes, diagnostics: targets.diagnostics)
        try quotas.check(plan, of: sources.indexes)
        if record.headBytes != nil { plan.diagnostics = [.headOnly] }
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

    // MARK: The early start

    /// The job of the early start, if there is one, with its passes from the source's start on. The passes are nil if they
    /// cannot be the whole job's.
    private func earlyStart(
        of record: JobRecord, in sources: ProbedSources
    ) async -> (job: StoredJob, passes: [VideoPass]?)? {
        guard let head = record.head, let job = try? await StoredJob(store.job(head)) else { return nil }
        return (job, await passes(of: job, in: sources))
    }

    /// Nil if the index of the early start has been removed, or if the index of the whole source or the encoder's target
    /// differs from its own.
    private func passes(
        of early: StoredJob, in sources: ProbedSources
    ) async -> [VideoPass]? {
        guard let index = try? await early.indexes(in: store).first, sources.indexes[0].video.begins(with: index.video),
            sources.targets.video == early.plan.video
        else { return nil }
        let passes = early.plan.passes.compactMap { pass in
            if case .video(let pass) = pass { pass } else { nil }
        }
        // An early start is a reversal, whose passes are in the output's order.
        return passes.reversed()
    }

    /// Gives a job those segments of its early start that match its plan.
    private func takeOverSegments(
        of early: StoredJob, for job: StoredJob, of sources: ProbedSources
    ) async throws(ReelFailure) {
        guard await early.entry.hasSegments(of: job.plan.parts) else { return }
        let planned = PlannedSegments(plan: job.plan, indexes: sources.indexes)
        try await early.give(job.plan.passes.flatMap(planned.contents), to: job.entry)
    }
}
