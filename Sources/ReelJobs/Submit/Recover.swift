internal import Foundation
public import ReelCore
public import ReelQueue
public import ReelStore

/// Puts jobs back on a board that has lost them, as the store has them: with every pass finished whose segments are
/// whole, paused where they were; one without a plan is probed again. What was cancelled, has failed or is done stays so.
public struct Recover: Sendable {
    /// What became of a job that the store says is unfinished.
    public enum Outcome: Sendable, Equatable {
        /// It is on the board again.
        case recovered
        /// The board had it.
        case known
        /// The store has not enough of it, and why.
        case lost(ReelFailure)
    }

    private let store: Store
    private let board: any Board

    public init(store: Store, board: any Board) {
        self.store = store
        self.board = board
    }

    /// Every job that has not ended, and what became of it. Doing it again, or while workers work, is harmless.
    public func all() async throws(ReelFailure) -> [(job: JobID, outcome: Outcome)] {
        var outcomes: [(JobID, Outcome)] = []
        for id in try store.unfinishedJobs() { outcomes.append((id, try await recover(id))) }
        return outcomes
    }

    /// One job that has not ended, and what became of it.
    func recover(_ id: JobID) async throws(ReelFailure) -> Outcome {
        if let status = try await board.status(id), !status.state.isTerminal { return .known }
        let record: JobRecord
        do {
            record = try store.job(id).read()
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
            let placed = try PlacedJob(store.job(id))
            let finished = try placed.finished(in: placed.indexes(in: store))
            return try await placed.publish(on: board, claim, finished) == .published ? .recovered : .known
        } catch {
            guard error.kind != .unreachable || error.cause != .transient else { throw error }
            // It has no plan that this release can go on with: a worker makes one.
            if record.paused { _ = try await board.pause(id) }
            try await board.release(claim)
            return .recovered
        }
    }
}
