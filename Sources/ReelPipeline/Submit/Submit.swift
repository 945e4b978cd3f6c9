internal import Foundation
public import ReelCore
public import ReelEngine
public import ReelQueue
public import ReelStore

/// Turns a source and a spec into a job: recon, plan, job folder, board.
public struct Submit: Sendable {
    let store: Store
    let engine: EngineHost
    let capacity: Capacity
    let terms: JobTerms
    let stages: Bool
    /// For so long recon may go on before the source's head is begun with: most sources are read by then.
    private let patience = Duration.seconds(3)

    /// - Parameters:
    ///   - capacity: what the machines that will do the work have, as far as it is known.
    ///   - stages: copy the source into the store, for workers that do not see it where it is.
    public init(
        store: Store, engine: EngineHost, capacity: Capacity, terms: JobTerms = JobTerms(), stages: Bool = false
    ) {
        self.store = store
        self.engine = engine
        self.capacity = capacity
        self.terms = terms
        self.stages = stages
    }

    /// Recon and plan: all that can be refused is refused here, before anything of the job exists.
    ///
    /// Throws `.input` for what is wrong with the source, `.usage` for what is wrong with the spec.
    ///
    /// - Parameter board: where recon takes long, have the source's head reversed there while the rest is read.
    public func prepare(
        source: String, spec: JobSpec, ahead board: Board? = nil
    ) async throws(ReelFailure) -> Preparation {
        guard let board, canBegin(spec) else {
            return try plan(await look(at: source, spec), spec, head: nil)
        }
        let head = Task {
            try await Task.sleep(for: patience)
            return try await begin(source: source, spec: spec, on: board)
        }
        do throws(ReelFailure) {
            let findings = try await look(at: source, spec)
            head.cancel()
            // Why there is none is no matter: if it is the source's fault, that shows now.
            return try plan(findings, spec, head: try? await head.value)
        } catch {
            head.cancel()
            await Task {
                guard let begun = try? await head.value else { return }
                await abandon(begun.id, on: board)
            }.value
            throw error
        }
    }

    /// What recon found, and where.
    struct Findings: Sendable {
        let source: String
        let fingerprint: Fingerprint
        let recon: ReconResult
        let index: SourceIndex
        /// Of the engine.
        let encoders: [String]
        let folder: TemporaryFolder
        let indexFile: String
    }

    /// Recon: of the whole source, or of the first so many bytes.
    func look(at source: String, _ spec: JobSpec, limit: Int64? = nil) async throws(ReelFailure) -> Findings {
        let path = URL(fileURLWithPath: source).standardizedFileURL.path
        var fingerprint = try Fingerprint.of(path)
        let folder = try store.temporaryFolder()
        let file = folder.path + "/index"
        let request = EngineRequest.recon(
            ReconRequest(source: path, spec: spec, planner: capacity.planner, index: file, limit: limit))
        let (recon, identity) = try await ReelFailure.unifying {
            try await engine.withEngine(memory: nil) { session in
                guard case .recon(let result) = try await session.perform(request, progress: { _ in }) else {
                    throw ReelFailure(.job, "the engine answered recon with something else", cause: .crash)
                }
                return (result, session.identity)
            }
        }
        fingerprint.indexHash = recon.indexHash
        return Findings(
            source: path, fingerprint: fingerprint, recon: recon,
            index: try SourceIndex(decoding: AtomicFile.read(file)), encoders: identity.encoders, folder: folder,
            indexFile: file)
    }

    /// Plan. `head` is the job that began with the source's head: of use where recon has found the same there. `packets`
    /// is for planning that one: how many the whole source has, about.
    func plan(
        _ findings: Findings, _ spec: JobSpec, head: PlacedJob?, packets: Int = 0
    ) throws(ReelFailure) -> Preparation {
        let recon = findings.recon
        let kept = head.flatMap { passes(of: $0, in: findings) }
        let plan = try capacity.planner.plan(
            index: findings.index, spec: spec, video: recon.video, audio: recon.audio, head: kept ?? [],
            packets: packets, warnings: recon.warnings)
        let id = try JobID.make(
            fingerprint: findings.fingerprint, spec: spec, encoder: recon.video.identity,
            audioEncoders: recon.audio.map(\.encoder))
        let record = JobRecord(
            id: id, spec: spec, source: findings.source,
            staged: stages ? URL(fileURLWithPath: findings.source).lastPathComponent : nil,
            fingerprint: findings.fingerprint, head: kept == nil ? nil : head?.id,
            encoders: plan.builds(among: findings.encoders), terms: terms, created: Date().timeIntervalSince1970)
        return Preparation(record: record, plan: plan, head: head, findings: findings)
    }

    /// Puts a prepared job to work on a board that others may use, too: attaches to it where it runs already, resumes
    /// it where it was interrupted, else starts it.
    ///
    /// - Parameter anew: throw away what was done before, even if it runs now.
    public func submit(
        _ preparation: Preparation, to board: Board, anew: Bool
    ) async throws(ReelFailure) -> (job: PlacedJob, outcome: Submission) {
        let control = JobControl(board: board, store: store)
        let folder = store.job(preparation.record.id)
        var heads: Set<JobID> = []
        // Of an earlier plan, which may be kept.
        if let earlier = (try? folder.read())?.head { heads.insert(earlier) }
        if let head = preparation.head { heads.insert(head.id) }
        do throws(ReelFailure) {
            let (job, outcome) = try await start(preparation, on: board, anew: anew)
            // From here on the whole job has all slots. That the head's may have ended is no matter.
            if let head = preparation.head { _ = try? await control.setPaused(head.id, true) }
            for head in heads where head != job.record.head || job.result != nil { try await control.withdraw(head) }
            return (job, outcome)
        } catch {
            if let head = preparation.head, head.id != (try? folder.read())?.head { await abandon(head.id, on: board) }
            throw error
        }
    }

    private func start(
        _ preparation: Preparation, on board: Board, anew: Bool
    ) async throws(ReelFailure) -> (job: PlacedJob, outcome: Submission) {
        let id = preparation.record.id
        if anew { try await board.withdraw(id) }
        let status = try await board.status(id)
        if let status, !status.state.isTerminal, status.state != .publishing, let running = kept(preparation) {
            return (running, .attached)
        }
        let job = try place(preparation, anew: anew)
        guard job.result == nil else { return (job, .finished) }
        // What the board remembers of an earlier end is of use only where the store has the same plan and its parts.
        if let status, status.state.isTerminal, status.state == .done || !job.resumed { try await board.forget(id) }
        return (job, try await publish(job, on: board))
    }

    /// Puts the job into the store: as an interrupted run of the same job left it, with its own plan and every whole
    /// segment, or new.
    ///
    /// - Parameter anew: throw away what an earlier run left.
    public func place(_ preparation: Preparation, anew: Bool) throws(ReelFailure) -> PlacedJob {
        if !anew, let kept = kept(preparation), fits(kept.plan, preparation) { return kept }
        let folder = store.job(preparation.record.id)
        try folder.removeParts()
        try? FileManager.default.removeItem(atPath: folder.output(preparation.plan.container))
        try folder.create()
        try folder.write(preparation.record)
        try folder.adopt(preparation.findings.indexFile, as: folder.index)
        let record = preparation.record
        if let name = record.staged { try folder.stage(record.source, as: name, record.fingerprint) }
        try folder.write(preparation.plan)
        let places = preparation.plan.passes.enumerated().map { ($0.element, $0.offset) }
        try preparation.head?.give(Dictionary(uniqueKeysWithValues: places), to: folder)
        return PlacedJob(record: record, plan: preparation.plan, folder: folder, resumed: false)
    }

    /// Makes the job runnable on the board.
    public func publish(_ job: PlacedJob, on board: Board) async throws(ReelFailure) -> Submission {
        // Where it ended before, somebody wants it again: from here on the board knows its state.
        var record = job.record
        record.reopen()
        record.terms = terms
        if record != job.record { try job.folder.write(record) }
        switch try await job.publish(on: board) {
        case .attached: return .attached
        case .published: return job.resumed ? .resumed : .published
        case .resumed: return .resumed
        }
    }

    /// What an earlier run left, if it is whole and of this release.
    private func kept(_ preparation: Preparation) -> PlacedJob? {
        let folder = store.job(preparation.record.id)
        guard let kept = try? PlacedJob(folder),
            (try? folder.indexHash()) == preparation.record.fingerprint.indexHash
        else { return nil }
        return kept
    }

    /// A plan that was made for more memory than there is now is of no use.
    private func fits(_ plan: Plan, _ preparation: Preparation) -> Bool {
        plan.need <= max(capacity.ceiling(preparation.record.spec) ?? .max, preparation.plan.need)
    }
}

/// What submitting led to.
public enum Submission: Sendable {
    /// The job was running already.
    case attached
    case published
    /// What an earlier run had finished is reused.
    case resumed
    /// The store has the result already.
    case finished
}
