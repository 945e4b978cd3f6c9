internal import Logging
internal import ReelCore
package import ReelQueue
internal import ReelWords
internal import Synchronization

/// Wakes the tasks that wait for it.
///
/// A task reads `count`, looks whether there is something to do, and waits for a signal after that count. It cannot
/// miss a signal that is sent while it looks.
package final class AsyncSignal: Sendable {
    private struct State {
        var count = 0
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    package init() {}

    package var count: Int { state.withLock(\.count) }

    /// Returns when the signal has been sent more often than `count`: at once if it has been by now.
    package func wait(after count: Int) async {
        await withCheckedContinuation { continuation in
            let isSent = state.withLock { state in
                if state.count > count { return true }
                state.waiting.append(continuation)
                return false
            }
            if isSent { continuation.resume() }
        }
    }

    package func send() {
        let woken = state.withLock { state in
            defer { state.waiting = [] }
            state.count += 1
            return state.waiting
        }
        for continuation in woken { continuation.resume() }
    }
}

/// Ends the work on a pass at once, or as soon as there is work if it is fired before.
package final class KillSwitch: Sendable {
    private struct State {
        var isFired = false
        var action: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())

    package init() {}

    package func arm(_ action: @escaping @Sendable () -> Void) {
        let isLate = state.withLock { state in
            state.action = action
            return state.isFired
        }
        if isLate { action() }
    }

    /// Ends the work. Firing again repeats the action.
    package func fire() {
        let action = state.withLock { state in
            state.isFired = true
            return state.action
        }
        action?()
    }
}

/// The clock that a worker's roles wait by. In a test, time passes when the test says so.
package struct WorkerClock: Sendable {
    private let elapsed: @Sendable () -> Duration
    private let pause: @Sendable (Duration) async throws -> Void

    package init(
        elapsed: @escaping @Sendable () -> Duration, pause: @escaping @Sendable (Duration) async throws -> Void
    ) {
        self.elapsed = elapsed
        self.pause = pause
    }

    /// The clock of programs. Time in which the machine sleeps counts.
    package static let continuous: WorkerClock = {
        let start = ContinuousClock.now
        return WorkerClock(elapsed: { start.duration(to: .now) }, pause: { try await Task.sleep(for: $0) })
    }()

    /// The time since some moment, the same for all calls.
    package var now: Duration { elapsed() }

    /// Returns when so much time has passed: true then, false if the task was cancelled before.
    @discardableResult
    package func sleep(for duration: Duration) async -> Bool {
        do {
            try await pause(duration)
            return true
        } catch {
            return false
        }
    }
}

/// How long to wait before a call on the board is made again. It logs once that the board is out of reach, and once
/// that it is back. A refusal for good is logged once as well, whatever other calls succeed.
struct RetryBackoff {
    private var seconds = 0.0
    private var isRefused = false
    private let log: Logger

    init(log: Logger) { self.log = log }

    /// How long to wait after a call that failed: 0.25 s, and twice as long after each further one, 5 s at most.
    mutating func delay(after failure: ReelFailure) -> Duration {
        let isRefusal = failure.cause == .permanent
        if seconds == 0 || isRefusal != isRefused { log.warning("waiting for Redis: \(failure.words)") }
        isRefused = isRefusal
        seconds = min(max(seconds * 2, 0.25), 5)
        return .seconds(seconds)
    }

    mutating func reset() {
        // Another call is refused, and that this one succeeded says nothing about it.
        guard !isRefused else { return }
        if seconds > 0 { log.notice("Redis is back") }
        seconds = 0
    }
}

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
