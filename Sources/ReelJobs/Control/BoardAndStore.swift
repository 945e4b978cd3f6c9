package import ReelCore
package import ReelQueue
package import ReelStore

extension JobStore {
    /// Makes sure that board and store belong together. A board that belongs to no store takes this one.
    ///
    /// Throws `.storeDiffers` if the board belongs to another store, `.storeEmpty` if it belongs to one and this place
    /// is empty, and `.storeMissing` if neither has an identity: a file system may not be mounted there.
    package func join(_ board: any Board) async throws(ReelFailure) {
        let own = try await identity()
        let known = try await board.store(expecting: own)
        switch (own, known) {
        case (let own?, let known?):
            guard own == known else { throw ReelFailure(.storeDiffers(path: name, store: own, board: known)) }
        case (nil, let known?):
            // Another process may have made a store of the place meanwhile.
            guard try await identity() == known else { throw ReelFailure(.storeEmpty(path: name, board: known)) }
        case (_, nil):
            guard try await identity() != nil else { throw ReelFailure(.storeMissing(path: name)) }
            try await join(board)
        }
    }

    /// Jobs whose records can be read and name no end.
    package func unfinishedJobs() async throws(ReelFailure) -> [JobID] {
        var unfinished: [JobID] = []
        for id in try await jobs() {
            if let record = try? await job(id).read(), record.state == nil { unfinished.append(id) }
        }
        return unfinished
    }
}

extension JobEntry {
    /// Writes a verified output and the job's end into the record, in one change, before the board is told. If the
    /// board answers that the job has ended otherwise, `settle` takes the end back.
    ///
    /// - Parameter now: in seconds since 1970, by the board's clock if there is a board.
    package func recordDone(_ output: JobResult, at now: Double) async throws(ReelFailure) {
        try await change { record throws(ReelFailure) in
            record.result = output
            if record.state == nil { record.end(.done, at: now) }
        }
    }

    /// Writes into the record how the job ended on the board, which alone decides between an end and a cancellation at
    /// the same time. Programs that end a job call this; workers repeat it for records of killed programs. A board that
    /// has forgotten the record's run tells an earlier end, which does not count.
    package func settle(on board: any Board) async throws(ReelFailure) {
        try await change { record throws(ReelFailure) in
            guard let state = try await board.state(of: id), state.isTerminal, state != record.state,
                let status = try await board.status(id), status.state == state, !record.isAhead(of: status)
            else { return }
            let now = await board.endOfNow()
            record.end(state, status.failure, at: now)
        }
    }

    /// Changes the job's name and labels in its record, then on the board. Other processes may do so at the same time;
    /// this returns when the board has the name and labels of the record.
    func describe(on board: any Board, _ edit: (inout Submission?) -> Void = { _ in }) async throws(ReelFailure) {
        var told: Submission?
        var said = try await change { record throws(ReelFailure) in edit(&record.submission) }.submission
        while let next = said, next != told {
            try await board.describe(id, try next.text)
            told = next
            said = try await read().submission
        }
    }
}

extension JobRecord {
    /// Whether the end on the board is that of an earlier run: the board has not heard yet that the job began again, or has
    /// forgotten it.
    func isAhead(of status: JobStatus) -> Bool { status.state.isTerminal && (status.job.run ?? 0) < run }
}

extension Board {
    /// Gives back a pass that could not be done. If the job has failed with that, its record says so, too.
    ///
    /// - Parameters:
    ///   - cause: replaces the failure's own; nil keeps it.
    ///   - entry: the job's place in the store. If its record cannot be written, the board still knows the end.
    package func fail(
        _ claim: Claim, worker: WorkerID, failure: ReelFailure, as cause: FailureCause? = nil,
        recordingIn entry: any JobEntry
    ) async throws(ReelFailure) -> FailAnswer {
        let answer = try await fail(claim, worker: worker, failure: failure, as: cause)
        if answer == .jobFailed { try? await entry.settle(on: self) }
        return answer
    }

    /// Repeats a call as long as Redis cannot be reached, for a minute. Throws what the call throws.
    package func patiently<Answer: Sendable>(
        _ call: () async throws(ReelFailure) -> Answer
    ) async throws(ReelFailure) -> Answer {
        let deadline = ContinuousClock.now + .seconds(60)
        while true {
            do throws(ReelFailure) {
                return try await call()
            } catch {
                guard error.kind == .unreachable, error.cause == .transient, ContinuousClock.now < deadline else {
                    throw error
                }
                do { try await Task.sleep(for: .milliseconds(250)) } catch { throw .of(error) }
            }
        }
    }
}
