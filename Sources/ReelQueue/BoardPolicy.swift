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

    /// The number of diagnostics that are kept of a job.
    static let diagnosticsKept = 100

    /// The most passes that a job can have.
    static let mostPasses = 100_000_000

    /// The number of leases that one call of `reap` looks at.
    static let reaped = 100

    /// Milliseconds without a beat after which a worker leaves the registry.
    package static let silence = 3_600_000

    /// The number of events that the stream keeps, approximately.
    static let eventsKept = 10_000

    /// The most hints that wait for workers.
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

    /// The number of entries that the journal keeps, approximately.
    static let journalKept = 10_000

    /// The number of webhooks that a job can have.
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
        local BACKLOG_PAGE = \(backlogPage)
        local WEBHOOKS_KEPT, WEBHOOKS_LOOKED_AT = \(webhooksKept), \(webhooksLookedAt)
        local WEBHOOK_PATIENCE, WEBHOOK_PAUSE = \(webhookPatience), \(webhookPause)
        """

    private static var limits: String {
        attempts.map { "['\($0.key.rawValue)'] = \($0.value)" }.sorted().joined(separator: ", ")
    }
}
