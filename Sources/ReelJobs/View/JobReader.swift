public import ReelCore
public import ReelQueue
public import ReelStore

/// Jobs as board and store together know them: the board how far they are, the store what it has forgotten.
///
/// What people can do about a job that waits depends on where they are told: each caller has words of its own.
public struct JobReader: Sendable {
    private let board: any Board
    private let store: Store?
    private let advice: @Sendable (WaitReason) -> String?

    /// - Parameters:
    ///   - store: nil leaves out what only the store knows.
    ///   - advice: what a person can do about a job that waits; nil where the reason says it all.
    public init(board: any Board, store: Store?, advice: @escaping @Sendable (WaitReason) -> String?) {
        self.board = board
        self.store = store
        self.advice = advice
    }

    /// One job in full.
    public func one(_ id: JobID) async throws(ReelFailure) -> JobView {
        let folder = store?.job(id)
        guard let status = try await board.status(id) else {
            guard let folder, folder.exists, let view = try JobView(folder) else { throw JobControl.unknown(id) }
            return view
        }
        let workers = status.state.isTerminal ? [] : try await board.workers()
        let reason = WaitReason(status, workers: workers)
        return JobView(
            status, output: folder?.result, found: try await board.passDiagnostics(id),
            waitReason: reason, waitAdvice: reason.flatMap(advice),
            failures: try await failures(status, folder))
    }

    /// Those of the board that have not ended, and the latest of the others; and why others cannot be read.
    public func latest() async throws(ReelFailure) -> (jobs: [JobView], unreadable: [JobID: ReelFailure]) {
        let workers = try await board.workers()
        let list = try await board.latestJobs()
        let views = list.jobs.map { status in
            let reason = WaitReason(status, workers: workers)
            return JobView(
                status, output: store?.job(status.job.id).result, waitReason: reason,
                waitAdvice: reason.flatMap(advice))
        }
        return (views, list.unreadable)
    }

    public func queue() async throws(ReelFailure) -> QueueView {
        let workers = try await board.workers()
        let list = try await board.queue()
        let jobs = list.jobs.map { status in
            let reason = WaitReason(status, workers: workers)
            return JobView(status, output: nil, waitReason: reason, waitAdvice: reason.flatMap(advice))
        }
        return QueueView(
            jobs: jobs, counts: try await board.jobCounts(), pace: try await board.pace(), workers: workers,
            unreadable: list.unreadable)
    }

    /// With the passes, which the board has, and with the times of their frames and what engines said, which only the
    /// store has.
    private func failures(_ status: JobStatus, _ folder: JobFolder?) async throws(ReelFailure) -> [FailureView] {
        guard !status.failures.isEmpty else { return [] }
        let job = status.job
        var passes = try await board.passes(job.id, at: status.failures.map(\.index))
        passes[job.passCount] = .assembly
        // Without them a failure is still told, by its frames.
        let index = folder.flatMap { folder in
            (try? folder.latestPlan()).flatMap { plan in plan.flatMap { try? folder.readIndexes(of: $0).first } }
        }
        return status.failures.map { failure in
            var logs: [String: String] = [:]
            for attempt in failure.recent {
                logs[attempt.token] = folder?.readAttempt(pass: failure.index, token: attempt.token)
            }
            return FailureView(failure, pass: passes[failure.index], index: index, logs: logs)
        }
    }
}
