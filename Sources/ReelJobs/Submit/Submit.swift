internal import Foundation
public import ReelCore
public import ReelEngine
public import ReelQueue
public import ReelStore

/// Turns a source and a spec into a job that workers can work at.
///
/// A job is known by what was asked for, before its source is read: it is on the board in state `probing` until it has a
/// plan. Whoever begins it holds the probe by a lease and probes as long as it lives; others that submit the same
/// meanwhile wait for the same end, good or bad.
public struct Submit: Sendable {
    package let store: Store
    let engine: any EngineRunner
    let capacity: Capacity
    let heard: Reading

    /// Hears how much of a source has been read, 0 to 1, while this process reads it.
    public typealias Reading = @Sendable (Double) -> Void

    /// - Parameter capacity: what the machines that will do the work have, as far as it is known.
    public init(store: Store, engine: any EngineRunner, capacity: Capacity, heard: @escaping Reading = { _ in }) {
        self.store = store
        self.engine = engine
        self.capacity = capacity
        self.heard = heard
    }

    /// Probes a job that nobody else can work at, unless the store has its result.
    ///
    /// - Parameter anew: throw away what an earlier run left.
    public func place(_ wanted: JobRecord, anew: Bool) async throws(ReelFailure) -> PlacedJob {
        let folder = store.job(wanted.id)
        if anew { try folder.removeContents() }
        if let job = try? PlacedJob(folder), job.result != nil { return job }
        try take(wanted)
        return try probe.place(wanted.id, try await probe.look(folder.read())).job
    }

    /// Puts a placed job on a board that nobody shares.
    public func publish(_ job: PlacedJob, on board: any Board) async throws(ReelFailure) {
        guard case .begun(let claim) = try await board.begin(job.beginning, holder: WorkerID("submit")),
            case .published = try await job.publish(on: board, claim, job.finished(in: job.indexes(in: store)))
        else { throw ReelFailure(.probeLost(job: job.id)) }
    }

    var probe: Probe { Probe(store: store, engine: engine, capacity: capacity, heard: heard) }

    /// Puts a job to work on a board that others may use, too: attaches to it where it runs already, goes on with it where
    /// it was interrupted, else begins it. Returns when its passes are on the board, or the store has its result.
    ///
    /// Throws what refuses the source or the request, the same to everybody who waits for the job; after the last of them
    /// nothing of it is left. Cancelled, the job goes on without this caller.
    ///
    /// - Parameters:
    ///   - anew: throw away what was done before, even if it runs now.
    ///   - told: hears of the job's state as soon as the board knows the job.
    public func submit(
        _ wanted: JobRecord, to board: any Board, anew: Bool = false, told: (JobState) -> Void = { _ in }
    ) async throws(ReelFailure) -> (job: PlacedJob, outcome: Submission) {
        if anew {
            let control = JobControl(board: board, store: store)
            if let record = try? store.job(wanted.id).read() { try await control.withdraw(headOf: record) }
            try await control.withdraw(wanted.id)
        }
        let visit = Visit(submit: self, board: board, wanted: wanted)
        switch try await visit.enter(told: told) {
        case .finished(let job): return (job, .finished)
        case .running(let job): return (job, .attached)
        case .probing(let claim): return try await visit.untilPlanned(claim)
        }
    }

    /// Makes the job's record this caller's: written where there is none, opened again where the job had ended.
    func take(_ wanted: JobRecord) throws(ReelFailure) {
        let folder = store.job(wanted.id)
        try folder.create()
        guard try !folder.create(wanted) else { return }
        var record = try folder.read()
        record.reopen()
        record.terms = wanted.terms
        // The same bytes may lie elsewhere now.
        record.source = wanted.source
        try folder.write(record)
    }
}

/// What submitting led to.
public enum Submission: Sendable {
    /// Another has begun the job.
    case attached
    case published
    /// An earlier plan is gone on with, and what was finished of it is reused.
    case resumed
    /// The store has the result already.
    case finished
}

extension JobRecord {
    /// The job that a source and a spec are, which exists nowhere yet. Reads no more of the source than its first and its
    /// last MiB.
    ///
    /// Throws `.input` where the source cannot be read.
    ///
    /// - Parameter stages: copy the source into the store, for workers that do not see it where it is.
    public init(
        submitting source: String, spec: JobSpec, terms: JobTerms = JobTerms(), stages: Bool = false
    ) throws(ReelFailure) {
        let url = URL(fileURLWithPath: source).standardizedFileURL
        let fingerprint = try Fingerprint.of(url.path)
        self.init(
            id: try JobID.make(sources: [fingerprint], spec: spec), spec: spec,
            source: JobSource(
                path: url.path, staged: stages ? url.lastPathComponent : nil, fingerprint: fingerprint),
            terms: terms, created: Date().timeIntervalSince1970)
    }
}
