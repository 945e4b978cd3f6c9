internal import Logging
internal import ReelCore
internal import ReelWords

/// Says once that Redis is out of reach, and once that it is back.
struct Outage {
    private var seconds = 0.0
    private let log: Logger

    init(log: Logger) { self.log = log }

    /// Seconds to wait before the next attempt: twice as long each time, 5 at most.
    mutating func pause(after failure: ReelFailure) -> Duration {
        if seconds == 0 { log.warning("waiting for Redis: \(failure.words)") }
        seconds = min(max(seconds * 2, 0.25), 5)
        return .seconds(seconds)
    }

    mutating func over() {
        if seconds > 0 { log.notice("Redis is back") }
        seconds = 0
    }
}
