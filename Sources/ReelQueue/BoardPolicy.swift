internal import Foundation
package import ReelCore

/// The numbers by which the board decides about passes, each defined here alone. The library of functions gets them as
/// constants; the model of the board, the simulations and readers use them from here.
package enum BoardPolicy {
    /// For each cause that is charged, the number of failed attempts at a pass with which its job fails.
    package static let attempts: [FailureCause: Int] = [.transient: 5, .crash: 3, .lost: 20, .limit: 2, .permanent: 2]

    /// A late pass gets a backup attempt if its holder still needs more than this many times as long as the claiming
    /// worker took for its last pass of the job.
    package static let lag = 2

    /// The backup attempts that a job may have, as a share of its passes (0...1). One is always allowed.
    package static let backupShare = 0.03

    /// Whether a job of `passes` passes may have another backup attempt after `attempts` of them.
    package static func allowsBackup(after attempts: Int, passes: Int) -> Bool {
        Double(attempts) < max(1, backupShare * Double(passes))
    }

    /// How far apart jobs lie in the queue whose weights differ by a thousandth. It must exceed every turn.
    package static let turns = 1_000_000

    /// Milliseconds between two searches for a late pass of one job.
    package static let tailWait = 250

    /// The number of leases for which a pass that one host reported as impossible waits for another host.
    package static let hostPatience = 30

    /// The number of failed attempts at a pass that are kept in full, the last ones.
    package static let attemptsKept = 5

    static let diagnosticsKept = 100

    static let mostPasses = 100_000_000

    /// The number of leases that one call of `reap` looks at.
    static let reaped = 100

    /// Milliseconds without a beat after which a worker leaves the registry.
    package static let silence = 3_600_000

    /// The number of events that the stream keeps, approximately.
    static let eventsKept = 10_000

    static let hints = 64

    /// Milliseconds of a slot of `pace`, and the number of slots: enough for a whole minute at any time.
    static let paceSlot = 5000
    static let paceSlots = 13

    /// The same of the longer slots of `pace`: an hour of whole minutes, and the minute that goes on.
    static let rateSlot = 60_000
    static let rateSlots = 61

    /// The upper bounds of the buckets of both histograms, in milliseconds: from passes that copy or skip almost
    /// everything to the one pass of a long source with a single random access point. Steps of about two up to two
    /// minutes, where most passes lie (with a lease of 20 s among them), and wider ones above.
    package static let buckets = [
        500, 1000, 2000, 5000, 10_000, 20_000, 30_000, 60_000, 120_000, 300_000, 900_000, 3_600_000,
    ]

    /// The number of jobs that one call of `backlog` looks at. With more, a call would hold up the others for longer
    /// than some 10 ms.
    static let backlogPage = 1000

    /// The number of jobs, or of other entries, that `reap` tidies at once, and the milliseconds from one time to the
    /// next: less than a hundredth of Redis's time.
    package static let tidied = 50
    static let tidyPause = 1000

    /// The number of entries that the journal keeps, approximately.
    static let journalKept = 10_000

    package static let webhooksKept = 8

    /// Milliseconds after which a webhook that has not arrived is given up.
    package static let webhookPatience = 24 * 3_600_000

    /// The longest pause between two attempts to send a webhook, in milliseconds.
    package static let webhookPause = 3_600_000

    /// The number of entries of `webhooks` that one call of `dispatch` looks at.
    static let webhooksLookedAt = 100

    /// These numbers as constants in Lua.
    static let lua = """
        local LIMITS = { \(limits) }
        local TURNS = \(turns)
        local LAG, BACKUP_SHARE, TAIL_WAIT, PATIENCE = \(lag), \(backupShare), \(tailWait), \(hostPatience)
        local ATTEMPTS_KEPT, DIAGNOSTICS_KEPT, MOST_PASSES = \(attemptsKept), \(diagnosticsKept), \(mostPasses)
        local REAPED, SILENCE, EVENTS_KEPT, HINTS = \(reaped), \(silence), \(eventsKept), \(hints)
        local PACE_SLOT, PACE_SLOTS, RATE_SLOT, RATE_SLOTS = \(paceSlot), \(paceSlots), \(rateSlot), \(rateSlots)
        local BUCKETS = { \(buckets.map(String.init).joined(separator: ", ")) }
        local BACKLOG_PAGE, TIDIED, TIDY_PAUSE = \(backlogPage), \(tidied), \(tidyPause)
        local WEBHOOKS_KEPT, WEBHOOKS_LOOKED_AT = \(webhooksKept), \(webhooksLookedAt)
        local WEBHOOK_PATIENCE, WEBHOOK_PAUSE = \(webhookPatience), \(webhookPause)
        """

    private static var limits: String {
        attempts.map { "['\($0.key.rawValue)'] = \($0.value)" }.sorted().joined(separator: ", ")
    }
}

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
