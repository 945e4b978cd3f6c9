internal import Logging
internal import ReelCore
internal import ReelJobs
internal import ReelQueue
internal import ReelStore
internal import ReelWords

struct Attempt: Sendable {
    let work: ClaimedWork
    private let begun = ContinuousClock.now

    var claim: Claim { work.claim }

    var milliseconds: Int { Int((ContinuousClock.now - begun) / .milliseconds(1)) }

    /// Does a piece of the attempt's work. Cancels it and throws `.quotaExceeded` when the attempt's time is over.
    func timed<Result: Sendable>(
        _ allowance: PassAllowance, _ work: @escaping @Sendable () async throws -> Result
    ) async throws(ReelFailure) -> Result {
        guard let time = allowance.time else { return try await ReelFailure.unifying { try await work() } }
        return try await ReelFailure.limiting(until: begun + .seconds(time.seconds), orThrow: time.exceeded, work)
    }

    enum Outcome: Sendable {
        /// The result of a pass or an assembly, which the board does not know yet.
        case made(PassResult)
        /// Planning has put a plan with this number of passes on the board, or has done all of the job.
        case planned(passes: Int, isDone: Bool)
        case failed(ReelFailure)
    }
}

/// What follows from how an attempt ended.
enum Ending {
    /// The claim was lost: another worker may have it by now.
    case lost
    case cancelled
    /// The claim goes back to the board uncharged: this worker ends.
    case handedBack
    case made(PassResult)
    /// The board has the plan and its passes; with them it has taken the claim back. The job may be done with that.
    case planned(passes: Int, isDone: Bool)
    /// Results of passes are wrong: those are made again, and the assembly that has found it waits for them.
    case spoilt(ReelFailure)
    /// The job's plan is wrong: the job is planned anew. The context is that of the plan.
    case disproved(ReelFailure, JobContext)
    /// The board charges a failed attempt; the cause decides what follows.
    case failed(ReelFailure, as: FailureCause)

    /// The table of endings: the first row that fits counts.
    ///
    /// - Parameter reason: why the attempt had to stop; nil if it could have gone on.
    init(_ outcome: Attempt.Outcome, of work: ClaimedWork, stopped reason: StopReason?) {
        self =
            switch (outcome, reason, work.context) {
            // Publishing is the last step of planning. Whatever the attempt was to stop for has come after it.
            case (.planned(let passes, let isDone), _, _): .planned(passes: passes, isDone: isDone)
            case (_, .lost, _): .lost
            // The board says so when a plan is published, perhaps before a beat does.
            case (.failed(let failure), _, _) where failure.reason.isLostProbe: .lost
            case (_, .cancelled, _): .cancelled
            // Also if the worker ends: the work is done.
            case (.made(let result), _, _): .made(result)
            case (.failed, .drained, _): .handedBack
            case (.failed(let failure), nil, _) where failure.kind == .interrupted: .handedBack
            case (.failed(let failure), nil, _?) where failure.reason.passToRepeat != nil: .spoilt(failure)
            case (.failed(let failure), nil, let context?) where failure.reason.disprovesPlan:
                .disproved(failure, context)
            // The encoder took these settings when the job was planned, so another attempt may succeed.
            case (.failed(let failure), nil, _?) where failure.reason.isEncodersRefusal:
                .failed(failure, as: .transient)
            case (.failed(let failure), nil, _): .failed(failure, as: failure.cause)
            }
    }
}

extension FailureReason {
    fileprivate var isLostProbe: Bool { if case .probeLost = self { true } else { false } }
}

struct AttemptReporter: Sendable {
    let attempt: Attempt
    let environment: WorkerEnvironment
    let host: HostHealth

    private var claim: Claim { attempt.claim }
    private var work: ClaimedWork { attempt.work }
    private var entry: any JobEntry { attempt.work.entry }
    private var name: String { attempt.work.description }

    /// Reports the outcome. Returns the board's answer to a failure; nil if there was none.
    func report(_ outcome: Attempt.Outcome) async -> FailAnswer? {
        if case .failed(let failure) = outcome, await environment.store.isAway(by: failure) {
            // No job is charged for that, and the worker claims nothing until the store is back.
            environment.log.error("\(name) stopped: \(failure.words)")
            await host.heed(failure, in: claim.job)
            await handBack()
            return nil
        }
        switch Ending(outcome, of: work, stopped: environment.passes.stopReason(of: claim)) {
        case .lost:
            environment.notes.count(.lost)
            environment.log.warning("lost \(name): its lease had lapsed")
            await removePartial()
        case .cancelled:
            environment.log.notice("stopped \(name): the job was cancelled")
            await removePartial()
        case .handedBack: await handBack()
        case .made(let result): await complete(result)
        case .planned(let passes, let isDone):
            environment.notes.count(.done)
            environment.log.info(
                "finished \(isDone ? "all of job \(claim.job)" : name): \(passes) passes", metadata: facts())
            if isDone { await removeParts() }
        case .spoilt(let failure):
            guard await invalidate(failure) else { return await fail(failure, as: failure.cause) }
            await handBack()
        case .disproved(let failure, let context): return await disprove(context, failure)
        case .failed(let failure, let cause): return await fail(failure, as: cause)
        }
        return nil
    }

    private func facts(_ more: Logger.Metadata = [:]) -> Logger.Metadata { work.facts.merging(more) { $1 } }

    /// Removes the files that a failed or killed engine left half-written.
    private func removePartial() async { await entry.removePartial(token: claim.token) }

    /// Has passes done again: the one that the failure names, and all whose files are missing. Returns whether there
    /// were any. If so, the assembly is not to blame, and waits for them.
    private func invalidate(_ failure: ReelFailure) async -> Bool {
        environment.log.error("\(name) stopped: \(failure.words)")
        let taken = await untilAnswered { () throws(ReelFailure) in
            var wrong: [(index: Int, token: String)] = []
            for (pass, recorded) in try await environment.board.recordedResults(claim.job) {
                let isMissing = try await !entry.missingSegments(of: recorded.result.segments).isEmpty
                if pass == failure.reason.passToRepeat || isMissing { wrong.append((pass, recorded.token)) }
            }
            return try await environment.board.invalidate(
                claim.job, passes: wrong, plan: claim.plan, by: environment.worker, reason: failure)
        }
        return taken ?? 0 > 0
    }

    /// Has the whole of the pass's source decoded and the job planned anew. The disproof is written to the store first,
    /// so that the next planning does not believe the same tables again.
    private func disprove(_ context: JobContext, _ failure: ReelFailure) async -> FailAnswer? {
        await removePartial()
        environment.log.notice("\(name) stopped: \(failure.words)")
        // What was decoded as a whole cannot be disproved: an engine that says so was taken over, or its host is bad.
        guard await !context.isDecoded(work.pass) else { return await fail(failure, as: .crash) }
        do throws(ReelFailure) {
            try await environment.store.source(context.source(of: work.pass).fingerprint).disprove(failure)
        } catch {
            return await fail(error, as: error.cause)
        }
        let isPlannedAnew = await untilAnswered { () throws(ReelFailure) in
            try await environment.board.disprove(claim, worker: environment.worker, job: work.record.beginning)
        }
        if isPlannedAnew == true { environment.log.notice("job \(claim.job) is planned anew") }
        return nil
    }

    private func complete(_ result: PassResult) async {
        let log = environment.log
        let answer = await untilAnswered { () throws(ReelFailure) in
            try await environment.board.complete(claim, worker: environment.worker, result: result)
        }
        let isAssembly = claim.work == .assembly
        if isAssembly || answer == .cancelled { try? await entry.settle(on: environment.board) }
        switch answer {
        case .ok?, .duplicate?:
            environment.notes.count(.done)
            let milliseconds = attempt.milliseconds
            log.info(
                "finished \(name) in \((Double(milliseconds) / 100).rounded() / 10) s",
                metadata: facts(["milliseconds": .stringConvertible(milliseconds)]))
            if isAssembly { await removeParts() }
        case .late?: log.notice("\(name) had been finished by another worker")
        case .cancelled?: log.notice("\(name) is not needed: the job was cancelled")
        case nil: log.warning("\(name) is whole, but the board could not be told; its next holder will find it")
        }
    }

    /// Removes what a finished job does not need any more: results on the board and parts in the store.
    private func removeParts() async {
        await removePartial()
        do throws(ReelFailure) {
            try await entry.removeParts(keepingSegments: work.record.terms.keepsSegments)
            try await environment.board.trim(claim.job)
        } catch {
            environment.log.warning("\(error.words)")
        }
    }

    private func fail(_ failure: ReelFailure, as cause: FailureCause) async -> FailAnswer? {
        await removePartial()
        environment.log.error(
            "\(name) failed (\(failure.cause.rawValue)): \(failure.words)",
            metadata: facts(["code": "\(failure.reason.code)"]))
        await host.heed(failure, in: claim.job)
        let answer = await untilAnswered { () throws(ReelFailure) in
            try await environment.board.fail(
                claim, worker: environment.worker, failure: failure, as: cause, recordingIn: entry)
        }
        if answer != nil { environment.notes.count(.failed(cause)) }
        if answer == .jobFailed { await entry.removeStrays() }
        return answer
    }

    private func handBack() async {
        await removePartial()
        environment.log.info("hands back \(name)")
        // One attempt: a worker that is about to end does not wait for the board, since the lease lapses anyway.
        do throws(ReelFailure) {
            try await environment.board.release(claim)
            environment.notes.count(.released)
        } catch {
            environment.log.warning("\(error.words)")
        }
    }

    /// Repeats a call until the board answers. Gives up if the pass must end or the worker drains.
    private func untilAnswered<Answer>(_ call: () async throws(ReelFailure) -> Answer) async -> Answer? {
        var backoff = RetryBackoff(log: environment.log)
        while true {
            do { return try await call() } catch {
                let mayWait = environment.passes.stopReason(of: claim) == nil && !environment.drain.isOn
                guard error.cause == .transient, mayWait else { return nil }
                let delay = backoff.delay(after: error)
                // A task of its own: this one is cancelled with its engine, and a finished result must be reported.
                await Task.detached { [clock = environment.clock] in _ = await clock.sleep(for: delay) }.value
            }
        }
    }
}
