package import ReelCore
package import ReelQueue
internal import ReelStore

/// Changes of jobs and workers. A change of a job throws `.jobUnknown` if there is no such job, `.usage` if its state
/// does not allow the change, and `.unreachable`.
extension JobService {
    package enum ControlOutcome: Hashable, Sendable {
        case cancelled
        /// Cancelling changed nothing: the job had ended before, in this state.
        case hadEnded(JobState)
        case paused, resumed, retried, removed
        case weighed(Double)
    }

    package enum DrainOutcome: Hashable, Sendable {
        /// The worker or host of that name is drained; this many live workers are told.
        case drained(String, DrainScope, workers: Int)
        /// The worker has not beaten for a lease, so that there is nothing to drain.
        case gone(WorkerID)
    }

    package enum UndrainOutcome: Hashable, Sendable {
        /// With a host's workers that stay drained, each by itself.
        case undrained(String, DrainScope, butNot: [WorkerID])
        /// The worker stays drained, because its host is.
        case hostIsDrained(WorkerID, host: String)
        case wasNotDrained(String)
    }

    package enum RecoverOutcome: Hashable, Sendable {
        /// It is on the board again, with this many passes finished.
        case recovered(passesDone: Int)
        case known
        /// The store lacks a part of the job, and the reason.
        case lost(ReelFailure)
    }

    /// Ends a job. Its workers learn of it with their next beat, and stop.
    package func cancel(_ id: JobID) async throws(ReelFailure) -> ControlOutcome { try await control().cancel(id) }

    /// Pauses a job: none of its passes is claimed any more; passes that workers hold are finished. Throws `.jobEnded`
    /// if the job has ended, and `.jobNotOnBoard` if only the store has it.
    package func pause(_ id: JobID) async throws(ReelFailure) -> ControlOutcome {
        try await control().setPaused(id, true)
    }

    /// Lets a paused job go on. Throws as `pause` does.
    package func resume(_ id: JobID) async throws(ReelFailure) -> ControlOutcome {
        try await control().setPaused(id, false)
    }

    /// Gives a job that has not ended another weight, from the next claim on. Throws as `pause` does.
    package func weigh(_ id: JobID, _ weight: Double) async throws(ReelFailure) -> ControlOutcome {
        try await control().weigh(id, weight)
    }

    /// Says otherwise how a job is called. Throws `.jobNotOnBoard` if only the store has it.
    ///
    /// - Parameters:
    ///   - name: keeps the rule of `Submission.isText`; nil leaves the name as it is, `.some(nil)` removes it.
    ///   - labels: keep the rules of `Submission`, and replace all labels; nil leaves them as they are.
    package func describe(
        _ id: JobID, name: String?? = nil, labels: [String: String]? = nil
    ) async throws(ReelFailure) { try await control().describe(id, name: name, labels: labels) }

    /// Runs a failed job again; passes whose segments are whole stay finished. Throws `.jobNotFailed`.
    package func retry(_ id: JobID) async throws(ReelFailure) -> ControlOutcome { try await control().retry(id) }

    /// Removes an ended job and all that the store has of it, its result too. Throws `.jobNotEnded`.
    package func remove(_ id: JobID) async throws(ReelFailure) -> ControlOutcome { try await control().remove(id) }

    /// Gives a worker, or a host's workers, nothing more: they finish the passes that they hold, and wait. A host is
    /// drained until `undrain`, a worker until it ends.
    ///
    /// Throws `.workerUnknown` if neither a worker nor a worker's host has that name.
    ///
    /// - Parameter name: a worker's id, or the name of a host.
    package func drain(_ name: String) async throws(ReelFailure) -> DrainOutcome {
        let workers = try await board.workers()
        if let worker = workers.first(where: { $0.report.worker.text == name }) {
            guard !worker.isGone, try await board.drain(.worker, name) else { return .gone(worker.report.worker) }
            return .drained(name, .worker, workers: 1)
        }
        let those = workers.filter { $0.report.host == name }
        guard !those.isEmpty else { throw ReelFailure(.workerUnknown(name: name)) }
        _ = try await board.drain(.host, name)
        return .drained(name, .host, workers: those.count { !$0.isGone })
    }

    /// Takes a drain back, so that workers claim again.
    ///
    /// Throws `.workerUnknown` if nothing of that name is drained, and neither a worker nor a worker's host has it.
    package func undrain(_ name: String) async throws(ReelFailure) -> UndrainOutcome {
        let workers = try await board.workers()
        let ofWorker = try await board.undrain(.worker, name)
        let ofHost = try await board.undrain(.host, name)
        let worker = workers.first { $0.report.worker.text == name }
        if let worker, worker.drained == .host { return .hostIsDrained(worker.report.worker, host: worker.report.host) }
        if ofWorker || ofHost {
            let left = workers.filter { ofHost && !$0.isGone && $0.report.host == name && $0.drained == .worker }
            return .undrained(name, ofHost ? .host : .worker, butNot: left.map(\.report.worker))
        }
        guard worker != nil || workers.contains(where: { $0.report.host == name }) else {
            throw ReelFailure(.workerUnknown(name: name))
        }
        return .wasNotDrained(name)
    }

    /// Checks the jobs on the board that have not ended, and repairs them.
    package func audit() async throws(ReelFailure) -> Audit { try await board.audit() }

    /// Puts jobs that have not ended back on a board that has lost them. Returns every such job with its outcome. Doing
    /// it again, or while workers work, is harmless.
    package func recover() async throws(ReelFailure) -> [(job: JobID, outcome: RecoverOutcome)] {
        let control = try control()
        var outcomes: [(JobID, RecoverOutcome)] = []
        for id in try await requiredStore().unfinishedJobs() { outcomes.append((id, try await control.recover(id))) }
        return outcomes
    }

    private func control() throws(ReelFailure) -> JobControl { JobControl(board: board, store: try requiredStore()) }
}
