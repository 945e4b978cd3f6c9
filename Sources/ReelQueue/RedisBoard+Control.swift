public import ReelCore

extension RedisBoard {
    /// Ends a job that has not ended; who works at it learns so at its next beat. False where there is no such job or
    /// it has ended.
    public func cancel(_ job: JobID) throws(ReelFailure) -> Bool { try call(Command.Cancel(job: job)) }

    /// Holds a job back: nothing more of it is given out, what is held goes on. Gives the state that it is in, nil where
    /// there is no such job; one that has ended does not change.
    public func pause(_ job: JobID) throws(ReelFailure) -> JobState? {
        try call(Command.Pause(job: job, pauses: true))
    }

    /// Lets a paused job go on; answers like `pause`.
    public func resume(_ job: JobID) throws(ReelFailure) -> JobState? {
        try call(Command.Pause(job: job, pauses: false))
    }

    /// Has a failed job run again; what is finished stays so, and one that failed while probing probes again. Gives the
    /// state it was in, which is `.failed` where it runs again, nil where there is no such job or it is being removed.
    public func retry(_ job: JobID) throws(ReelFailure) -> JobState? { try call(Command.Retry(job: job)) }

    /// Removes every key of an ended job. Throws `.usage` for one that has not ended; one that is not there is fine.
    ///
    /// - Parameter removal: what `leave` answered; where another removes the job by now, or it began again, nothing
    ///   happens then.
    public func forget(_ job: JobID, removal: Removal?) throws(ReelFailure) {
        guard let state = try call(Command.Forget(job: job, removal: removal)) else { return }
        throw ReelFailure(.jobNotEnded(job: job, state: state))
    }
}
