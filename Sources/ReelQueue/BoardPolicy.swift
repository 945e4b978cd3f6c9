public import ReelCore

/// The numbers by which the board decides what becomes of passes. Each stands here alone: the library of functions has
/// them as constants at its head, and the board's model, the simulations and the readers take them from here.
public enum BoardPolicy {
    /// How often a pass may fail for each cause that is charged, before its job fails.
    public static let attempts: [FailureCause: Int] = [.transient: 5, .crash: 3, .lost: 20, .limit: 2, .permanent: 2]

    /// A pass is given out a second time if its holder still needs more than so many times what the asking worker took
    /// for its last pass of the job.
    public static let lag = 2

    /// Second copies that a job may have, as a share of its passes; one is always allowed.
    public static let copies = 0.03

    /// Whether a job of so many passes may have a second copy beside those that it has had.
    public static func mayCopy(copies had: Int, passes: Int) -> Bool { Double(had) < max(1, copies * Double(passes)) }

    /// Milliseconds between two looks for a laggard of one job.
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
        local LAG, COPIED, TAIL_WAIT, PATIENCE = \(lag), \(copies), \(tailWait), \(hostPatience)
        local ATTEMPTS_KEPT, DIAGNOSTICS_KEPT, MOST_PASSES = \(attemptsKept), \(diagnosticsKept), \(mostPasses)
        local REAPED, SILENCE, EVENTS_KEPT, HINTS = \(reaped), \(silence), \(eventsKept), \(hints)
        local PACE_SLOT, PACE_SLOTS = \(paceSlot), \(paceSlots)
        """

    private static var limits: String {
        attempts.map { "['\($0.key.rawValue)'] = \($0.value)" }.sorted().joined(separator: ", ")
    }
}
