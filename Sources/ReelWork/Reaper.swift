internal import Logging
internal import ReelCore
internal import ReelQueue
internal import ReelWords

/// Requeues the passes of workers that vanished. Every worker runs one.
package struct Reaper: Sendable {
    private let environment: WorkerEnvironment

    package init(_ environment: WorkerEnvironment) { self.environment = environment }

    /// Looks at every interval, the first time after one, until cancelled.
    func run(every interval: Duration) async {
        while await environment.clock.sleep(for: interval) { await reap() }
    }

    /// Looks once.
    package func reap() async {
        do throws(ReelFailure) {
            let count = try await environment.board.reap()
            if count > 0 { environment.log.notice("\(count) expired leases were given back") }
        } catch {
            environment.log.debug("nothing reaped: \(error.words)")
        }
    }
}
