internal import Foundation
internal import Logging
internal import ReelCore
internal import ReelEngine
internal import ReelJobs
internal import ReelQueue
internal import ReelStore
internal import ReelWords
internal import Synchronization

/// One place where passes are worked on: claim, engine, complete, again. An engine lives as long as passes of one job
/// follow each other, so that the source stays open between them.
final class Slot: Sendable {
    let worker: WorkerID
    let board: Board
    let engine: EngineHost
    let claimer: Claimer
    let holdings: Holdings
    let drain: Drain
    let scratch: String
    let condition: Condition
    let log: Logger
    private let health = Mutex(SlotHealth())

    init(
        worker: WorkerID, board: Board, engine: EngineHost, claimer: Claimer, holdings: Holdings, drain: Drain,
        scratch: String, condition: Condition, log: Logger
    ) {
        self.worker = worker
        self.board = board
        self.engine = engine
        self.claimer = claimer
        self.holdings = holdings
        self.drain = drain
        self.scratch = scratch
        self.condition = condition
        self.log = log
    }

    /// Works until the worker drains.
    func run() async {
        var next = await claimer.next()
        while let piece = next {
            switch piece {
            case .pass(let assignment): next = await serve(assignment)
            case .probe(let claim): next = await probe(claim)
            }
            if next == nil, await isTrusted() { next = await claimer.next() }
        }
    }

    /// Returns at once where nothing speaks against this slot's engines, else when one has done a clip of the worker's
    /// own. False where the worker drains before.
    private func isTrusted() async -> Bool {
        guard health.withLock(\.pauseBeforeTrial) != nil else { return true }
        condition.slotLeaves()
        defer { condition.slotReturns() }
        while let pause = health.withLock(\.pauseBeforeTrial) {
            let jobs = SlotHealth.jobsInARow
            log.error("a slot claims nothing: engines crashed in \(jobs) jobs in a row; it tries a clip in \(pause)")
            guard await drain.stays(off: pause) else { return false }
            var failure: ReelFailure?
            do throws(ReelFailure) { try await SlotTrial(engine: engine).run() } catch { failure = error }
            health.withLock { $0.tried(succeeded: failure == nil) }
            if let failure { log.error("the slot's engine did not do the clip: \(failure.words)") }
        }
        log.notice("the slot claims again: its engine did the clip")
        return true
    }

    /// Works on a pass, and on those of the same job that can be had right after it. Returns a pass of another job if
    /// one was claimed.
    private func serve(_ first: Assignment) async -> Piece? {
        let kill = KillSwitch()
        guard let work = await begin(first, kill) else { return nil }
        let desk = Mutex(Desk(current: work))
        let memory = first.claim.need + first.context.plan.reservedAddresses
        let life = Task {
            try await engine.withEngine(memory: memory) { session in
                try await serve(work, in: session, desk, kill)
            }
        }
        kill.arm { life.cancel() }
        let outcome = await life.result
        let left = desk.withLock { $0 }
        if let work = left.current {
            let failure: ReelFailure =
                if case .failure(let error) = outcome { .of(error) } else { .of(CancellationError()) }
            await settle(work, .failure(failure))
        }
        return left.next
    }

    /// The life of one engine: ends when it fails, is killed, or has no more to do for this job.
    private func serve(
        _ first: Work, in session: EngineSession, _ desk: borrowing Mutex<Desk>, _ kill: KillSwitch
    ) async throws(ReelFailure) {
        var work = first
        while true {
            let result = try await perform(work, in: session)
            desk.withLock { $0.current = nil }
            guard let following = await following(work, result, kill, desk) else { return }
            work = following
        }
    }

    /// Settles a pass; the next one of the same job that needs an engine.
    private func following(
        _ work: Work, _ result: PassResult, _ kill: KillSwitch, _ desk: borrowing Mutex<Desk>
    ) async -> Work? {
        let now = work.assignment
        var claimed = await claimer.take { await self.settle(work, .success(result)) }
        while let piece = claimed {
            guard case .pass(let next) = piece, next.claim.job == now.claim.job, next.claim.need == now.claim.need,
                next.context.describes(now.context.record, plan: now.claim.plan)
            else {
                desk.withLock { $0.next = piece }
                return nil
            }
            if let work = await begin(next, kill) {
                desk.withLock { $0.current = work }
                return work
            }
            claimed = await claimer.take()
        }
        return nil
    }

    /// Enters a pass as held. Nil where it was whole already and is complete now, without an engine.
    private func begin(_ assignment: Assignment, _ kill: KillSwitch) async -> Work? {
        holdings.add(assignment.claim, frames: assignment.frames, kill: kill)
        let work = Work(assignment, board: board, scratch: scratch)
        holdings.update(assignment.claim, wholeChunks: work.reused.count, frames: work.reusedFrames)
        guard let result = work.finished() else {
            log.info("begins \(assignment.description)")
            return work
        }
        log.info("\(assignment.description) was whole already")
        await settle(work, .success(result))
        return nil
    }

    private func perform(_ work: Work, in session: EngineSession) async throws(ReelFailure) -> PassResult {
        let claim = work.assignment.claim
        do {
            return try await work.perform(in: session) { [holdings] progress in
                holdings.update(claim, progress)
            }
        } catch {
            // Kept for whoever looks into it; that it cannot be kept changes nothing.
            try? work.assignment.context.folder.writeAttempt(
                pass: claim.index, token: claim.token, standardError: session.standardErrorTail)
            throw error
        }
    }

    private func settle(_ work: Work, _ outcome: Result<PassResult, ReelFailure>) async {
        let answer = await Settlement(
            work: work, worker: worker, board: board, claimer: claimer, holdings: holdings, drain: drain, log: log
        ).settle(outcome)
        switch outcome {
        case .success: health.withLock { $0.passFinished() }
        case .failure(let failure): note(failure, answer, in: work.assignment.claim.job)
        }
        holdings.remove(work.assignment.claim)
        await claimer.release(work.assignment.claim)
    }
}

extension Slot {
    /// A crash speaks against this slot, unless the board knows it to be the job's.
    private func note(_ failure: ReelFailure, _ answer: FailAnswer?, in job: JobID) {
        guard failure.cause == .crash, answer?.blamesJob != true else { return }
        health.withLock { $0.engineCrashed(in: job) }
    }
}

// MARK: Probing

extension Slot {
    /// Makes a job's plan, as whoever submitted it would have done; what there is to do next at once.
    private func probe(_ claim: Claim) async -> Piece? {
        let name = "probe of job \(claim.job)"
        log.info("begins \(name)")
        let kill = KillSwitch()
        holdings.add(claim, frames: 0, kill: kill)
        let life = Task { () async throws -> StoredJob in
            let capacity = try await Capacity.ofWorkers(on: board)
            let probe = Probe(store: claimer.store, engine: engine, capacity: capacity)
            return try await ProbeAttempt(probe: probe, board: board, claim: claim).run()
        }
        kill.arm { life.cancel() }
        switch await life.result {
        case .success(let job):
            health.withLock { $0.passFinished() }
            log.info("finished \(name): \(job.plan.passes.count) passes")
        case .failure(let error): await settle(claim, name, .of(error))
        }
        holdings.remove(claim)
        await claimer.release(claim)
        return await claimer.take()
    }

    /// A probe that came to nothing.
    private func settle(_ claim: Claim, _ name: String, _ failure: ReelFailure) async {
        let verdict = holdings.verdict(on: claim)
        if case .probeLost = failure.reason { return log.warning("lost \(name)") }
        if verdict == .lost || verdict == .cancelled { return log.notice("stopped \(name)") }
        do throws(ReelFailure) {
            if verdict == .drained || failure.kind == .interrupted {
                log.info("hands back \(name)")
                return try await board.release(claim)
            }
            log.error("\(name) failed (\(failure.cause.rawValue)): \(failure.words)")
            await claimer.heed(failure, in: claim.job)
            let answer = try await board.patiently { () throws(ReelFailure) in
                try await board.fail(claim, worker: worker, failure: failure)
            }
            note(failure, answer, in: claim.job)
            if answer == .jobFailed {
                await claimer.store.job(claim.job).recordEnd(.failed, failure, on: board)
            }
        } catch {
            log.warning("\(error.words)")
        }
    }
}

/// What one engine's life leaves behind.
private struct Desk: Sendable {
    /// Begun and not settled.
    var current: Work?
    /// Claimed, and not for this engine.
    var next: Piece?
}
