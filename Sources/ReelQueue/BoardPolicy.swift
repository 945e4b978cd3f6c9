public import ReelCore

/// The numbers by which the board decides what becomes of passes, each defined here and nowhere else. The library of
/// functions gets them as constants; the board's model, the simulations and the readers use them from here.
public enum BoardPolicy {
    /// How often a pass may fail for each cause that is charged, before its job fails.
    public static let attempts: [FailureCause: Int] = [.transient: 5, .crash: 3, .lost: 20, .limit: 2, .permanent: 2]

    /// A late pass gets a backup attempt if its holder still needs more than so many times what the claiming worker took
    /// for its last pass of the job.
    public static let lag = 2

    /// The backup attempts that a job may have, as a share of its passes; one is always allowed.
    public static let backupShare = 0.03

    /// Whether a job of so many passes, which has had so many backup attempts, may have another.
    public static func allowsBackup(after attempts: Int, passes: Int) -> Bool {
        Double(attempts) < max(1, backupShare * Double(passes))
    }

    /// Milliseconds between two searches for a late pass of one job.
    public static let tailWait = 250

    /// Leases for which a pass that one host calls impossible waits for another host.
    public static let hostPatience = 30

    /// Attempts of a pass that are kept in full, the last ones.
    public static let attemptsKept = 5

    /// Diagnostics that are kept of a job.
    static let diagnosticsKept = 100

    /// Passes that a job can have at most.
    static let mostPasses = 100_000_000

    /// Leases that one call of `reap` looks at.
    static let reaped = 100

    /// Milliseconds without a beat after which a worker leaves the registry.
    public static let silence = 3_600_000

    /// Events that the stream keeps, about.
    static let eventsKept = 10_000

    /// Hints that wait for workers at most.
    static let hints = 64

    /// Milliseconds of a slot of `pace`, and how many slots there are: any whole minute is there.
    static let paceSlot = 5000
    static let paceSlots = 13

    /// The same in Lua.
    static let lua = """
        local LIMITS = { \(limits) }
        local LAG, BACKUP_SHARE, TAIL_WAIT, PATIENCE = \(lag), \(backupShare), \(tailWait), \(hostPatience)
        local ATTEMPTS_KEPT, DIAGNOSTICS_KEPT, MOST_PASSES = \(attemptsKept), \(diagnosticsKept), \(mostPasses)
        local REAPED, SILENCE, EVENTS_KEPT, HINTS = \(reaped), \(silence), \(eventsKept), \(hints)
        local PACE_SLOT, PACE_SLOTS = \(paceSlot), \(paceSlots)
        """

    private static var limits: String {
        attempts.map { "['\($0.key.rawValue)'] = \($0.value)" }.sorted().joined(separator: ", ")
    }
}
