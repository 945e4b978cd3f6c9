public import ReelCore

extension Board {
    /// Ends a job that has not ended; who works at it learns so at its next beat. False where there is no such job or
    /// it has ended.
    public func cancel(_ job: JobID) throws(ReelFailure) -> Bool {
        try run(.cancel, [job.text, String(timing.retention.milliseconds)]) == .integer(1)
    }

    /// Holds a job back: nothing more of it is given out, what is held goes on. Gives the state that it is in, nil where
    /// there is no such job; one that has ended does not change.
    public func pause(_ job: JobID) throws(ReelFailure) -> JobState? { try setPaused(job, "1") }

    /// Lets a paused job go on; answers like `pause`.
    public func resume(_ job: JobID) throws(ReelFailure) -> JobState? { try setPaused(job, "0") }

    private func setPaused(_ job: JobID, _ flag: String) throws(ReelFailure) -> JobState? {
        let reply = try run(.pause, [job.text, flag, String(timing.retention.milliseconds)])
        if reply == .none { return nil }
        guard let state = try JobState(rawValue: text(reply)) else { throw surprise(reply) }
        return state
    }

    /// Has a failed job run again; what is finished stays so, and one that failed while probing probes again. Gives the
    /// state it was in, which is `.failed` where it runs again, nil where there is no such job or it is being removed.
    public func retry(_ job: JobID) throws(ReelFailure) -> JobState? {
        let reply = try run(.retry, [job.text, String(timing.retention.milliseconds)])
        if reply == .none { return nil }
        let answer = try text(reply)
        if answer == "ok" { return .failed }
        guard let state = JobState(rawValue: answer) else { throw surprise(reply) }
        return state
    }

    /// Removes every key of an ended job. Throws `.usage` for one that has not ended; one that is not there is fine.
    ///
    /// - Parameter removal: what `leave` answered; where another removes the job by now, or it began again, nothing
    ///   happens then.
    public func forget(_ job: JobID, removal: Removal? = nil) throws(ReelFailure) {
        let answer = try text(run(.forget, [job.text, removal?.holder ?? ""]))
        guard answer != "ok" else { return }
        guard let state = JobState(rawValue: answer) else { throw surprise(.string(answer)) }
        throw ReelFailure(.jobNotEnded(job: job, state: state))
    }
}
