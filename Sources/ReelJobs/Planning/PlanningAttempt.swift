package import ReelCore
package import ReelQueue
internal import ReelStore

/// One attempt at a job's planning by the process that holds it: makes the plan and publishes its passes.
package struct PlanningAttempt: Sendable {
    private let planning: Planning
    private let board: any Board
    private let claim: Claim

    package init(planning: Planning, board: any Board, claim: Claim) {
        self.planning = planning
        self.board = board
        self.claim = claim
    }

    /// Returns the job when its passes are on the board. Throws `.probeLost` if another process holds the planning by
    /// then, `.jobCancelled` if a user cancelled the job, and what reading and planning throw.
    package func run() async throws(ReelFailure) -> StoredJob {
        let record = try await planning.store.job(claim.job).read()
        let sources = try await planning.examine(record)
        let job = try await planning.findOrMakePlan(of: claim.job, from: sources)
        let finished = await job.finished(in: sources.input.indexes)
        try await board.patiently { () throws(ReelFailure) in try await job.publish(on: board, claim, finished) }
        return job
    }
}
