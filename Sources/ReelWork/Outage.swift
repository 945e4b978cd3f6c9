internal import Logging
internal import ReelCore
internal import ReelWords

/// Says once that Redis is out of reach, and once that it is back. What Redis refuses for good is said once, whatever
/// else it allows.
struct Outage {
    private var seconds = 0.0
    private var isRefused = false
    private let log: Logger

    init(log: Logger) { self.log = log }

    /// Seconds to wait before the next attempt: twice as long each time, 5 at most.
    mutating func pause(after failure: ReelFailure) -> Duration {
        let isRefusal = failure.cause == .permanent
        if seconds == 0 || isRefusal != isRefused { log.warning("waiting for Redis: \(failure.words)") }
        isRefused = isRefusal
        seconds = min(max(seconds * 2, 0.25), 5)
        return .seconds(seconds)
    }

    mutating func over() {
        // Another call is refused, and this one says nothing of that.
        guard !isRefused else { return }
        if seconds > 0 { log.notice("Redis is back") }
        seconds = 0
    }
}
