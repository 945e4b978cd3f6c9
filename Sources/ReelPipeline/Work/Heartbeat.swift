internal import Logging
internal import ReelCore
internal import ReelQueue

/// Tells the board what this worker holds, and learns what it has lost. Runs on the thread of its own connection, so
/// that nothing else that this process does can delay a beat.
actor Heartbeat {
    private let board: Board
    private let worker: WorkerID
    private let host: String
    private let slots: Int
    private let memoryTotal: Int64
    private let interval: Duration
    private let holdings: Holdings
    private let drain: Drain
    private let log: Logger

    nonisolated var unownedExecutor: UnownedSerialExecutor { board.unownedExecutor }

    init(
        board: Board, worker: WorkerID, host: String, slots: Int, memoryTotal: Int64, interval: Duration,
        holdings: Holdings, drain: Drain, log: Logger
    ) {
        self.board = board
        self.worker = worker
        self.host = host
        self.slots = slots
        self.memoryTotal = memoryTotal
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
        let report = WorkerReport(
            worker: worker, host: host, slots: slots, memoryTotal: memoryTotal, held: holdings.report)
        do {
            let reply = try await board.beat(report)
            for (token, answer) in reply.answers {
                switch answer {
                case .ok: continue
                case .lost: holdings.judge(token: token, .lost)
                case .cancel: holdings.judge(token: token, .cancelled)
                }
            }
            if reply.drain { drain.begin() }
        } catch {
            log.debug("no beat: \(error.message)")
        }
    }
}
