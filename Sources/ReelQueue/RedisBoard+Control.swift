package import ReelCore

extension RedisBoard {
    /// Ends a job that has not ended. Workers that hold its passes learn of that at their next beat. False if there is
    /// no such job or it has ended.
    package func cancel(_ job: JobID) throws(ReelFailure) -> Bool { try call(Command.Cancel(job: job)) }

    /// Pauses a job: none of its passes is given out, and passes that are held are worked on to their end. Returns the
    /// job's state, nil if there is no such job; a job that has ended does not change.
    package func pause(_ job: JobID) throws(ReelFailure) -> JobState? {
        try call(Command.Pause(job: job, pauses: true))
    }

    /// Resumes a paused job. Returns the same as `pause`.
    package func resume(_ job: JobID) throws(ReelFailure) -> JobState? {
        try call(Command.Pause(job: job, pauses: false))
    }

    /// Gives a job another weight. Returns the job's state, nil if there is no such job; a job that has ended does not
    /// change. Throws `.jobContradictory` for a weight that is not above 0.
    package func weigh(_ job: JobID, _ weight: Double) throws(ReelFailure) -> JobState? {
        try check(weight, of: job)
        return try call(Command.Weigh(job: job, weight: weight))
    }

    /// Records what a submitter says of a job, as text that the board does not read. False if there is no such job.
    @discardableResult
    package func describe(_ job: JobID, _ submission: String) throws(ReelFailure) -> Bool {
        try call(Command.Describe(job: job, submission: submission))
    }

    /// Runs a failed job again. Finished passes stay finished, and a job that failed while probing is probing again.
    /// Returns the state that the job was in, which is `.failed` if it runs again; nil if there is no such job or it is
    /// being removed.
    package func retry(_ job: JobID) throws(ReelFailure) -> JobState? { try call(Command.Retry(job: job)) }

    /// Removes every key of an ended job. Does nothing if there is no such job; throws `.jobNotEnded` if it has not
    /// ended.
    ///
    /// - Parameter removal: what `leave` answered; where another removes the job by now, or it began again, nothing
    ///   happens then.
    package func forget(_ job: JobID, removal: Removal?) throws(ReelFailure) {
        guard let state = try call(Command.Forget(job: job, removal: removal)) else { return }
        throw ReelFailure(.jobNotEnded(job: job, state: state))
    }
}
