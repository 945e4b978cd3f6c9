package import ReelCore
package import ReelEngine
internal import ReelHost
internal import ReelQueue
package import ReelStore

extension JobService {
    /// Hears how much of a source this process has read, from 0 to 1.
    package typealias Reading = @Sendable (Double) -> Void

    /// What submitting a job would do, without doing it: reads the source and plans the job in a folder of its own. Needs
    /// neither board nor store.
    ///
    /// Throws `.input` if the source is at fault, `.usage` if the request is, and `.unreachable` if the temporary folder
    /// cannot be written or the engine cannot be started.
    ///
    /// - Parameters:
    ///   - engine: reads the source.
    ///   - quotas: the most that the job may ask for.
    ///   - reading: hears how far that is.
    package static func prepare(
        _ wanted: JobRecord, engine: any EngineRunner, quotas: Quotas = Quotas(), reading: @escaping Reading = { _ in }
    ) async throws(ReelFailure) -> PreparedJob {
        let folder = try PrivateFolder()
        defer { withExtendedLifetime(folder) {} }
        let store = try FolderStore.make(root: folder.path)
        let planning = Planning(
            store: store, engine: engine, capacity: Capacity(slots: Capacity.usualSlots), quotas: quotas,
            reading: reading)
        let job = try await planning.planAlone(wanted, anew: false)
        return PreparedJob(job, indexes: try await job.indexes(in: store), quotas: quotas)
    }

    /// Has workers do a job: attaches to it if it runs already, resumes it if it was interrupted, else begins it. Returns
    /// when its passes are on the board, or at once if the store has its result.
    ///
    /// Throws what refuses the source or the request: every process that waits for the job gets the same failure, and after
    /// the last of them nothing of the job is left. If the task is cancelled, the job goes on without this caller.
    ///
    /// - Parameters:
    ///   - wanted: from `JobRecord.init(submitting:spec:terms:submission:within:stages:)`.
    ///   - engine: reads the source, unless the store has its index or another process reads it.
    ///   - quotas: the most that the job may ask for.
    ///   - anew: remove the job's passes and plan first, even if it runs now.
    ///   - reading: hears how far this process has read the source.
    ///   - known: hears of the job's state as soon as the board or the store knows the job: from then on its id is of use.
    package func submit(
        _ wanted: JobRecord, engine: any EngineRunner, quotas: Quotas = Quotas(), anew: Bool = false,
        reading: @escaping Reading = { _ in },
        known: (JobState) -> Void = { _ in }
    ) async throws(ReelFailure) -> SubmittedJob {
        let store = try requiredStore()
        if anew { try await JobControl(board: board, store: store).withdraw(wanted.id) }
        let planning = Planning(
            store: store, engine: engine, capacity: try await Capacity.ofWorkers(on: board), quotas: quotas,
            reading: reading)
        let (job, outcome) = try await Submitter(planning: planning, board: board, wanted: wanted).submit(known: known)
        let output = try? await job.entry.read().terms.output
        return SubmittedJob(id: job.id, outcome: outcome, output: output, diagnostics: job.plan.diagnostics)
    }
}

/// A job that was submitted and has a plan.
package struct SubmittedJob: Hashable, Sendable {
    /// What submitting led to.
    package enum Outcome: Hashable, Sendable {
        /// Another process has begun it.
        case attached
        /// It was begun.
        case published
        /// It goes on by an earlier plan, and keeps the finished passes.
        case continued
        /// The store has its result already.
        case finished
    }

    /// The job.
    package let id: JobID
    /// What submitting led to.
    package let outcome: Outcome
    /// Where the result goes unless another place is named: what the first submission of the job asked for.
    package let output: String?
    /// The plan's facts about source and output.
    package let diagnostics: [Diagnostic]
}
