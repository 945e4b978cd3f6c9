public import ReelCore

/// The answer of `Board.begin`.
public enum Begun: Hashable, Sendable {
    /// The job is on the board, and the caller holds its probe: it makes index and plan, then publishes.
    case begun(Claim)
    /// Another process holds the probe, or a user paused the job.
    case probing
    /// The job has a plan, and is running or assembling.
    case running
    /// The job is being removed: ask again.
    case busy
}

/// A job's state for a process that waits for it.
public struct Attendance: Hashable, Sendable {
    /// The job's state.
    public var state: JobState
    /// Whether the caller's claim still holds the probe.
    public var holds: Bool
    /// Whether `begin` would get the probe: it has no holder and waits for no retry, and the job is not paused.
    public var isFree: Bool

    package init(state: JobState, holds: Bool, isFree: Bool) {
        self.state = state
        self.holds = holds
        self.isFree = isFree
    }
}

/// The answer of `Board.leave`.
public enum Departure: Hashable, Sendable {
    /// The job stays on the board.
    case stays
    /// The job has ended, and no other process waits for it. It cannot begin again until a lease has passed: the caller
    /// removes it from the store, then calls `Board.forget` with this removal.
    case remove(Removal)
}

/// Names the process that removes a job.
public struct Removal: Hashable, Sendable {
    package let holder: String

    package init(holder: String) { self.holder = holder }
}

extension RedisBoard {
    /// Makes a job in state probing and leases its probe to the caller, or leases a probe that has no holder. Otherwise
    /// the answer says what is there. A job that has ended is made anew, and nothing of the old one is left.
    ///
    /// If this throws, Redis may have given out the probe nevertheless; its lease then lapses.
    ///
    /// - Parameters:
    ///   - job: id, source, bytes that the probe needs, protocol version and weight; the rest is ignored.
    ///   - holder: the process that holds the probe.
    /// - Throws: `.jobContradictory`, or that Redis cannot be reached.
    public func begin(_ job: PublishedJob, holder: WorkerID) throws(ReelFailure) -> Begun {
        try check(job)
        return try call(Command.Begin(job: job.withoutPlan, token: RedisBoard.makeToken(), holder: holder))
    }

    /// The sign of life of a process that waits for a job. The process then counts as waiting for one lease. Nil if
    /// there is no such job.
    ///
    /// - Parameters:
    ///   - waiter: a name that no other process has.
    ///   - claim: the probe, where it holds that: its lease is extended.
    public func attend(_ job: JobID, waiter: String, claim: Claim?) throws(ReelFailure) -> Attendance? {
        try call(Command.Attend(job: job, waiter: waiter, token: claim?.token))
    }

    /// Ends the waiting of a process for a job. A probe that its claim holds is handed back uncharged.
    ///
    /// In any case the last process that leaves a job that failed while probing is told to remove it.
    ///
    /// - Parameters:
    ///   - waiter: the name that `attend` was given.
    ///   - claim: the caller's claim on the probe, if it has one.
    ///   - abandoning: whether the caller has no more use for the job. If the job is still probing, and no other
    ///     process waits for it or probes it, it is cancelled, and the caller is told to remove it.
    public func leave(
        _ job: JobID, waiter: String, claim: Claim?, abandoning: Bool
    ) throws(ReelFailure) -> Departure {
        try call(Command.Leave(job: job, waiter: waiter, token: claim?.token, abandons: abandoning))
    }
}

extension PublishedJob {
    /// The job as it is while probing, without what a plan decides.
    var withoutPlan: PublishedJob {
        var bare = self
        (bare.frames, bare.passCount, bare.encoders, bare.plan, bare.diagnostics) = (0, 0, [], 0, [])
        bare.encodingEffort = 1
        return bare
    }
}
