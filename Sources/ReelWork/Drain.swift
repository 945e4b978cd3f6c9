internal import Synchronization

/// How a worker ends: it claims no more, lets passes go on for the grace, then hands back those that are left.
package final class Drain: Sendable {
    private let grace: Duration
    private let passes: ActivePasses
    private let signal: AsyncSignal
    private let clock: WorkerClock
    private let hasBegun = Atomic(false)

    /// - Parameters:
    ///   - grace: how long passes may go on.
    ///   - signal: is sent when the drain begins.
    package init(grace: Duration, passes: ActivePasses, signal: AsyncSignal, clock: WorkerClock) {
        self.grace = grace
        self.passes = passes
        self.signal = signal
        self.clock = clock
    }

    /// Whether the worker claims no more.
    package var isOn: Bool { hasBegun.load(ordering: .acquiring) }

    /// Waits for so long. Returns false at once if the worker drains, or begins to.
    package func staysOff(for duration: Duration) async -> Bool {
        let end = clock.now + duration
        while !isOn, clock.now < end {
            let count = signal.count
            let alarm = Task { [signal, clock] in
                if await clock.sleep(for: end - clock.now) { signal.send() }
            }
            await signal.wait(after: count)
            alarm.cancel()
        }
        return !isOn
    }

    /// Begins the drain. After the grace, the passes that still run are stopped.
    package func begin() {
        guard !hasBegun.exchange(true, ordering: .acquiringAndReleasing) else { return }
        signal.send()
        Task {
            await clock.sleep(for: grace)
            passes.stopAll(because: .drained)
        }
    }

    /// Begins the drain, or shortens one that has begun: the passes that run are stopped at once.
    package func stopNow() {
        hasBegun.store(true, ordering: .releasing)
        signal.send()
        passes.stopAll(because: .drained)
    }
}
