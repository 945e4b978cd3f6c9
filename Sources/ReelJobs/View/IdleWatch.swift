public import ReelCore
public import ReelQueue

/// Asks the board for its workers only where nothing seems to work on a job.
public struct IdleWatch: Sendable {
    private let board: any Board

    public init(_ board: any Board) { self.board = board }

    /// What somebody should do something about; nil where there is nothing of that kind.
    public func reason(_ status: JobStatus) async throws(ReelFailure) -> WaitReason? {
        guard !status.state.isTerminal, status.passes.live == 0 else { return nil }
        let reason = WaitReason(status, workers: try await board.workers())
        return reason.flatMap { $0.isPassing ? nil : $0 }
    }
}
