internal import Foundation
internal import ReelCore
internal import ReelQueue
internal import ReelStore

/// A process that submits a job, from its first look at the board until the job has a plan or is refused.
///
/// A job is known by what was asked for, before its source is read: it is on the board in state `probing` until it has
/// a plan. The submitter that begins it holds its planning by a lease, and plans as long as it lives. Others that
/// submit the same job meanwhile wait for the same end, good or bad.
struct Submitter: Sendable {
    let planning: Planning
    let admission: JobAdmission

    private var board: any Board { admission.board }
    private var wanted: JobRecord { admission.wanted }
    private var id: JobID { wanted.id }
    private var name: WorkerID { admission.name }
    private var entry: any JobEntry { planning.store.job(id) }

    /// Returns when the job's passes are on the board, or the store has its result.
    ///
    /// - Parameter known: hears of the job's state as soon as the board or the store knows the job.
    func submit(
        known: (JobState) -> Void = { _ in }
    ) async throws(ReelFailure) -> (job: StoredJob, outcome: SubmittedJob.Outcome) {
        switch try await admission.admit(known: known) {
        case .finished(let job):
            try await admission.describe()
            return (job, .finished)
        case .running(let job):
            try await admission.describe()
            return (job, .attached)
        case .unplanned(let claim): return try await waitForPlan(claim)
        }
    }

    // MARK: Waiting

    /// Plans as long as this submitter holds the planning, else waits until another process has made the plan.
    private func waitForPlan(
        _ claim: Claim?
    ) async throws(ReelFailure) -> (job: StoredJob, outcome: SubmittedJob.Outcome) {
        var claim = claim
        do throws(ReelFailure) {
            try await attend(claim)
            try await admission.describe(claim)
            while true {
                if let held = claim, let job = try await plan(held) {
                    await leave(nil, abandoning: false)
                    return (job, job.hadPlan ? .continued : .published)
                }
                claim = nil
                switch try await waitForOthers() {
                case .planned(let job):
                    await leave(nil, abandoning: false)
                    return (job, .attached)
                case .free(let taken): claim = taken
                }
            }
        } catch {
            await leave(claim, abandoning: error.kind != .interrupted)
            throw error
        }
    }

    /// How another process's planning ended.
    private enum OtherPlanning: Sendable {
        case planned(StoredJob)
        /// Its holder let go of it: this submitter holds it now.
        case free(Claim)
    }

    private func waitForOthers() async throws(ReelFailure) -> OtherPlanning {
        while true {
            if let end = try await endOfOtherPlanning() { return end }
            try await pause(.milliseconds(250))
        }
    }

    /// Nil while another process holds the planning. Throws what refused the job.
    private func endOfOtherPlanning() async throws(ReelFailure) -> OtherPlanning? {
        guard let status = try await board.status(id) else { throw ReelFailure(.jobForgotten(job: id)) }
        switch status.state {
        case .probing: break
        case .failed where status.isRefused: throw status.failure ?? ReelFailure(.jobForgotten(job: id))
        case .cancelled: throw ReelFailure(.jobCancelled(job: id))
        case .running, .assembling, .done, .failed:
            return await .planned(try StoredJob(entry, plan: status.job.plan))
        }
        // If no worker is left to do it, the submitter requeues what vanished processes held.
        _ = try await board.reap()
        guard try await attend(nil), case .begun(let claim) = try await board.begin(wanted.beginning, holder: name)
        else { return nil }
        return .free(claim)
    }

    /// Tells the board that this submitter still waits. Returns whether the planning is free to be taken; throws
    /// `.probeLost` if the claim given does not hold it any more.
    @discardableResult
    private func attend(_ claim: Claim?) async throws(ReelFailure) -> Bool {
        let attendance = try await board.attend(id, waiter: name.text, claim: claim)
        guard claim == nil || attendance?.holds == true else { throw ReelFailure(.probeLost(job: id)) }
        return attendance?.isFree ?? false
    }

    // MARK: Planning

    /// Makes a plan and publishes it. Nil if another process holds the planning by now, or if the source or the request
    /// was refused: `waitForOthers` then learns of it, as every other submitter does.
    private func plan(_ claim: Claim) async throws(ReelFailure) -> StoredJob? {
        do {
            return try await withThrowingTaskGroup(of: StoredJob?.self) { group in
                group.addTask { try await PlanningAttempt(planning: planning, board: board, claim: claim).run() }
                group.addTask {
                    while true {
                        try await Task.sleep(for: BoardTiming().reap)
                        try await attend(claim)
                    }
                }
                defer { group.cancelAll() }
                return try await group.next() ?? nil
            }
        } catch {
            let failure = ReelFailure.of(error)
            if case .probeLost = failure.reason { return nil }
            // A failure of this host says nothing of the job; nor does an engine's, if the job was worked at before.
            let hasWork = await entry.hasFinishedSegments
            guard ![.host, .passing].contains(failure.owner), failure.owner != .worker || !hasWork else {
                throw failure
            }
            // A second attempt here would end as this one did, and a user waits for the answer.
            _ = try await board.fail(claim, worker: name, failure: failure, as: .permanent, recordingIn: entry)
            return nil
        }
    }

    // MARK: Leaving

    /// Stops waiting. If this was the last submitter that waited for a job that was refused, or for one that no worker
    /// has planned, the job is removed; else it goes on. A job with finished segments stays in any case.
    private func leave(_ claim: Claim?, abandoning: Bool) async {
        // In a task of its own, since it must not be cancelled with this one. What fails here is made up for when the
        // leases lapse.
        await Task {
            let hasWork = await entry.hasFinishedSegments
            guard
                let departure = try? await board.leave(
                    id, waiter: name.text, claim: claim, abandoning: abandoning && !hasWork),
                case .remove(let removal) = departure, !hasWork
            else { return }
            try? await JobControl(board: board, store: planning.store).discard(id, removal)
        }.value
    }

    private func pause(_ duration: Duration) async throws(ReelFailure) {
        do { try await Task.sleep(for: duration) } catch { throw .of(error) }
    }
}
