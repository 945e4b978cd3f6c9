internal import Logging
internal import ReelCore
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
