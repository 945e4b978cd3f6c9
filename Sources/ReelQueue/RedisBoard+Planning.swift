package import ReelCore

extension RedisBoard {
    /// Makes a job in state probing and leases its planning to the caller, or leases planning that has no holder. Otherwise
    /// the answer says what is there. A job that has ended is made anew, and nothing of the old one is left.
    ///
    /// If this throws, Redis may have given out the planning nevertheless; its lease then lapses.
    ///
    /// - Parameters:
    ///   - job: id, source, bytes that the planning needs, protocol version and weight; the rest is ignored.
    ///   - holder: the process that holds the planning.
    /// - Throws: `.jobContradictory`, or that Redis cannot be reached.
    package func begin(_ job: BoardJob, holder: WorkerID) throws(ReelFailure) -> Begun {
        try check(job)
        return try call(Command.Begin(job: job.withoutPlan, token: RedisBoard.makeToken(), holder: holder))
    }

    /// The sign of life of a process that waits for a job. The process then counts as waiting for one lease. Nil if
    /// there is no such job.
    ///
    /// - Parameters:
    ///   - waiter: a name that no other process has.
    ///   - claim: the planning, where it holds that: its lease is extended.
    package func attend(_ job: JobID, waiter: String, claim: Claim?) throws(ReelFailure) -> Attendance? {
        try call(Command.Attend(job: job, waiter: waiter, token: claim?.token))
    }

    /// Ends the waiting of a process for a job. Planning that its claim holds is handed back uncharged.
    ///
    /// In any case the last process that leaves a job that failed while probing is told to remove it.
    ///
    /// - Parameters:
    ///   - waiter: the name that `attend` was given.
    ///   - claim: the caller's claim on the planning, if it has one.
    ///   - abandoning: whether the caller has no more use for the job. If the job is still probing, and no other
    ///     process waits for it or plans it, it is cancelled, and the caller is told to remove it.
    package func leave(
        _ job: JobID, waiter: String, claim: Claim?, abandoning: Bool
    ) throws(ReelFailure) -> Departure {
        try call(Command.Leave(job: job, waiter: waiter, token: claim?.token, abandons: abandoning))
    }
}

extension BoardJob {
    /// The job as it is while probing, without what a plan decides.
    var withoutPlan: BoardJob {
        var bare = self
        (bare.frames, bare.passCount, bare.encoders, bare.plan, bare.diagnostics) = (0, 0, [], 0, [])
        bare.encodingEffort = 1
        return bare
    }
}
