internal import Logging
internal import ReelCore
internal import ReelQueue
internal import ReelWords

/// Tells the board what this worker holds, and learns what it has lost. Runs on the thread of its own connection, so
/// that nothing else that this process does can delay a beat.
actor Heartbeat {
    private let board: any Board
    private let worker: WorkerID
    /// What the worker is, and what it says of itself just now.
    private let report: @Sendable () -> WorkerReport
    private let interval: Duration
    private let holdings: Holdings
    private let drain: Drain
    private let log: Logger

    nonisolated var unownedExecutor: UnownedSerialExecutor { board.unownedExecutor }

    init(
        board: any Board, worker: WorkerID, report: @escaping @Sendable () -> WorkerReport, interval: Duration,
        holdings: Holdings, drain: Drain, log: Logger
    ) {
        self.board = board
        self.worker = worker
        self.report = report
        self.interval = interval
        self.holdings = holdings
        self.drain = drain
        self.log = log
    }

    /// Beats until cancelled, then leaves the registry.
    func run() async {
        while !Task.isCancelled {
            await beat()
            try? await Task.sleep(for: interval)
        }
        // What the registry forgets by itself later is no reason to wait for Redis now.
        try? await board.depart(worker)
    }

    private func beat() async {
        do {
            let reply = try await board.beat(report())
            for (token, answer) in reply.answers {
                switch answer {
                case .ok: continue
                case .lost: holdings.judge(token: token, .lost)
                case .cancel: holdings.judge(token: token, .cancelled)
                }
            }
            if reply.drain { drain.begin() }
        } catch {
            log.debug("no beat: \(error.words)")
        }
    }
}
