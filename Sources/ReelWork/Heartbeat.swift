internal import Logging
internal import ReelCore
package import ReelHost
package import ReelQueue
internal import ReelWords

/// Tells the board which passes the worker holds, and learns which of them it has lost. It runs on the executor of its
/// own board, so that nothing else in this process delays a beat.
package actor Heartbeat {
    private let environment: WorkerEnvironment
    private let board: any Board
    private let interval: Duration
    private let manager: ServiceManager?
    private let report: @Sendable () -> WorkerReport

    package nonisolated var unownedExecutor: UnownedSerialExecutor { board.unownedExecutor }

    /// - Parameters:
    ///   - board: for this role alone.
    ///   - report: the worker's identity, load and notes at that moment.
    package init(
        _ environment: WorkerEnvironment, board: any Board, interval: Duration, manager: ServiceManager? = nil,
        report: @escaping @Sendable () -> WorkerReport
    ) {
        self.environment = environment
        self.board = board
        self.interval = interval
        self.manager = manager
        self.report = report
    }

    /// Beats until cancelled, then takes the worker out of the registry.
    func run() async {
        while !Task.isCancelled {
            await beat()
            environment.notes.giveSign()
            manager?.tell(.alive)
            await environment.clock.sleep(for: interval)
        }
        // One attempt: the registry forgets the worker by itself, so the worker does not wait for Redis to end.
        try? await board.depart(environment.worker)
    }

    /// Beats once: stops passes that were lost or cancelled, and heeds what a user has drained.
    package func beat() async {
        do throws(ReelFailure) {
            let reply = try await board.beat(report())
            environment.notes.setRedis(isUp: true)
            for (token, answer) in reply.answers {
                switch answer {
                case .ok: continue
                case .lost: environment.passes.stop(token: token, because: .lost)
                case .cancel: environment.passes.stop(token: token, because: .cancelled)
                }
            }
            environment.heed(reply.drained)
        } catch {
            environment.notes.setRedis(isUp: false)
            environment.log.debug("no beat: \(error.words)")
        }
    }
}
