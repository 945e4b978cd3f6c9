internal import Foundation
public import ReelCore
public import ReelEngine
public import ReelQueue
public import ReelStore

/// Turns a source and a spec into a job: recon, plan, job folder, board.
public struct Submit: Sendable {
    private let store: Store
    private let engine: EngineHost
    private let capacity: Capacity
    private let terms: JobTerms
    private let stages: Bool

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
    public func prepare(source: String, spec: JobSpec) async throws(ReelFailure) -> Preparation {
        let path = URL(fileURLWithPath: source).standardizedFileURL.path
        var fingerprint = try Fingerprint.of(path)
        let folder = try store.temporaryFolder()
        let index = folder.path + "/index"
        let (recon, identity) = try await look(at: path, spec: spec, index: index)
        fingerprint.indexHash = recon.indexHash
        let found = try SourceIndex(decoding: AtomicFile.read(index))
        let plan = try capacity.planner.plan(
            index: found, spec: spec, video: recon.video, audio: recon.audio, warnings: recon.warnings)
        let id = try JobID.make(
            fingerprint: fingerprint, spec: spec, encoder: recon.video.identity,
            audioEncoders: recon.audio.map(\.encoder))
        let record = JobRecord(
            id: id, spec: spec, source: path, staged: stages ? URL(fileURLWithPath: path).lastPathComponent : nil,
            fingerprint: fingerprint, encoders: plan.builds(among: identity.encoders), terms: terms,
            created: Date().timeIntervalSince1970)
        return Preparation(record: record, plan: plan, source: found, folder: folder, index: index)
    }

    private func look(
        at source: String, spec: JobSpec, index: String
    ) async throws(ReelFailure) -> (ReconResult, EngineIdentity) {
        let request = EngineRequest.recon(
            ReconRequest(source: source, spec: spec, planner: capacity.planner, index: index))
        return try await ReelFailure.unifying {
            try await engine.withEngine(memory: nil) { session in
                guard case .recon(let result) = try await session.perform(request, progress: { _ in }) else {
                    throw ReelFailure(.job, "the engine answered recon with something else", cause: .crash)
                }
                return (result, session.identity)
            }
        }
    }

    /// Puts a prepared job to work on a board that others may use, too: attaches to it where it runs already, resumes
    /// it where it was interrupted, else starts it.
    ///
    /// - Parameter anew: throw away what was done before, even if it runs now.
    public func submit(
        _ preparation: Preparation, to board: Board, anew: Bool
    ) async throws(ReelFailure) -> (job: PlacedJob, outcome: Submission) {
        let id = preparation.record.id
        if anew {
            try await withdraw(id, from: board)
        }
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
        try folder.adopt(preparation.index, as: folder.index)
        let record = preparation.record
        if let name = record.staged { try folder.stage(record.source, as: name, record.fingerprint) }
        try folder.write(preparation.plan)
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

    /// Takes a job off the board. Those who work on it learn so with their next beat; what they still write must not
    /// meet the segments of another plan.
    private func withdraw(_ id: JobID, from board: Board) async throws(ReelFailure) {
        guard try await board.status(id) != nil else { return }
        _ = try await board.cancel(id)
        try await board.waitUntilLetGo(id)
        try await board.forget(id)
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
