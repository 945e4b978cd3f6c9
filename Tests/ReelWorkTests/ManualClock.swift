import Logging
import ReelWork
import Synchronization

/// A clock whose time passes when a test says so. In free run, each wait ends at once and moves the time on by itself.
final class ManualClock: Sendable {
    private struct Sleeper {
        var due: Duration
        var continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var now = Duration.zero
        var runsFreely: Bool
        var last = 0
        var sleepers: [Int: Sleeper] = [:]
        var cancelled: Set<Int> = []
    }

    private let state: Mutex<State>

    init(runsFreely: Bool = false) { state = Mutex(State(runsFreely: runsFreely)) }

    var clock: WorkerClock {
        WorkerClock(elapsed: { self.state.withLock(\.now) }, pause: { try await self.sleep(for: $0) })
    }

    /// How many tasks wait for the time to pass.
    var sleepers: Int { state.withLock(\.sleepers.count) }

    func advance(by duration: Duration) {
        let woken = state.withLock { state in
            state.now += duration
            let due = state.sleepers.filter { $0.value.due <= state.now }
            for id in due.keys { state.sleepers[id] = nil }
            return due.values.map(\.continuation)
        }
        for continuation in woken { continuation.resume() }
    }

    private func sleep(for duration: Duration) async throws {
        try Task.checkCancellation()
        let id = state.withLock { state -> Int? in
            state.last += 1
            if state.runsFreely { state.now += duration }
            return state.runsFreely ? nil : state.last
        }
        guard let id else { return await Task.yield() }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isCancelled = state.withLock { state in
                    if state.cancelled.remove(id) != nil { return true }
                    state.sleepers[id] = Sleeper(due: state.now + duration, continuation: continuation)
                    return false
                }
                if isCancelled { continuation.resume(throwing: CancellationError()) }
            }
        } onCancel: {
            let sleeper = state.withLock { state in
                if let sleeper = state.sleepers.removeValue(forKey: id) { return sleeper as Sleeper? }
                state.cancelled.insert(id)
                return nil
            }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }
}

/// A log that keeps its lines from `notice` on, and from `info` on what a worker begins and finishes.
final class LogRecorder: Sendable {
    private let kept = Mutex<[String]>([])

    var lines: [String] { kept.withLock(\.self) }

    var logger: Logger {
        var logger = Logger(label: "test") { _ in Handler(recorder: self) }
        logger.logLevel = .info
        return logger
    }

    private struct Handler: LogHandler {
        let recorder: LogRecorder
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.info

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) { recorder.kept.withLock { $0.append(event.message.description) } }
    }
}
