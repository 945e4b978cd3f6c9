internal import Logging
internal import ReelCore
internal import ReelEngine
internal import ReelJobs
internal import ReelQueue
internal import ReelStore
internal import ReelWords
internal import Synchronization

/// A place of a worker where one pass at a time is worked on: claim, engine, report, again. An engine lives as long as
/// passes of one job follow each other, so that the source stays open between them.
package final class Slot: Sendable {
    private let environment: WorkerEnvironment
    private let claimer: Claimer
    private let health = Mutex(SlotHealth())

    package init(_ environment: WorkerEnvironment, claimer: Claimer) {
        self.environment = environment
        self.claimer = claimer
    }

    /// Works until the worker drains.
    package func run() async {
        var next = await claimer.next()
        while let work = next {
            switch work {
            case .pass(let pass): next = await serve(pass)
            case .probe(let claim): next = await probe(claim)
            }
            if next == nil, await isTrusted() { next = await claimer.next() }
        }
    }

    /// Returns true at once if the slot's engines work as far as it knows; otherwise when an engine has done a clip of the
    /// worker's own. False if the worker drains before.
    private func isTrusted() async -> Bool {
        guard health.withLock(\.pauseBeforeTrial) != nil else { return true }
        let (notes, log) = (environment.notes, environment.log)
        notes.slotLeaves()
        defer { notes.slotReturns() }
        while let pause = health.withLock(\.pauseBeforeTrial) {
            let jobs = SlotHealth.jobsInARow
            log.error("a slot claims nothing: engines crashed in \(jobs) jobs in a row; it tries a clip in \(pause)")
            guard await environment.drain.staysOff(for: pause) else { return false }
            var failure: ReelFailure?
            do throws(ReelFailure) { try await SlotTrial(environment.engines).run() } catch { failure = error }
            health.withLock { $0.tried(succeeded: failure == nil) }
            if let failure { log.error("the slot's engine did not do the clip: \(failure.words)") }
        }
        log.notice("the slot claims again: its engine did the clip")
        return true
    }
}

// MARK: Passes

extension Slot {
    /// Works on a pass, and on those of the same job that can be claimed right after it. Returns work of another job if
    /// that was claimed.
    private func serve(_ first: ClaimedPass) async -> ClaimedWork? {
        let kill = KillSwitch()
        let beginning = Task { await begin(first, kill) }
        kill.arm { beginning.cancel() }
        let (attempt, end) = await beginning.value
        if let end {
            await report(attempt, end)
            return nil
        }
        let lease = Mutex(EngineLease(current: attempt))
        let memory = first.claim.need + first.context.plan.reservedAddresses
        let life = Task {
            let scratch = try TemporaryFolder(scratchIn: environment.scratch)
            let scope = try await first.context.scope(scratch: scratch.path, attempt.allowance)
            try await environment.engines.withEngine(memory: memory, scope: scope) { engine in
                try await serve(attempt, in: engine, scratch, lease, kill)
            }
        }
        kill.arm { life.cancel() }
        let outcome = await life.result
        let left = lease.withLock { $0 }
        if let attempt = left.current {
            let failure: ReelFailure =
                if case .failure(let error) = outcome { .of(error) } else { .of(CancellationError()) }
            await report(attempt, .failure(failure))
        }
        return left.next
    }

    /// The life of one engine. It ends when the engine fails, is killed, or has no more to do for this job.
    private func serve(
        _ first: Attempt, in engine: any Engine, _ scratch: TemporaryFolder, _ lease: borrowing Mutex<EngineLease>,
        _ kill: KillSwitch
    ) async throws(ReelFailure) {
        var attempt = first
        while true {
            let result = try await perform(attempt, in: engine, scratch)
            lease.withLock { $0.current = nil }
            guard let following = try await following(attempt, result, kill, lease) else { return }
            attempt = following
        }
    }

    /// What the quotas leave for a pass of a job.
    private func allowance(of job: JobID) async throws(ReelFailure) -> PassAllowance {
        let quotas = environment.quotas
        guard quotas.countsJobs, let status = try await environment.board.status(job) else {
            return try quotas.allowance()
        }
        return try quotas.allowance(elapsed: status.elapsed ?? 0, cpu: status.cpuSeconds)
    }

    /// Reports a pass, and begins the next one of the same job that needs an engine; nil if there is none. Throws the
    /// failure of one that cannot begin, which the lease holds then.
    private func following(
        _ attempt: Attempt, _ result: PassResult, _ kill: KillSwitch, _ lease: borrowing Mutex<EngineLease>
    ) async throws(ReelFailure) -> Attempt? {
        // What this report makes claimable, such as the assembly, is for this slot: its engine runs.
        await claimer.holdIdleSlots()
        await report(attempt, .success(result))
        var claimed = await claimer.take()
        await claimer.admitIdleSlots()
        let now = attempt.pass
        // The kernel counts the CPU time of an engine's life, and what a job has left falls: then each pass has an engine
        // of its own.
        let isLast = environment.quotas[.passCPU] != nil || environment.quotas.countsJobs
        while let work = claimed {
            guard !isLast, case .pass(let next) = work, next.claim.job == now.claim.job,
                next.claim.need == now.claim.need,
                next.context.describes(now.context.record, plan: now.claim.plan)
            else {
                lease.withLock { $0.next = work }
                return nil
            }
            let (attempt, end) = await begin(next, kill)
            guard case .success(let result)? = end else {
                lease.withLock { $0.current = attempt }
                if case .failure(let failure)? = end { throw failure }
                return attempt
            }
            await report(attempt, .success(result))
            claimed = await claimer.take()
        }
        return nil
    }

    /// Enters a pass as held, and looks for segments of earlier attempts, which counts as the pass's time. With the attempt
    /// comes its outcome if no engine is needed: the pass was whole already, or its quotas leave nothing for it.
    private func begin(
        _ pass: ClaimedPass, _ kill: KillSwitch
    ) async -> (attempt: Attempt, end: Result<PassResult, ReelFailure>?) {
        let passes = environment.passes
        passes.add(pass.claim, frames: pass.frames, kill: kill)
        var attempt = Attempt(pass, in: environment)
        do throws(ReelFailure) {
            attempt.allowance = try await allowance(of: pass.claim.job)
            let (found, result) = try await attempt.timed { [attempt] in
                await withTaskExecutorPreference(StoreExecutor.shared) {
                    var attempt = attempt
                    await attempt.findSegments()
                    return (attempt, await attempt.finished())
                }
            }
            passes.update(pass.claim, wholeChunks: found.reused.count, frames: found.reusedFrames)
            environment.log.info(
                result == nil ? "begins \(pass.description)" : "\(pass.description) was whole already",
                metadata: pass.facts)
            return (found, result.map { .success($0) })
        } catch {
            return (attempt, .failure(error))
        }
    }

    private func perform(
        _ attempt: Attempt, in engine: any Engine, _ scratch: TemporaryFolder
    ) async throws(ReelFailure) -> PassResult {
        let claim = attempt.pass.claim
        let before = engine.cpuSeconds
        do {
            var result = try await attempt.timed { [passes = environment.passes] in
                try await attempt.perform(in: engine, scratch: scratch.path) { passes.update(claim, $0) }
            }
            result.statistics.cpuSeconds = max(0, engine.cpuSeconds - before)
            return result
        } catch {
            // Kept so that a user can look into the failure. If it cannot be kept, the attempt ends as it would anyway.
            try? await attempt.pass.context.entry.writeAttempt(
                pass: claim.index, token: claim.token, standardError: engine.standardErrorTail)
            throw await environment.store.checked(attempt.allowance.explained(error), scratch: scratch)
        }
    }

    private func report(_ attempt: Attempt, _ outcome: Result<PassResult, ReelFailure>) async {
        let claim = attempt.pass.claim
        let answer = await AttemptReporter(attempt, in: environment, claimer: claimer).report(outcome)
        switch outcome {
        case .success: health.withLock { $0.passFinished() }
        case .failure(let failure): note(failure, answer, in: claim.job)
        }
        environment.passes.remove(claim)
        await claimer.release(claim)
    }

    /// Counts a crash against this slot, unless the board knows that the job is at fault.
    private func note(_ failure: ReelFailure, _ answer: FailAnswer?, in job: JobID) {
        guard failure.cause == .crash, answer?.blamesJob != true else { return }
        health.withLock { $0.engineCrashed(in: job) }
    }
}

// MARK: Probes

extension Slot {
    /// Makes a job's plan, as the process that submitted the job would. Returns what can be claimed right after it.
    private func probe(_ claim: Claim) async -> ClaimedWork? {
        let (passes, log) = (environment.passes, environment.log)
        let name = "probe of job \(claim.job)"
        log.info("begins \(name)")
        let kill = KillSwitch()
        passes.add(claim, frames: 0, kill: kill)
        let life = Task { [environment] () async throws -> StoredJob in
            let capacity = try await Capacity.ofWorkers(on: environment.board)
            let probe = Probe(
                store: environment.store, engine: environment.engines, capacity: capacity,
                quotas: environment.quotas)
            return try await environment.quotas.allowance().timed {
                try await ProbeAttempt(probe: probe, board: environment.board, claim: claim).run()
            }
        }
        kill.arm { life.cancel() }
        switch await life.result {
        case .success(let job):
            health.withLock { $0.passFinished() }
            environment.signs.count(.done)
            log.info("finished \(name): \(job.plan.passes.count) passes")
        case .failure(let error): await report(claim, name, .of(error))
        }
        passes.remove(claim)
        await claimer.release(claim)
        return await claimer.take()
    }

    /// Reports a probe that failed or was stopped.
    private func report(_ claim: Claim, _ name: String, _ failure: ReelFailure) async {
        let (board, log, signs) = (environment.board, environment.log, environment.signs)
        let reason = environment.passes.stopReason(of: claim)
        if case .probeLost = failure.reason {
            signs.count(.lost)
            return log.warning("lost \(name)")
        }
        if reason == .lost { signs.count(.lost) }
        if reason == .lost || reason == .cancelled { return log.notice("stopped \(name)") }
        do throws(ReelFailure) {
            if reason == .drained || failure.kind == .interrupted {
                log.info("hands back \(name)")
                try await board.release(claim)
                return signs.count(.released)
            }
            log.error("\(name) failed (\(failure.cause.rawValue)): \(failure.words)")
            await claimer.heed(failure, in: claim.job)
            let answer = try await board.patiently { () throws(ReelFailure) in
                try await board.fail(
                    claim, worker: environment.worker, failure: failure,
                    recordingIn: environment.store.job(claim.job))
            }
            signs.count(.failed(failure.cause))
            note(failure, answer, in: claim.job)
        } catch {
            log.warning("\(error.words)")
        }
    }
}

/// The attempt of one engine, and the claimed work that is left when the engine has ended.
private struct EngineLease: Sendable {
    /// The attempt that has begun and is not reported yet.
    var current: Attempt?
    /// Work that was claimed and is not for this engine.
    var next: ClaimedWork?
}
