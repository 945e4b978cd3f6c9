public import ReelCore

/// What beginning a job led to.
public enum Begun: Hashable, Sendable {
    /// The job is there, and the caller holds its probe: make index and plan, then publish.
    case begun(Claim)
    /// Somebody else probes it, or a person holds it back.
    case probing
    /// It has a plan, and runs or is assembled.
    case running
    /// It is being removed: ask again.
    case busy
}

/// A job as one that waits for it sees it.
public struct Attendance: Hashable, Sendable {
    public var state: JobState
    /// The claim that was named still holds the probe.
    public var holds: Bool
    /// Nobody holds the probe, it waits for no retry, and nobody holds the job back: `begin` gets it.
    public var isFree: Bool

    public init(state: JobState, holds: Bool, isFree: Bool) {
        self.state = state
        self.holds = holds
        self.isFree = isFree
    }
}

/// What follows from leaving a job.
public enum Departure: Hashable, Sendable {
    case stays
    /// The job has ended, and nobody else waits for it. Until one lease has passed it cannot begin again: remove it from
    /// the store, then `forget` it with this.
    case remove(Removal)
}

/// Who removes a job.
public struct Removal: Hashable, Sendable {
    package let holder: String

    package init(holder: String) { self.holder = holder }
}

extension RedisBoard {
    /// Makes a job in state probing and leases its probe to the caller, or takes a probe that nobody has; else says what
    /// is there. A job that has ended is made anew, without anything of before.
    ///
    /// When this throws, Redis may have given out the probe all the same; its lease then lapses.
    ///
    /// - Parameter job: id, title, bytes that the probe takes, protocol version and weight are of account.
    /// - Throws: `.usage` where the job contradicts itself, `.unreachable`.
    public func begin(_ job: PublishedJob, holder: WorkerID) throws(ReelFailure) -> Begun {
        try check(job)
        return try call(Command.Begin(job: job.withoutPlan, token: RedisBoard.makeToken(), holder: holder))
    }

    /// A sign of life of one that waits for a job; it counts as waiting for one lease. Nil where there is no such job.
    ///
    /// - Parameters:
    ///   - waiter: a name that no other process has.
    ///   - claim: the probe, where it holds that: its lease is extended.
    public func attend(_ job: JobID, waiter: String, claim: Claim?) throws(ReelFailure) -> Attendance? {
        try call(Command.Attend(job: job, waiter: waiter, token: claim?.token))
    }

    /// One that waited for a job waits no longer. A probe that its claim holds is handed back uncharged.
    ///
    /// - Parameter abandoning: the job is of no use to the caller: one that is still probing, for which nobody else waits
    ///   and which nobody else probes, is cancelled, to be removed. One that failed while probing is removed by the last
    ///   that leaves it in any case.
    public func leave(
        _ job: JobID, waiter: String, claim: Claim?, abandoning: Bool
    ) throws(ReelFailure) -> Departure {
        try call(Command.Leave(job: job, waiter: waiter, token: claim?.token, abandons: abandoning))
    }
}

extension PublishedJob {
    /// The job as it is while it is probed.
    var withoutPlan: PublishedJob {
        var bare = self
        (bare.frames, bare.passCount, bare.encoders, bare.plan, bare.diagnostics) = (0, 0, [], 0, [])
        bare.encodingEffort = 1
        return bare
    }
}
