internal import Foundation
package import ReelCore
package import ReelQueue
package import ReelStore

/// Puts jobs back on a board that has lost them, as the store has them: with every pass finished whose segments are whole,
/// and paused if they were. A job without a plan is planned again. A job that is done, failed or cancelled stays so.
package struct Recover: Sendable {
    package typealias Outcome = JobService.RecoverOutcome

    private let store: any JobStore
    private let board: any Board

    package init(store: any JobStore, board: any Board) {
        self.store = store
        self.board = board
    }

    /// Every job that has not ended, with its outcome. Doing it again, or while workers work, is harmless.
    func all() async throws(ReelFailure) -> [(job: JobID, outcome: Outcome)] {
        var outcomes: [(JobID, Outcome)] = []
        for id in try await store.unfinishedJobs() { outcomes.append((id, try await recover(id))) }
        return outcomes
    }

    /// One job that has not ended, with its outcome.
    package func recover(_ id: JobID) async throws(ReelFailure) -> Outcome {
        if let status = try await board.status(id), !status.state.isTerminal { return .known }
        let record: JobRecord
        do {
            record = try await store.job(id).read()
        } catch {
            return .lost(error)
        }
        guard
            case .begun(let claim) = try await board.begin(
                record.beginning, holder: WorkerID("recover-\(UUID().uuidString)"))
        else {
            return .known
        }
        do throws(ReelFailure) {
            try await store.job(id).describe(on: board)
            try await board.hook(record)
            let job = try await StoredJob(store.job(id))
            let finished = try await job.finished(in: job.indexes(in: store))
            try await job.publish(on: board, claim, finished)
            return .recovered(passesDone: finished.count)
        } catch {
            switch error.reason {
            case .probeLost, .jobCancelled: return .known
            default: break
            }
            guard error.kind != .unreachable || error.cause != .transient else { throw error }
            // It has no plan that this release can use: a worker makes one.
            if record.paused { _ = try await board.pause(id) }
            try await board.release(claim)
            return .recovered(passesDone: 0)
        }
    }
}
