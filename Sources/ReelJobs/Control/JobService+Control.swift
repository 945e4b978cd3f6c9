internal import Foundation
package import ReelCore
package import ReelQueue
package import ReelStore

/// Changes of jobs, in store and board. The board decides how a job ends, and the store is told after that. Any other
/// change goes to the store first: a board that is rebuilt from it keeps paused jobs paused and runs retried jobs.
///
/// Each call throws `.jobUnknown` if there is no such job, `.usage` if its state does not allow the change, and
/// `.unreachable`.
extension JobService {
    package enum ControlOutcome: Hashable, Sendable {
        case cancelled
        /// Cancelling changed nothing: the job had ended before, in this state.
        case hadEnded(JobState)
        case paused, resumed, retried, removed
        case weighed(Double)
    }

    package enum RecoverOutcome: Hashable, Sendable {
        /// It is on the board again, with this many passes finished.
        case recovered(passesDone: Int)
        case known
        /// The store lacks a part of the job, and the reason.
        case lost(ReelFailure)
    }

    /// Ends a job. Its workers learn of it with their next beat, and stop.
    package func cancel(_ id: JobID) async throws(ReelFailure) -> ControlOutcome {
        let entry = try entry(id)
        if let ended = try await state(of: entry), ended.isTerminal { return .hadEnded(ended) }
        if try await board.cancel(id) {
            try await settle(entry)
        } else if let ended = try await board.state(of: id) {
            try await settle(entry)
            return .hadEnded(ended)
        } else {
            let now = await board.endOfNow()
            try await record(entry) { record in
                if record.state == nil { record.end(.cancelled, at: now) }
            }
        }
        // Else a worker removes them.
        try? await entry.giveBackParts()
        return .cancelled
    }

    /// Writes the job's end into its record. A record that cannot be read revives no job, so it may stay as it is.
    private func settle(_ entry: any JobEntry) async throws(ReelFailure) {
        guard await entry.exists else { return }
        do throws(ReelFailure) {
            try await entry.settle(on: board)
        } catch {
            // Another process may be removing the job.
            if case .jobUnknownHere = error.reason { return }
            guard error.isOfRecord else { throw error }
        }
    }

    /// Pauses a job: none of its passes is claimed any more; passes that workers hold are finished. Throws `.jobEnded`
    /// if the job has ended, and `.jobNotOnBoard` if only the store has it.
    package func pause(_ id: JobID) async throws(ReelFailure) -> ControlOutcome { try await setPaused(id, true) }

    /// Lets a paused job go on. Throws as `pause` does.
    package func resume(_ id: JobID) async throws(ReelFailure) -> ControlOutcome { try await setPaused(id, false) }

    private func setPaused(_ id: JobID, _ paused: Bool) async throws(ReelFailure) -> ControlOutcome {
        let entry = try await runningEntry(id)
        try await record(entry) { $0.paused = paused }
        let found = paused ? try await board.pause(id) : try await board.resume(id)
        if let found, found.isTerminal { throw ReelFailure(.jobEnded(job: id, state: found)) }
        return paused ? .paused : .resumed
    }

    /// The place of a job that runs. Throws `.jobEnded` or `.jobNotOnBoard`.
    private func runningEntry(_ id: JobID) async throws(ReelFailure) -> any JobEntry {
        let entry = try entry(id)
        if let state = try await state(of: entry), state.isTerminal {
            throw ReelFailure(.jobEnded(job: id, state: state))
        }
        guard try await board.state(of: id) != nil else { throw ReelFailure(.jobNotOnBoard(job: id)) }
        return entry
    }

    /// Gives a job that has not ended another weight, from the next claim on. Throws as `pause` does.
    package func weigh(_ id: JobID, _ weight: Double) async throws(ReelFailure) -> ControlOutcome {
        let entry = try await runningEntry(id)
        try await record(entry) { $0.terms.weight = weight }
        try await tell(weight, of: entry)
        return .weighed(weight)
    }

    /// Tells the board a job's weight. Other processes may weigh the job at the same time: this returns when the board has
    /// the weight of the record.
    private func tell(_ weight: Double, of entry: any JobEntry) async throws(ReelFailure) {
        let id = entry.id
        var (told, wanted): (Double?, Double) = (nil, weight)
        while wanted != told {
            if let ended = try await board.weigh(id, wanted), ended.isTerminal {
                // It has ended meanwhile, with the weight that the board has.
                if let kept = try await board.status(id)?.job.weight {
                    try await record(entry) { $0.terms.weight = kept }
                }
                guard told != nil else { throw ReelFailure(.jobEnded(job: id, state: ended)) }
                break
            }
            told = wanted
            if let record = try? await entry.read() { wanted = record.terms.weight }
        }
    }

    /// Says otherwise how a job is called. Throws `.jobNotOnBoard` if only the store has it.
    ///
    /// - Parameters:
    ///   - name: keeps the rule of `Submission.isText`; nil leaves the name as it is, `.some(nil)` removes it.
    ///   - labels: keep the rules of `Submission`, and replace all labels; nil leaves them as they are.
    package func describe(
        _ id: JobID, name: String?? = nil, labels: [String: String]? = nil
    ) async throws(ReelFailure) {
        let entry = try entry(id)
        guard let status = try await board.status(id) else {
            guard await entry.exists else { throw ReelFailure(.jobUnknown(job: id)) }
            throw ReelFailure(.jobNotOnBoard(job: id))
        }
        func changed(_ earlier: Submission?) -> Submission {
            var submission = earlier ?? status.said ?? Submission()
            if let name { submission.name = name }
            if let labels { submission.labels = labels }
            return submission
        }
        if await entry.exists {
            try await unlessRemoved(id) { () async throws(ReelFailure) in
                try await entry.describe(on: board) { $0 = changed($0) }
            }
        } else {
            try await board.describe(id, try changed(nil).text)
        }
    }

    /// Runs a failed job again; passes whose segments are whole stay finished. Throws `.jobNotFailed`.
    package func retry(_ id: JobID) async throws(ReelFailure) -> ControlOutcome {
        let entry = try entry(id)
        let state = try await state(of: entry)
        guard state == .failed else { throw ReelFailure(.jobNotFailed(job: id, state: state)) }
        var run = try await reopen(entry)
        try await takeBackLost(entry)
        while try await board.retry(id, run: run) == nil {
            // The board has forgotten the job, or a process is removing it. That process has read the record, and
            // removes nothing if the record changes now. If it was faster, there is no job to reopen.
            run = try await reopen(entry)
            switch try await recover(id) {
            case .lost(let why): throw why
            case .recovered: break
            case .known: do { try await Task.sleep(for: .milliseconds(100)) } catch { throw .of(error) }
            }
        }
        // A process that had just learned of the failure may write it still: reopening again makes its change fail. An
        // end of the new run stays: if all passes are finished, the job may be done by now.
        try await record(entry) { record in
            if record.state == nil || record.state == .failed { record.reopen() }
        }
        try await settle(entry)
        return .retried
    }

    /// Has the record say that the job runs again, and returns the number of the run. Throws as `unlessRemoved` does.
    private func reopen(_ entry: any JobEntry) async throws(ReelFailure) -> Int {
        try await unlessRemoved(entry.id) { () async throws(ReelFailure) in
            try await entry.change { record in
                record.runAgain()
                record.paused = false
            }
        }.run
    }

    /// Runs work on a job that another process may be removing. Throws `.jobUnknown` if neither store nor board have the
    /// job any more, and `.jobUnknownHere` if only the store has lost it.
    @discardableResult
    private func unlessRemoved<Answer: Sendable>(
        _ id: JobID, _ work: () async throws(ReelFailure) -> Answer
    ) async throws(ReelFailure) -> Answer {
        do throws(ReelFailure) { return try await work() } catch {
            guard case .jobUnknownHere = error.reason, try await board.state(of: id) == nil else { throw error }
            throw ReelFailure(.jobUnknown(job: id))
        }
    }

    /// Takes back results on the board whose segments are no longer whole in the store, so that they are made again.
    private func takeBackLost(_ entry: any JobEntry) async throws(ReelFailure) {
        guard await entry.exists, let status = try await board.status(entry.id) else { return }
        var lost: [Int: RecordedResult] = [:]
        for (index, recorded) in try await board.recordedResults(entry.id) where index < status.job.passCount {
            if await !entry.areWhole(recorded.result.segments) { lost[index] = recorded }
        }
        guard
            let (pass, name) = lost.lazy.compactMap({ pass, recorded in
                recorded.result.segments.first.map { (pass, $0.name.text) }
            }).first
        else { return }
        try await board.invalidate(
            entry.id, passes: lost.map { ($0.key, $0.value.token) }, plan: status.job.plan, by: WorkerID("retry"),
            reason: ReelFailure(.segmentMissing(segment: name, pass: pass)))
    }

    /// Removes an ended job and all that the store has of it, its result too. Throws `.jobNotEnded`.
    package func remove(_ id: JobID) async throws(ReelFailure) -> ControlOutcome {
        let entry = try entry(id)
        let state = try await state(of: entry) ?? .running
        guard state.isTerminal else { throw ReelFailure(.jobNotEnded(job: id, state: state)) }
        try await board.waitUntilLetGo(id)
        // So the job does not come back if this process dies midway. On a full disk it can still be removed.
        try? await settle(entry)
        let isRemoved = try await unlessRemoved(id) { () async throws(ReelFailure) in
            try await removeEnded(id, try? await entry.read())
        }
        guard isRemoved else { throw ReelFailure(.jobNotEnded(job: id, state: .running)) }
        return .removed
    }

    /// Removes an ended job that no worker works at. If it has been started again since, the board refuses with
    /// `.jobNotEnded`, or the record has changed and the answer is false. The board forgets it before the store does.
    ///
    /// - Parameter record: read before this call; nil if it cannot be read.
    package func removeEnded(_ id: JobID, _ record: JobRecord?) async throws(ReelFailure) -> Bool {
        let entry = try entry(id)
        try await board.forget(id)
        if let record {
            guard try await entry.remove(ifStill: record) else { return false }
        } else if await entry.exists {
            try await entry.remove()
        }
        return true
    }

    /// Removes a job that was refused or abandoned before it was planned. The store forgets it first: while the board
    /// knows it, no process begins it anew. Its source's index stays until `removeUnusedSources`.
    func discard(_ id: JobID, _ removal: Removal) async throws(ReelFailure) {
        let entry = try entry(id)
        if await entry.exists { try await entry.remove() }
        try await board.forget(id, removal: removal)
    }

    /// Removes a job and all that the store has of it, whatever its state.
    func withdraw(_ id: JobID) async throws(ReelFailure) {
        // If this process dies below, the job is cancelled. On a full disk it can still be removed.
        let (store, now) = (try requiredStore(), await board.endOfNow())
        let entry = store.job(id)
        try? await record(entry) { record in
            if record.state == nil { record.end(.cancelled, at: now) }
        }
        try await board.withdraw(id)
        guard await entry.exists else { return }
        try await entry.remove()
        await store.removeUnusedSources()
    }

    /// Puts an unfinished job back on a board that has lost it. Passes with whole segments are finished there; a paused
    /// job stays paused. A job without a plan is planned again, and an ended job stays ended.
    package func recover(_ id: JobID) async throws(ReelFailure) -> RecoverOutcome {
        let store = try requiredStore()
        let entry = store.job(id)
        if let status = try await board.status(id), !status.state.isTerminal { return .known }
        let record: JobRecord
        do {
            record = try await entry.read()
        } catch {
            return .lost(error)
        }
        guard
            case .begun(let claim) = try await board.begin(record, as: WorkerID("recover-\(UUID().uuidString)"))
        else { return .known }
        do throws(ReelFailure) {
            try await entry.describe(on: board)
            try await board.hook(record)
            let job = try await StoredJob(entry)
            let finished = try await job.finished(in: job.indexes(in: store))
            try await job.publish(on: board, claim, finished)
            return .recovered(passesDone: finished.count)
        } catch {
            switch error.reason {
            case .probeLost, .jobCancelled: return .known
            default: break
            }
            guard error.kind != .unreachable || error.cause != .transient else { throw error }
            // It has no plan that this release can use: a worker makes one.
            if record.paused { _ = try await board.pause(id) }
            try await board.release(claim)
            return .recovered(passesDone: 0)
        }
    }

    /// Tells the board what only the store knows of a job: Redis may have lost its last second, or a process died
    /// between its two changes. A job that began again after an end which the board takes for the last one goes on; if
    /// that run has ended, too, the board forgets the job, and the store alone has its end.
    ///
    /// - Returns: what became of a job that goes on; nil for any other.
    package func remind(_ id: JobID) async throws(ReelFailure) -> RecoverOutcome? {
        let entry = try entry(id)
        let record = try await entry.read()
        guard let status = try await board.status(id) else { return nil }
        if record.isAhead(of: status) {
            if record.state == nil { return try await recover(id) }
            try await board.forget(id)
            return nil
        }
        if let said = record.submission, said != status.said { try await entry.describe(on: board) }
        if !status.state.isTerminal, status.job.weight != record.terms.weight {
            try await tell(record.terms.weight, of: entry)
        }
        return nil
    }

    /// The job's state on the board, else in the store; nil if the store has the job, unfinished, and the board has
    /// not. A job whose record cannot be read counts as failed.
    private func state(of entry: any JobEntry) async throws(ReelFailure) -> JobState? {
        if let state = try await board.state(of: entry.id) { return state }
        guard await entry.exists else { throw ReelFailure(.jobUnknown(job: entry.id)) }
        do throws(ReelFailure) {
            return try await unlessRemoved(entry.id) { () async throws(ReelFailure) in try await entry.read().state }
        } catch {
            guard error.isOfRecord else { throw error }
            return .failed
        }
    }

    private func entry(_ id: JobID) throws(ReelFailure) -> any JobEntry { try requiredStore().job(id) }

    private func record(_ entry: any JobEntry, _ change: (inout JobRecord) -> Void) async throws(ReelFailure) {
        guard await entry.exists else { return }
        try await unlessRemoved(entry.id) { () async throws(ReelFailure) in
            try await entry.change { record throws(ReelFailure) in change(&record) }
        }
    }

    /// Checks the jobs on the board that have not ended, and repairs them.
    package func audit() async throws(ReelFailure) -> Audit { try await board.audit() }

    /// Puts jobs that have not ended back on a board that has lost them. Returns every such job with its outcome. Doing
    /// it again, or while workers work, is harmless.
    package func recover() async throws(ReelFailure) -> [(job: JobID, outcome: RecoverOutcome)] {
        var outcomes: [(JobID, RecoverOutcome)] = []
        for id in try await requiredStore().unfinishedJobs() { outcomes.append((id, try await recover(id))) }
        return outcomes
    }
}

extension ReelFailure {
    /// Whether a job's record exists and cannot be read.
    fileprivate var isOfRecord: Bool {
        switch reason {
        case .storeFileDamaged, .storeFileForeign: true
        default: false
        }
    }
}

extension Board {
    /// Takes a job off the board. Waits until its workers have stopped, so that what they still write does not get
    /// among the files of a job that is submitted anew.
    func withdraw(_ job: JobID) async throws(ReelFailure) {
        guard try await state(of: job) != nil else { return }
        _ = try await cancel(job)
        // A task of its own: a submitter that is interrupted by now must still take the cancelled job off the board.
        _ = try? await Task { try await waitUntilLetGo(job) }.value
        try await forget(job)
    }

    /// Waits until no worker works on an ended job any more, no longer than any lease lasts: what a worker still writes
    /// must not get among the files of a job that is submitted anew.
    func waitUntilLetGo(_ job: JobID) async throws(ReelFailure) {
        let deadline = ContinuousClock.now + BoardTiming().lease + .seconds(5)
        // If the board cannot tell which workers hold the job's passes, there is nothing to wait for.
        while let live = try? await live(job), !live.isEmpty, ContinuousClock.now < deadline {
            guard (try? await Task.sleep(for: .milliseconds(200))) != nil else { throw .of(CancellationError()) }
        }
    }
}
