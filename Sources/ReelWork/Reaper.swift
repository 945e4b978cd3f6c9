internal import Logging
internal import ReelCore
internal import ReelQueue
internal import ReelStore
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
            guard count > 0 else { return }
            environment.log.notice("\(count) expired leases were given back")
            // Their worker may have been killed on this host. An engine's start removes what it left, too, but one that goes on
            // with the next pass starts none.
            TemporaryFolder.removeAbandoned(scratchIn: environment.scratch)
        } catch {
            environment.log.debug("nothing reaped: \(error.words)")
        }
    }
}
