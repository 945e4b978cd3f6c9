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

    /// Has a failed job run again that the board has forgotten. False where the store does not say that it failed.
    public func retry(_ id: JobID) async throws(ReelFailure) -> Bool {
        let folder = store.job(id)
        guard folder.exists else { return false }
        var record = try folder.read()
        guard record.state == .failed else { return false }
        (record.state, record.failure, record.finished, record.paused) = (nil, nil, nil, false)
        try folder.write(record)
        if case .lost(let why) = try await recover(id) { throw ReelFailure(.unreachable, why, cause: .permanent) }
        return true
    }

    private func recover(_ id: JobID) async throws(ReelFailure) -> Outcome {
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
