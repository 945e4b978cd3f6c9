internal import Logging
internal import ReelCore
internal import ReelJobs
internal import ReelQueue
internal import ReelStore
internal import ReelWords

/// Reports how an attempt at a pass ended: to the board, to the store, and in the log.
struct AttemptReporter: Sendable {
    private let attempt: Attempt
    private let environment: WorkerEnvironment
    private let claimer: Claimer

    init(_ attempt: Attempt, in environment: WorkerEnvironment, claimer: Claimer) {
        self.attempt = attempt
        self.environment = environment
        self.claimer = claimer
    }

    private var claim: Claim { attempt.pass.claim }
    private var context: JobContext { attempt.pass.context }
    private var name: String { attempt.pass.description }

    /// Reports the outcome. Returns the board's answer to a failure; nil if none was reported, or the board did not
    /// answer.
    func report(_ outcome: Result<PassResult, ReelFailure>) async -> FailAnswer? {
        switch (environment.passes.stopReason(of: claim), outcome) {
        case (.lost, _):
            environment.signs.count(.lost)
            environment.log.warning("lost \(name): its lease had lapsed")
            await attempt.removePartial()
        case (.cancelled, _):
            environment.log.notice("stopped \(name): the job was cancelled")
            await attempt.removePartial()
        case (.drained, .success(let result)), (nil, .success(let result)):
            await complete(result)
        case (.drained, .failure):
            await handBack()
        case (nil, .failure(let failure)) where failure.kind == .interrupted:
            await handBack()
        case (nil, .failure(let failure)) where failure.reason.passToRepeat != nil:
            guard await invalidate(failure) else { return await fail(failure) }
            await handBack()
        case (nil, .failure(let failure)) where failure.reason.disprovesPlan:
            return await disprove(failure)
        case (nil, .failure(let failure)) where failure.reason.isEncodersRefusal:
            // It took these settings when the job was planned, so another attempt may succeed.
            return await fail(failure, as: .transient)
        case (nil, .failure(let failure)):
            return await fail(failure)
        }
        return nil
    }

    /// Has the passes done again whose segments differ from their records: the pass that the failure names, and all whose
    /// files are missing. Returns whether there were any. If so, the assembly is not to blame, and waits for them.
    private func invalidate(_ failure: ReelFailure) async -> Bool {
        environment.log.error("\(name) stopped: \(failure.words)")
        let entry = context.entry
        let taken = await untilAnswered { () throws(ReelFailure) in
            var wrong: [(index: Int, token: String)] = []
            for (pass, recorded) in try await environment.board.recordedResults(claim.job) {
                let isMissing = await !entry.missingSegments(of: recorded.result.segments).isEmpty
                if pass == failure.reason.passToRepeat || isMissing { wrong.append((pass, recorded.token)) }
            }
            return try await environment.board.invalidate(
                claim.job, passes: wrong, plan: claim.plan, by: environment.worker, reason: failure)
        }
        return taken ?? 0 > 0
    }

    /// Has the whole of the pass's source decoded and the job planned anew. The disproof is written to the store first, so that the next
    /// probe does not believe the same tables again.
    private func disprove(_ failure: ReelFailure) async -> FailAnswer? {
        await attempt.removePartial()
        environment.log.notice("\(name) stopped: \(failure.words)")
        // What was decoded as a whole cannot be disproved: an engine that says so was taken over, or its host is bad.
        guard await !context.isDecoded(claim.pass) else { return await fail(failure, as: .crash) }
        do throws(ReelFailure) {
            try await environment.store.source(context.source(of: claim.pass).fingerprint).disprove(failure)
        } catch {
            return await fail(error)
        }
        let isProbed = await untilAnswered { () throws(ReelFailure) in
            try await environment.board.disprove(claim, worker: environment.worker, job: context.record.beginning)
        }
        if isProbed == true { environment.log.notice("job \(claim.job) is planned anew") }
        return nil
    }

    private func complete(_ result: PassResult) async {
        let log = environment.log
        let answer = await untilAnswered { () throws(ReelFailure) in
            try await environment.board.complete(claim, worker: environment.worker, result: result)
        }
        if attempt.pass.isAssembly || answer == .cancelled { try? await context.entry.settle(on: environment.board) }
        switch answer {
        case .ok?, .duplicate?:
            environment.signs.count(.done)
            let milliseconds = attempt.milliseconds
            log.info(
                "finished \(name) in \((Double(milliseconds) / 100).rounded() / 10) s",
                metadata: attempt.pass.facts.merging(["milliseconds": .stringConvertible(milliseconds)]) { $1 })
            if attempt.pass.isAssembly { await removeParts() }
        case .late?: log.notice("\(name) had been finished by another worker")
        case .cancelled?: log.notice("\(name) is not needed: the job was cancelled")
        case nil: log.warning("\(name) is whole, but the board could not be told; its next holder will find it")
        }
    }

    /// Removes what a finished job does not need any more: results on the board and parts in the store.
    private func removeParts() async {
        await attempt.removePartial()
        do throws(ReelFailure) {
            try await context.entry.removeParts(keepingSegments: context.record.terms.keepsSegments)
            try await environment.board.trim(claim.job)
        } catch {
            environment.log.warning("\(error.words)")
        }
    }

    private func fail(_ failure: ReelFailure, as cause: FailureCause? = nil) async -> FailAnswer? {
        await attempt.removePartial()
        environment.log.error(
            "\(name) failed (\(failure.cause.rawValue)): \(failure.words)",
            metadata: attempt.pass.facts.merging(["code": "\(failure.reason.code)"]) { $1 })
        await claimer.heed(failure, in: claim.job)
        let answer = await untilAnswered { () throws(ReelFailure) in
            try await environment.board.fail(
                claim, worker: environment.worker, failure: failure, as: cause, recordingIn: context.entry)
        }
        if answer != nil { environment.signs.count(.failed(cause ?? failure.cause)) }
        if answer == .jobFailed { await context.entry.removeStrays() }
        return answer
    }

    private func handBack() async {
        await attempt.removePartial()
        environment.log.info("hands back \(name)")
        // One attempt: a worker that is about to end does not wait for the board, since the lease lapses anyway.
        do throws(ReelFailure) {
            try await environment.board.release(claim)
            environment.signs.count(.released)
        } catch {
            environment.log.warning("\(error.words)")
        }
    }

    /// Repeats a call until the board answers. Gives up if the pass must end or the worker drains.
    private func untilAnswered<Answer>(_ call: () async throws(ReelFailure) -> Answer) async -> Answer? {
        var backoff = RetryBackoff(log: environment.log)
        while true {
            do {
                return try await call()
            } catch {
                let mayWait = environment.passes.stopReason(of: claim) == nil && !environment.drain.isOn
                guard error.cause == .transient, mayWait else { return nil }
                let delay = backoff.delay(after: error)
                // A task of its own, because this one is cancelled with its engine, and a finished result must be
                // reported all the same.
                await Task.detached { [clock = environment.clock] in _ = await clock.sleep(for: delay) }.value
            }
        }
    }
}
