internal import Logging
internal import ReelCore
package import ReelEngine
package import ReelQueue
internal import ReelStore
internal import ReelWords

/// Claims work for all slots of a worker, one claim at a time, as long as memory and the host allow.
package actor Claimer {
    private let environment: WorkerEnvironment
    private let identity: EngineIdentity
    /// A board of its own, because waiting for work blocks it.
    private let waiting: any Board
    package nonisolated let host: HostHealth

    private var memory: MemoryPool
    private var backoff: RetryBackoff
    private var contexts: [JobID: JobContext] = [:]
    private var lastTurn: Task<Void, Never>?
    /// Slots that report a pass, and claim again with their engine still running.
    private var reporting = 0
    private var isListening = false

    private var store: any JobStore { environment.store }
    private var board: any Board { environment.board }

    /// - Parameters:
    ///   - waiting: the board on which this role waits for work, for it alone.
    package init(_ environment: WorkerEnvironment, identity: EngineIdentity, waiting: any Board, memoryTotal: Int64) {
        self.environment = environment
        self.identity = identity
        self.waiting = waiting
        host = HostHealth(environment)
        memory = MemoryPool(total: memoryTotal)
        backoff = RetryBackoff(log: environment.log)
    }

    /// The next pass, as soon as there is one; nil when the worker ends. This is for a slot without an engine.
    package func next() async -> ClaimedWork? {
        while !environment.drain.isOn {
            let count = environment.signal.count
            if reporting == 0, let work = await take() { return work }
            listen()
            await environment.signal.wait(after: count)
        }
        return nil
    }

    /// Slots without an engine claim nothing until `admitIdleSlots`. A slot calls this before it reports a pass and
    /// claims the next: what the report makes claimable, such as the assembly, goes to its running engine.
    package func holdIdleSlots() { reporting += 1 }

    package func admitIdleSlots() {
        reporting -= 1
        environment.signal.send()
    }

    /// A pass if there is one now. Slots take turns: the memory that one claims cannot be offered for the next.
    package func take() async -> ClaimedWork? {
        let previous = lastTurn
        let turn = Task {
            await previous?.value
            return await claim()
        }
        lastTurn = Task { _ = await turn.value }
        return await turn.value
    }

    /// The pass is not worked on any more: its memory is free.
    package func release(_ claim: Claim) {
        memory.release(claim.need)
        environment.signal.send()
    }

    /// Bytes that the passes claimed so far may take.
    package var memoryReserved: Int64 { memory.reserved }

    private func claim() async -> ClaimedWork? {
        guard !environment.drain.isOn, environment.drain.byUser == nil, memory.free > 0, await host.admitsWork() else {
            return nil
        }
        let offer = WorkerOffer(
            worker: environment.worker, memoryFree: memory.free, encoders: identity.encoders,
            protocolVersion: Wire.version)
        do throws(ReelFailure) {
            let claim = try await board.claim(offer)
            backoff.reset()
            guard let claim else { return nil }
            return try await prepare(claim)
        } catch {
            _ = backoff.delay(after: error)
            return nil
        }
    }

    /// Reads from the store what a claim is for; nil if there is nothing to do, or the store has not enough of the job.
    private func prepare(_ claim: Claim) async throws(ReelFailure) -> ClaimedWork? {
        do throws(ReelFailure) {
            guard let work = try await work(of: claim) else { return nil }
            memory.reserve(claim.need)
            return work
        } catch {
            environment.log.error("cannot work on job \(claim.job): \(error.words)")
            await host.heed(error, in: claim.job)
            if await store.isAway(by: error) {
                try await board.release(claim)
                return nil
            }
            _ = try await board.fail(claim, worker: environment.worker, failure: error)
            return nil
        }
    }

    private func work(of claim: Claim) async throws(ReelFailure) -> ClaimedWork? {
        let record = try await store.job(claim.job).read()
        guard try await !restoreControl(of: claim, record) else { return nil }
        let context = claim.work == .planning ? nil : try await context(of: claim, record)
        return ClaimedWork(claim: claim, record: record, entry: store.job(claim.job), context: context)
    }

    /// Cancels or pauses the job on the board if the store says that a person did. The store learns of that first, and
    /// Redis may have lost its last writes. Returns whether the claim is settled by it.
    private func restoreControl(of claim: Claim, _ record: JobRecord) async throws(ReelFailure) -> Bool {
        if record.state == .cancelled {
            environment.log.notice("job \(claim.job) was cancelled, and the board had lost that")
            return try await board.cancel(claim.job)
        }
        // A paused job is planned all the same, and its passes wait then.
        guard record.paused, claim.work != .planning else { return false }
        environment.log.notice("job \(claim.job) is paused, and the board had lost that")
        _ = try await board.pause(claim.job)
        try await board.release(claim)
        return true
    }

    private func context(of claim: Claim, _ record: JobRecord) async throws(ReelFailure) -> JobContext {
        if let known = contexts[claim.job], known.describes(record, plan: claim.plan), known.lists(claim) {
            return known
        }
        let context = try await JobContext(record, plan: claim.plan, in: store)
        guard context.lists(claim) else {
            throw ReelFailure(.planDiffers(job: claim.job, plan: claim.plan, store: store.name))
        }
        try environment.quotas.check(context.plan)
        // Plans of long films are large, and a worker seldom has more than a few jobs at once.
        if contexts.count >= 8 { contexts = [:] }
        contexts[claim.job] = context
        return context
    }

    /// Sends the signal when the board hints at work, or after a second: a hint that is lost costs no more than that. A
    /// worker that is drained leaves the hints to others.
    private func listen() {
        guard !isListening, environment.drain.byUser == nil else { return }
        isListening = true
        Task {
            do throws(ReelFailure) { try await waiting.waitForWork(seconds: 1) } catch {
                await environment.clock.sleep(for: backoff.delay(after: error))
            }
            isListening = false
            environment.signal.send()
        }
    }
}

/// The memory that a worker's passes share: as many run at once as fit.
package struct MemoryPool: Sendable {
    /// Bytes that all passes may take together.
    package let total: Int64
    /// Bytes that running passes may take.
    package private(set) var reserved: Int64 = 0

    package init(total: Int64) { self.total = total }

    /// Bytes that are left for one more pass; 0 if a pass takes more than the total.
    package var free: Int64 { max(total - reserved, 0) }

    package mutating func reserve(_ need: Int64) { reserved += need }

    package mutating func release(_ need: Int64) { reserved = max(reserved - need, 0) }
}
