/// The clock that a worker's roles wait by. In a test, time passes when the test says so.
package struct WorkerClock: Sendable {
    private let elapsed: @Sendable () -> Duration
    private let pause: @Sendable (Duration) async throws -> Void

    /// - Parameters:
    ///   - elapsed: the time since some moment, the same for all calls.
    ///   - pause: returns when so much time has passed; throws if the task is cancelled before.
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
