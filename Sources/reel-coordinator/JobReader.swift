internal import ReelCore
internal import ReelPipeline
internal import ReelQueue
internal import ReelStore

/// Jobs as board and store together know them: the board how far they are, the store what it has forgotten.
struct JobReader: Sendable {
    let board: Board
    let store: Store?

    static func unknown(_ job: JobID) -> ReelFailure {
        ReelFailure(.usage, "there is no job \(job); reel-coordinator status lists those there are")
    }

    func one(_ id: JobID) async throws(ReelFailure) -> JobView {
        let folder = store?.job(id)
        if let status = try await board.status(id) {
            let idle = try await IdleWatch(board).reason(status)
            let notes = try await board.passWarnings(id) + [idle].compactMap(\.self)
            return JobView(status, output: folder?.result, notes: notes)
        }
        guard let folder, folder.exists, let view = try JobView(folder) else { throw JobReader.unknown(id) }
        return view
    }

    /// Those of the board; of others, the store is asked one by one.
    func all() async throws(ReelFailure) -> [JobView] {
        try await board.jobs().map { JobView($0, output: store?.job($0.job.id).result) }
    }
}

/// Asks the board for its workers only where nothing seems to work on a job.
struct IdleWatch: Sendable {
    private let board: Board

    init(_ board: Board) { self.board = board }

    func reason(_ status: JobStatus) async throws(ReelFailure) -> String? {
        guard !status.state.isTerminal, status.passes.live == 0 else { return nil }
        return status.idleReason(workers: try await board.workers())
    }
}
