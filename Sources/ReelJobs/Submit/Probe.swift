internal import Foundation
package import ReelCore
package import ReelEngine
internal import ReelQueue
package import ReelStore

/// Makes what a job needs before its passes can be published: the index of its source, unless the store has it, and a plan,
/// unless the store has one that still holds. The process that submits the job does this, or a worker in its place.
package struct Probe: Sendable {
    package let store: any JobStore
    let engine: any EngineRunner
    let capacity: Capacity
    let reading: JobService.Reading

    /// Bytes of memory that probing may take: recon of ten hours at 60 frames a second stays below.
    static let need: Int64 = 512 << 20

    /// - Parameters:
    ///   - capacity: slots and memory of the machines that will do the work, as far as they are known.
    ///   - reading: hears how far the engine has read the source.
    package init(
        store: any JobStore, engine: any EngineRunner, capacity: Capacity,
        reading: @escaping JobService.Reading = { _ in }
    ) {
        self.store = store
        self.engine = engine
        self.capacity = capacity
        self.reading = reading
    }

    /// The engine's report about a source, and the encoders that it has.
    struct ProbedSource: Sendable {
        let index: SourceIndex
        /// SHA-256 of the index's file.
        let indexHash: String
        let targets: TargetsResult
        /// Builds of the encoders that this machine has.
        let encoders: [String]
    }

    /// Plans a job that no other process can work at, unless the store has its result.
    ///
    /// - Parameter anew: remove first the files that an earlier run left.
    package func planAlone(_ wanted: JobRecord, anew: Bool) async throws(ReelFailure) -> StoredJob {
        let folder = store.job(wanted.id)
        if anew { try await folder.removeContents() }
        if let job = try? await StoredJob(folder), await job.result != nil { return job }
        try await folder.open(wanted)
        return try await storePlan(wanted.id, of: try await examine(folder.read())).job
    }

    /// Reads the source, unless the store has its index, and chooses how the output is encoded.
    ///
    /// Throws `.input` if the source is at fault, `.usage` if the request is, and `.unreachable` if the store cannot be
    /// written.
    func examine(_ record: JobRecord) async throws(ReelFailure) -> ProbedSource {
        try await ReelFailure.unifying {
            try await engine.withEngine(memory: nil) { session in
                let (hash, file) = try await index(of: record, in: session)
                let request = EngineRequest.choose(
                    ChooseRequest(index: file, spec: record.spec, planner: capacity.planner))
                guard case .targets(let targets) = try await session.perform(request) else {
                    throw ReelFailure(.engineMisanswered(task: .choose))
                }
                return await ProbedSource(
                    index: try store.readIndex(file), indexHash: hash, targets: targets,
                    encoders: session.identity.encoders)
            }
        }
    }

    /// Hash and place of the index of the source, or of its first part if the job is an early start.
    private func index(
        of record: JobRecord, in session: any Engine
    ) async throws(ReelFailure) -> (hash: String, locator: Locator) {
        let folder = try store.source(record.source.fingerprint)
        let isDisproved = try await folder.isDisproved()
        let kind: IndexKind = record.headBytes != nil ? .head : isDisproved ? .decoded : .index
        if let known = await folder.index(kind) { return known }
        // The copy in the store, if it is there by now.
        let source = await store.job(record.id).presentLocator(of: record.source)
        let draft = try await folder.draft()
        let request = EngineRequest.recon(
            ReconRequest(
                source: source, index: draft.locator, limit: record.headBytes, decoding: isDisproved ? .disproved : nil)
        )
        let result = try await session.perform(request) { [reading] in reading(Double($0.encoded) / 1000) }
        guard case .recon(let result) = result else {
            throw ReelFailure(.engineMisanswered(task: .recon))
        }
        // The job's id is made of the fingerprint, so the bytes that were read must have it.
        guard try record.source.fingerprint.matches(source) else {
            throw ReelFailure(.sourceReplaced(path: source.name))
        }
        guard try await folder.keep(draft, as: kind) == result.indexHash,
            let kept = await folder.locator(of: result.indexHash)
        else { throw ReelFailure(.indexMissing(hash: result.indexHash, folder: store.name)) }
        return (result.indexHash, kept)
    }

    /// Keeps the last plan in the store if it is of the same index and encoders and fits the memory that there is now; else
    /// writes a new one with the next number. Copies the source into the store if the record says so. Only the caller may
    /// work at the job meanwhile.
    ///
    /// - Returns: the job, and its early start if that is of no use: its segments do not match the plan.
    func storePlan(
        _ id: JobID, of source: ProbedSource
    ) async throws(ReelFailure) -> (job: StoredJob, unused: JobID?) {
        let folder = store.job(id)
        var record = try await folder.read()
        let early: StoredJob? = if let head = record.head { try? await StoredJob(store.job(head)) } else { nil }
        let passes: [VideoPass]? =
            if let early { await self.passes(of: early, in: source, record.spec.direction) } else { nil }
        let plan = try newPlan(record, source, head: passes ?? [])
        let latest = try? await folder.latestPlan()
        let kept = latest.flatMap { holds($0, beside: plan, record) ? $0 : nil }
        let unused = kept == nil && passes == nil ? record.head : nil
        if unused != nil {
            record.head = nil
            try await folder.write(record)
        }
        let chosen = if let kept { kept } else { try await folder.readPlan(folder.writePlan(plan)) }
        try await stage(record, in: folder)
        let job = StoredJob(record: record, plan: chosen, folder: folder, resumed: kept != nil)
        if unused == nil, let early, await early.folder.hasSegments(of: job.plan.parts) {
            let planned = PlannedSegments(plan: job.plan, indexes: [source.index])
            try await early.give(job.plan.passes.flatMap(planned.contents), to: folder)
        }
        return (job, unused)
    }

    private func newPlan(
        _ record: JobRecord, _ source: ProbedSource, head: [VideoPass]
    ) throws(ReelFailure) -> Plan {
        let targets = source.targets
        // The rest of the source may have more packets for its size than the first part has.
        let packets = record.headBytes == nil ? 0 : source.index.video.packets.count * 2 * EarlyStart.share
        var plan = try capacity.planner.plan(
            index: source.index, spec: record.spec, video: targets.video, audio: targets.audio, head: head,
            packets: packets, indexHash: source.indexHash, diagnostics: targets.diagnostics)
        if record.headBytes != nil { plan.diagnostics = [.headOnly] }
        plan.encoders = plan.builds(among: source.encoders)
        return plan
    }

    /// Whether an earlier plan still holds, compared with the one that would be made now.
    private func holds(_ earlier: Plan, beside plan: Plan, _ record: JobRecord) -> Bool {
        earlier.sources == plan.sources && earlier.encoders == plan.encoders
            && earlier.video.identity == plan.video.identity
            && earlier.need <= max(capacity.ceiling(record.spec) ?? .max, plan.need)
    }

    private func stage(_ record: JobRecord, in folder: any JobEntry) async throws(ReelFailure) {
        guard let name = record.source.staged, await !folder.hasCopy(of: record.source) else { return }
        try await folder.stage(record.source.path, as: name, record.source.fingerprint)
    }

    /// The passes of the early start, from the source's start on. Nil if its index has been removed, or if the index of the
    /// whole source or the encoder's target differs from its own.
    private func passes(
        of early: StoredJob, in source: ProbedSource, _ direction: Direction
    ) async -> [VideoPass]? {
        guard let index = try? await early.indexes(in: store).first, source.index.video.begins(with: index.video),
            source.targets.video == early.plan.video
        else { return nil }
        let passes = early.plan.passes.compactMap { pass in
            if case .video(let pass) = pass { pass } else { nil }
        }
        return direction.order(passes)
    }
}
