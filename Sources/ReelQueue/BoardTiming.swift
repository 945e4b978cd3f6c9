internal import Foundation

/// The board's leases and time-outs. The defaults are for production; tests use shorter ones.
package struct BoardTiming: Sendable, Hashable {
    /// How long a holder keeps a pass without a beat. A worker whose last beat is older counts as gone.
    package var lease: Duration
    /// The wait after a pass's first transient failure; it doubles with each further one.
    package var backoff: Duration
    /// How long Redis keeps a job after its end.
    package var retention: Duration
    /// How long a server has for one attempt to send a webhook.
    package var webhookLease: Duration
    /// The wait after the first attempt to send a webhook that failed; it doubles with each further one.
    package var webhookPause: Duration
    package var connectTimeout: Duration
    /// How long one answer of Redis may take.
    package var answerTimeout: Duration

    package init(
        lease: Duration = BoardTiming.usualLease, backoff: Duration = .seconds(2),
        retention: Duration = .seconds(7 * 24 * 3600), webhookLease: Duration = .seconds(60),
        webhookPause: Duration = .seconds(10), connectTimeout: Duration = .seconds(3),
        answerTimeout: Duration = .seconds(10)
    ) {
        self.lease = lease
        self.backoff = backoff
        self.retention = retention
        self.webhookLease = webhookLease
        self.webhookPause = webhookPause
        self.connectTimeout = connectTimeout
        self.answerTimeout = answerTimeout
    }

    /// 20 s, or a shorter time for tests of whole programs, in seconds. All programs of a board must have the same.
    package static let usualLease: Duration = {
        let text = ProcessInfo.processInfo.environment["REEL_TEST_LEASE"] ?? ""
        guard let seconds = Int(text), (1...20).contains(seconds) else { return .seconds(20) }
        return .seconds(seconds)
    }()

    /// From one beat of a worker to the next: a lease outlasts the loss of two, and a pause of Redis.
    package var beat: Duration { lease / 4 }

    /// From one look for lapsed leases to the next; also from one sign of a process that probes to the next.
    package var reap: Duration { lease * 3 / 20 }

    /// From one look for jobs that the board has lost to the next.
    package var registering: Duration { lease * 3 }

    /// For how long a worker whose disk was full claims nothing, unless room is seen before.
    package var rest: Duration { lease * 3 }
}

extension Duration {
    /// Whole milliseconds, rounded down.
    var milliseconds: Int64 { components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000 }
}

extension BoardTiming {
    var leaseText: String { String(lease.milliseconds) }
    var retentionText: String { String(retention.milliseconds) }
}
