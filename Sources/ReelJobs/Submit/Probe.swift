internal import Foundation
internal import ReelCore
internal import ReelEngine
internal import ReelQueue
internal import ReelStore

/// Makes what a job needs before its passes can be given out: the index of its source, unless the store has it, and a
/// plan, unless the store has one that still holds. Whoever submits the job does this, or any worker in its stead.
struct Probe: Sendable {
    let store: Store
    let engine: EngineHost
    let capacity: Capacity
    let heard: Submit.Reading

    /// Bytes of memory that probing may take: recon of ten hours at 60 frames a second stays below.
    static let need: Int64 = 512 << 20

    /// What is known of a source and of this machine.
    struct Findings: Sendable {
        let index: SourceIndex
        /// SHA-256 of the index's file.
        let indexHash: String
        let targets: TargetsResult
        /// Builds of the encoders that this machine has.
        let encoders: [String]
    }

    /// Reads the source, unless the store has its index, and chooses how the output is encoded.
    ///
    /// Throws `.input` for what is wrong with the source, `.usage` for what is wrong with the request, `.unreachable`
    /// where the store cannot be written.
    func look(_ record: JobRecord) async throws(ReelFailure) -> Findings {
        try await ReelFailure.unifying {
            try await engine.withEngine(memory: nil) { session in
                let (hash, file) = try await index(of: record, in: session)
                let request = EngineRequest.choose(
                    ChooseRequest(index: file, spec: record.spec, planner: capacity.planner))
                guard case .targets(let targets) = try await session.perform(request) else {
                    throw ReelFailure(.engineMisanswered(task: .choose))
                }
                return Findings(
                    index: try Store.readIndex(file), indexHash: hash, targets: targets,
                    encoders: session.identity.encoders)
            }
        }
    }

    /// The index of the source, or of its first part where the job is of that alone: its hash and its path.
    private func index(
        of record: JobRecord, in session: EngineSession
    ) async throws(ReelFailure) -> (hash: String, path: String) {
        let folder = try store.source(record.source.fingerprint)
        let isDisproved = try folder.isDisproved()
        let kind: IndexKind = record.headBytes != nil ? .head : isDisproved ? .decoded : .index
        if let known = folder.index(kind) { return known }
        let path = try source(of: record)
        let temporary = try store.temporaryFolder()
        let file = temporary.path + "/index"
        let request = EngineRequest.recon(
            ReconRequest(
                source: path, index: file, limit: record.headBytes, decoding: isDisproved ? .disproved : nil))
        let result = try await session.perform(request) { [heard] in heard(Double($0.encoded) / 1000) }
        guard case .recon(let result) = result else {
            throw ReelFailure(.engineMisanswered(task: .recon))
        }
        // What was read must be what the job was named after.
        guard try record.source.fingerprint.matches(path) else { throw ReelFailure(.sourceReplaced(path: path)) }
        guard try folder.adopt(file, as: kind) == result.indexHash, let taken = folder.path(of: result.indexHash) else {
            throw ReelFailure(.indexMissing(hash: result.indexHash, folder: folder.path))
        }
        return (result.indexHash, taken)
    }

    /// The copy in the store, where there is one by now, else the source where it lies.
    private func source(of record: JobRecord) throws(ReelFailure) -> String {
        let copy = store.job(record.id).source(of: record)
        return fileExists(copy) ? copy : record.source.path
    }

    /// Puts a plan into the store: the last one, if it was made of the same findings and fits the memory that there is
    /// now, else a new one with the next number. Copies the source where that was asked for. Nobody but the caller works
    /// at the job.
    ///
    /// - Returns: the job, and the one that began early, if it has proved to be of no use.
    func place(_ id: JobID, _ findings: Findings) throws(ReelFailure) -> (job: PlacedJob, unused: JobID?) {
        let folder = store.job(id)
        var record = try folder.read()
        let early = record.head.flatMap { try? PlacedJob(store.job($0)) }
        let passes = early.flatMap { self.passes(of: $0, in: findings, record.spec.direction) }
        let plan = try newPlan(record, findings, head: passes ?? [])
        let latest = try? folder.latestPlan()
        let kept = latest.flatMap { holds($0, beside: plan, record) ? $0 : nil }
        let unused = kept == nil && passes == nil ? record.head : nil
        if unused != nil {
            record.head = nil
            try folder.write(record)
        }
        let chosen = if let kept { kept } else { try folder.readPlan(folder.writePlan(plan)) }
        try stage(record, in: folder)
        let job = PlacedJob(record: record, plan: chosen, folder: folder, resumed: kept != nil)
        if unused == nil, let early, early.folder.hasSegments(of: job.plan.parts) {
            let planned = PlannedSegments(plan: job.plan, indexes: [findings.index])
            try early.give(job.plan.passes.flatMap(planned.contents), to: folder)
        }
        return (job, unused)
    }

    private func newPlan(
        _ record: JobRecord, _ findings: Findings, head: [VideoPass]
    ) throws(ReelFailure) -> Plan {
        let targets = findings.targets
        // What follows the head may have more packets for its size.
        let packets = record.headBytes == nil ? 0 : findings.index.video.packets.count * 2 * EarlyStart.share
        var plan = try capacity.planner.plan(
            index: findings.index, spec: record.spec, video: targets.video, audio: targets.audio, head: head,
            packets: packets, indexHash: findings.indexHash, diagnostics: targets.diagnostics)
        if record.headBytes != nil { plan.diagnostics = [.headOnly] }
        plan.encoders = plan.builds(among: findings.encoders)
        return plan
    }

    /// Whether an earlier plan still holds, beside the one that would be made now.
    private func holds(_ earlier: Plan, beside plan: Plan, _ record: JobRecord) -> Bool {
        earlier.sources == plan.sources && earlier.encoders == plan.encoders
            && earlier.video.identity == plan.video.identity
            && earlier.need <= max(capacity.ceiling(record.spec) ?? .max, plan.need)
    }

    private func stage(_ record: JobRecord, in folder: JobFolder) throws(ReelFailure) {
        guard let name = record.source.staged, !fileExists(folder.source(of: record)) else { return }
        try folder.stage(record.source.path, as: name, record.source.fingerprint)
    }

    /// The passes of the job that began early, from the source's start on, if all that is known of the whole source says
    /// the same, and nobody has removed it.
    private func passes(
        of early: PlacedJob, in findings: Findings, _ direction: Direction
    ) -> [VideoPass]? {
        guard let index = try? early.indexes(in: store).first, findings.index.video.begins(with: index.video),
            findings.targets.video == early.plan.video
        else { return nil }
        let passes = early.plan.passes.compactMap { pass in
            if case .video(let pass) = pass { pass } else { nil }
        }
        return direction.order(passes)
    }
}
