internal import Foundation
internal import ReelCore
internal import ReelQueue
internal import ReelStore

/// A process that submits a job, from its first look at the board until the job has a plan or is refused.
///
/// A job is known by its request, before its source is read: it is on the board as `probing` until it has a plan. The
/// submitter that begins it holds its planning by a lease. Others that submit the same job wait for the same end.
struct Submitter: Sendable {
    let planning: Planning
    let admission: JobAdmission

    private var board: any Board { admission.board }
    private var wanted: JobRecord { admission.wanted }
    private var id: JobID { wanted.id }
    private var name: WorkerID { admission.name }
    private var entry: any JobEntry { planning.store.job(id) }

    /// Returns when the job's passes are on the board, or the store has its result.
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

    private enum OtherPlanning: Sendable {
        case planned(StoredJob)
        /// Its holder let go of it: this submitter holds it now.
        case free(Claim)
    }

    private func waitForOthers() async throws(ReelFailure) -> OtherPlanning {
        while true {
            if let end = try await endOfOtherPlanning() { return end }
            try await ReelFailure.unifying { try await Task.sleep(for: .milliseconds(250)) }
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
        guard try await attend(nil), case .begun(let claim) = try await board.begin(entry.read(), as: name)
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
                group.addTask { try await planning.plan(claim, on: board).job }
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
        // A task of its own, because this one may be cancelled. Leases that lapse make up for what fails here.
        await Task {
            let hasWork = await entry.hasFinishedSegments
            guard
                let departure = try? await board.leave(
                    id, waiter: name.text, claim: claim, abandoning: abandoning && !hasWork),
                case .remove(let removal) = departure, !hasWork
            else { return }
            try? await JobService(store: planning.store, board: { board }).discard(id, removal)
        }.value
    }
}

/// Puts a job into the store and onto the board, unless they have it.
struct JobAdmission: Sendable {
    let board: any Board
    let store: any JobStore
    let wanted: JobRecord
    /// Unlike the name of any other submitter.
    let name: WorkerID = {
        let process = ProcessInfo.processInfo
        let random = String(UInt32.random(in: .min ... .max), radix: 16)
        return WorkerID("\(process.hostName)-\(process.processIdentifier)-\(random)")
    }()

    private var id: JobID { wanted.id }
    private var entry: any JobEntry { store.job(id) }

    /// The state in which a submitter finds its job.
    enum Found: Sendable {
        case finished(StoredJob)
        case running(StoredJob)
        /// It has no plan yet. With a claim, this submitter is to make one.
        case unplanned(Claim?)
    }

    /// Returns as soon as board or store know the job.
    ///
    /// - Parameters:
    ///   - created: hears whether this call has written the job's record, when that says that the job has not ended.
    ///   - known: hears of the job's state as soon as it is known.
    func admit(
        created: (Bool) async throws(ReelFailure) -> Void = { _ in }, known: (JobState) -> Void = { _ in }
    ) async throws(ReelFailure) -> Found {
        while true {
            if let job = try? await StoredJob(entry), await job.result != nil {
                known(.done)
                return .finished(job)
            }
            // The record is written before any process can learn of the job, so that each can continue it.
            // Many may submit the same job at once. Only the first ones take the record's lock and wait for the disk: a job
            // on the board has a durable record.
            let isOnBoard = try await board.state(of: id) != nil
            let isThere = isOnBoard ? await entry.exists : false
            let isNew = isThere ? false : try await entry.create(wanted)
            // A worker ends a job on the board if the store says that it has ended, so the record is reopened first.
            // From then on no copies of sources are given back.
            var record = wanted
            do throws(ReelFailure) {
                if !isNew { record = try await openIfEnded() }
            } catch {
                // It is being removed: it begins anew then.
                guard case .jobUnknownHere = error.reason else { throw error }
                continue
            }
            try await created(isNew)
            switch try await board.begin(record, as: name) {
            case .begun(let claim):
                known(.probing)
                do throws(ReelFailure) {
                    if !isNew { try await openIfEnded(adding: wanted.webhooks) }
                } catch {
                    _ = try? await board.leave(id, waiter: name.text, claim: claim, abandoning: false)
                    guard case .jobUnknownHere = error.reason else { throw error }
                    continue
                }
                return .unplanned(claim)
            case .probing:
                known(.probing)
                return .unplanned(nil)
            case .running:
                guard let status = try await board.status(id) else { continue }
                if let job = try? await StoredJob(entry, plan: status.job.plan) {
                    known(status.state)
                    return .running(job)
                }
                // Without its plan in the store no worker can work at it.
                try await board.withdraw(id)
            case .busy:
                do { try await Task.sleep(for: .milliseconds(100)) } catch { throw .of(error) }
            }
        }
    }

    /// Opens the record of a job that has ended, as this submission asks for it, and returns it. The record of a job that
    /// goes on stays as it is, with the terms that users have changed since and with the submitter for whom it counts,
    /// also if the board has forgotten the job.
    ///
    /// - Parameter webhooks: added to the record of a job that goes on.
    @discardableResult
    private func openIfEnded(adding webhooks: [String] = []) async throws(ReelFailure) -> JobRecord {
        // The process that ended the job may not have told the store yet.
        try await entry.settle(on: board)
        let record = try await entry.read()
        if record.state != nil {
            try await entry.open(wanted)
            return try await entry.read()
        }
        return webhooks.isEmpty ? record : try await entry.change { $0.add(webhooks) }
    }

    /// The state of a job that need not be begun: it is done, or it is on the board and has not ended. Nil for any other.
    func going() async throws(ReelFailure) -> (Found, JobState)? {
        if let job = try? await StoredJob(entry), await job.result != nil { return (.finished(job), .done) }
        guard await entry.exists, let status = try await board.status(id), !status.state.isTerminal else { return nil }
        guard status.state != .probing else { return (.unplanned(nil), .probing) }
        // A job whose plan cannot be read is begun anew.
        return (try? await StoredJob(entry, plan: status.job.plan)).map { (.running($0), status.state) }
    }

    /// Tells the board what the submitter says of the job, and its webhooks. A job that another process has begun stays
    /// the job of its submitter, and keeps its name and labels if this submission gives none.
    ///
    /// Throws `.webhooksTooMany`, and `.jobNotOnBoard` if only the store has the job: no webhook can be sent then.
    ///
    /// - Parameter claim: holds the planning if this submitter has begun the job.
    func describe(_ claim: Claim? = nil) async throws(ReelFailure) {
        if claim != nil {
            try await entry.describe(on: board)
            try await board.hook(entry.read())
            return
        }
        try await board.hook(wanted)
        if let submission = wanted.submission, submission.isTelling {
            try await entry.describe(on: board) { earlier in
                let submitter = earlier?.submitter ?? submission.submitter
                earlier = submission
                earlier?.submitter = submitter
            }
        }
    }
}

extension Board {
    /// Begins a job as its record has it.
    func begin(_ record: JobRecord, as holder: WorkerID) async throws(ReelFailure) -> Begun {
        try await begin(record.beginning, holder: holder, submission: try record.submission?.text)
    }

    /// Adds the webhooks of a record to its job.
    ///
    /// Throws `.webhooksTooMany`, and `.jobNotOnBoard` if the board does not have the job.
    func hook(_ record: JobRecord) async throws(ReelFailure) {
        for url in record.webhooks {
            switch try await hook(record.id, url) {
            case .added, .due: break
            case .full: throw ReelFailure(.webhooksTooMany(job: record.id, most: BoardPolicy.webhooksKept))
            case nil: throw ReelFailure(.jobNotOnBoard(job: record.id))
            }
        }
    }
}
