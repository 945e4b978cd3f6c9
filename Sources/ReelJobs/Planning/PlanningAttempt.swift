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

    /// Returns the job when its passes are on the board, or when it is done. Throws `.probeLost` if another process holds
    /// the planning by then, `.jobCancelled` if a user cancelled the job, and what reading and planning throw.
    ///
    /// - Parameter scratch: a folder of this machine, in which a small job is done as a whole. Nil to leave all passes to
    ///   workers.
    package func run(scratch: String? = nil) async throws(ReelFailure) -> (job: StoredJob, isDone: Bool) {
        let entry = planning.store.job(claim.job)
        let record = try await entry.read()
        let planned =
            if let scratch {
                try await planning.planAndDo(record, token: claim.token, scratch: scratch)
            } else {
                try await planning.plan(record)
            }
        var results = planned.whole?.results
        if let whole = planned.whole { try await entry.recordDone(whole.output, on: board) }
        if results == nil { results = await planned.job.finished(in: planned.indexes) }
        do throws(ReelFailure) {
            try await board.patiently { [results] () throws(ReelFailure) in
                try await planned.job.publish(on: board, claim, results ?? [:])
            }
        } catch {
            // The board alone decides between an end and a cancellation.
            if planned.whole != nil { try? await entry.settle(on: board) }
            throw error
        }
        return (planned.job, planned.whole != nil)
    }
}
