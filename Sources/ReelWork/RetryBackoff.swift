internal import Logging
internal import ReelCore
internal import ReelWords

/// How long to wait before a call on the board is made again. It logs once that the board is out of reach, and once that
/// it is back. A refusal for good is logged once as well, whatever other calls succeed.
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

    /// A call succeeded.
    mutating func reset() {
        // Another call is refused, and that this one succeeded says nothing about it.
        guard !isRefused else { return }
        if seconds > 0 { log.notice("Redis is back") }
        seconds = 0
    }
}
