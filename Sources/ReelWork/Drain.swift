package import ReelQueue
internal import Synchronization

/// Why a worker claims nothing. It may end: then it lets passes go on for the grace, and hands back the rest. Or a user
/// has drained it or its host: then it goes on with its passes, and waits until that is taken back.
package final class Drain: Sendable {
    private let grace: Duration
    private let passes: ActivePasses
    private let signal: AsyncSignal
    private let clock: WorkerClock
    private let hasBegun = Atomic(false)
    private let ordered = Mutex<DrainScope?>(nil)

    /// - Parameters:
    ///   - signal: is sent when the worker begins to end, and when what a user has drained changes.
    package init(grace: Duration, passes: ActivePasses, signal: AsyncSignal, clock: WorkerClock) {
        self.grace = grace
        self.passes = passes
        self.signal = signal
        self.clock = clock
    }

    package var isOn: Bool { hasBegun.load(ordering: .acquiring) }

    package var byUser: DrainScope? { ordered.withLock(\.self) }

    /// Heeds what the board says that a user has drained. Returns whether that is a change.
    package func heed(_ scope: DrainScope?) -> Bool {
        let before = ordered.withLock { ordered in
            defer { ordered = scope }
            return ordered
        }
        if before != scope { signal.send() }
        return before != scope
    }

    /// Waits. Returns false at once if the worker ends, or begins to.
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

    /// Begins the worker's end. After the grace, the passes that still run are stopped.
    package func begin() {
        guard !hasBegun.exchange(true, ordering: .acquiringAndReleasing) else { return }
        signal.send()
        Task {
            await clock.sleep(for: grace)
            passes.stopAll(because: .drained)
        }
    }

    /// Begins the worker's end, or shortens one that has begun: the passes that run are stopped at once.
    package func stopNow() {
        hasBegun.store(true, ordering: .releasing)
        signal.send()
        passes.stopAll(because: .drained)
    }
}
