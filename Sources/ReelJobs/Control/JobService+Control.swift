public import ReelCore
public import ReelQueue
internal import ReelStore

/// Changes of jobs and workers. A change of a job throws `.jobUnknown` if there is no such job, `.usage` if its state does not
/// allow the change, and `.unreachable`.
extension JobService {
    /// The outcome of a change that a user makes to a job.
    public enum ControlOutcome: Hashable, Sendable {
        case cancelled
        /// Cancelling changed nothing: the job had ended before, in this state.
        case hadEnded(JobState)
        case paused, resumed, retried, removed
    }

    /// The outcome of recovering a job.
    public enum RecoverOutcome: Hashable, Sendable {
        /// It is on the board again, with so many passes finished.
        case recovered(passesDone: Int)
        /// The board had it.
        case known
        /// The store lacks a part of the job, and the reason.
        case lost(ReelFailure)
    }

    /// Ends a job. Its workers learn of it with their next beat, and stop.
    public func cancel(_ id: JobID) async throws(ReelFailure) -> ControlOutcome { try await control().cancel(id) }

    /// Pauses a job: none of its passes is claimed any more; those that workers hold are finished. Throws `.jobEnded` if the
    /// job has ended, and `.jobNotOnBoard` if only the store has it.
    public func pause(_ id: JobID) async throws(ReelFailure) -> ControlOutcome {
        try await control().setPaused(id, true)
    }

    /// Lets a paused job go on. Throws as `pause` does.
    public func resume(_ id: JobID) async throws(ReelFailure) -> ControlOutcome {
        try await control().setPaused(id, false)
    }

    /// Has a failed job run again. Passes that are finished, and whole in the store, stay so. Throws `.jobNotFailed` if it has
    /// not failed.
    public func retry(_ id: JobID) async throws(ReelFailure) -> ControlOutcome { try await control().retry(id) }

    /// Removes an ended job and all that the store has of it, its result too. Throws `.jobNotEnded` if it has not ended.
    public func remove(_ id: JobID) async throws(ReelFailure) -> ControlOutcome { try await control().remove(id) }

    /// Has workers claim no more: they finish the passes that they hold, and end. Returns those that were told.
    ///
    /// Throws `.workerUnknown` if no worker has that name.
    ///
    /// - Parameter name: a worker's id, or the name of a host for all of its workers.
    public func drain(_ name: String) async throws(ReelFailure) -> [WorkerID] {
        let named = try await board.workers().map(\.report).filter { [$0.worker.text, $0.host].contains(name) }
        guard !named.isEmpty else { throw ReelFailure(.workerUnknown(name: name)) }
        var drained: [WorkerID] = []
        for worker in named.map(\.worker) where try await board.drain(worker) { drained.append(worker) }
        return drained
    }

    /// Checks the jobs on the board that have not ended, and repairs them.
    public func audit() async throws(ReelFailure) -> Audit { try await board.audit() }

    /// Puts jobs that have not ended back on a board that has lost them. Returns every such job with its outcome. Doing
    /// it again, or while workers work, is harmless.
    public func recover() async throws(ReelFailure) -> [(job: JobID, outcome: RecoverOutcome)] {
        try await Recover(store: requiredStore(), board: board).all()
    }

    private func control() throws(ReelFailure) -> JobControl { JobControl(board: board, store: try requiredStore()) }
}
