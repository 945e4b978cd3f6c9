package import ReelCore
package import ReelQueue
package import ReelStore

extension JobEntry {
    /// Writes how a job ended into its record, before the board or a user relies on it. An end that is recorded already is
    /// kept. If the record cannot be written, the board still knows the end.
    ///
    /// - Parameter board: its clock says when that was.
    package func recordEnd(_ state: JobState, _ failure: ReelFailure?, on board: any Board) async {
        let now = await board.endOfNow()
        guard var record = try? await read(), record.state == nil else { return }
        record.state = state
        record.failure = failure
        record.finished = now
        try? await write(record)
    }
}

extension Board {
    /// Gives back a pass that could not be done. If the job has failed with that, its record says so, too.
    ///
    /// - Parameters:
    ///   - cause: replaces the failure's own; nil keeps it.
    ///   - entry: the job's place in the store.
    package func fail(
        _ claim: Claim, worker: WorkerID, failure: ReelFailure, as cause: FailureCause? = nil,
        recordingIn entry: any JobEntry
    ) async throws(ReelFailure) -> FailAnswer {
        let answer = try await fail(claim, worker: worker, failure: failure, as: cause)
        if answer == .jobFailed { await entry.recordEnd(.failed, failure, on: self) }
        return answer
    }
}
