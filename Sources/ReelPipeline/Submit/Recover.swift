internal import Foundation
public import ReelCore
public import ReelQueue
public import ReelStore

/// Puts jobs back on a board that has lost them, as the store has them: with every pass finished whose segments are
/// whole, paused where they were. What was cancelled, has failed or is done stays so.
public struct Recover: Sendable {
    /// What became of a job that the store says is unfinished.
    public enum Outcome: Sendable, Equatable {
        /// It is on the board again.
        case recovered
        /// The board had it.
        case known
        /// The store has not enough of it, and why.
        case lost(String)
    }

    private let store: Store
    private let board: Board

    public init(store: Store, board: Board) {
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
        if let status = try await board.status(id), status.state != .publishing { return .known }
        let job: PlacedJob
        do {
            job = try PlacedJob(store.job(id))
        } catch {
            return .lost("\(error.message); submit \(name(of: id)) again")
        }
        return try await job.publish(on: board) == .attached ? .known : .recovered
    }

    private func name(of id: JobID) -> String { (try? store.job(id).read().source) ?? "the source" }
}
