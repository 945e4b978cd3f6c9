internal import Foundation
internal import Logging
internal import ReelCore
internal import ReelEngine
internal import ReelQueue
internal import ReelStore
internal import ReelWords

/// Claims passes for a worker's slots, one claim at a time, as long as memory and disk allow.
actor Claimer {
    private let worker: WorkerID
    private let identity: EngineIdentity
    private let board: any Board
    /// Its own connection: waiting for work blocks it.
    private let waiting: any Board
    let store: Store
    /// Folder of what engines spill, perhaps on another disk than the store.
    private let scratch: String
    private let bell: Bell
    private let drain: Drain
    private let condition: Condition
    private let log: Logger

    private var memory: SlotMemory
    private var outage: Outage
    private var contexts: [JobID: JobContext] = [:]
    private var turn: Task<Void, Never>?
    /// Slots that are about to ask for a pass with an engine at hand.
    private var returning = 0
    private var listening = false
    /// Bytes that were free when a disk was full, and when that was; nil as long as none is.
    private var full: (free: Int64, since: ContinuousClock.Instant)?
    /// Whether something in the store could not be used since it was last seen to be writable.
    private var doubtsStore = false
    /// Jobs that exclude this worker since something in the store could not be used, and how often each came to that.
    private var barred: [JobID: Int] = [:]
    /// Those of them to which it comes back when the store can be used.
    private var missed: Set<JobID> = []

    init(
        worker: WorkerID, identity: EngineIdentity, boards: (claims: any Board, waiting: any Board), store: Store,
        scratch: String, memory: SlotMemory, bell: Bell, drain: Drain, condition: Condition, log: Logger
    ) {
        self.worker = worker
        self.identity = identity
        (board, waiting) = boards
        self.store = store
        self.scratch = scratch
        self.memory = memory
        self.bell = bell
        self.drain = drain
        self.condition = condition
        self.log = log
        outage = Outage(log: log)
    }

    /// The next pass, as soon as there is one; nil when the worker drains.
    func next() async -> Piece? {
        while !drain.isOn {
            let rings = bell.rings
            if returning == 0, let piece = await take() { return piece }
            listen()
            await bell.wait(since: rings)
        }
        return nil
    }

    /// A pass if there is one as soon as another is settled. What follows from that, as an assembly does, is left to this
    /// slot: those that wait would have to start an engine.
    func take(after settle: @Sendable () async -> Void) async -> Piece? {
        returning += 1
        await settle()
        let piece = await take()
        returning -= 1
        bell.ring()
        return piece
    }

    /// A pass if there is one now. Slots take turns: what one claims is memory that the next cannot offer.
    func take() async -> Piece? {
        let previous = turn
        let mine = Task {
            await previous?.value
            return await claim()
        }
        turn = Task { _ = await mine.value }
        return await mine.value
    }

    /// The pass is no longer worked on.
    func release(_ claim: Claim) {
        memory.release(claim.need)
        bell.ring()
    }

    /// Where the failure was this host's, claims nothing until its cause is gone: a full disk has more room, or a minute
    /// has passed, since the room that a quota leaves cannot be seen; the store can be written, should that be it.
    ///
    /// - Parameter job: whose pass or probe it was.
    func heed(_ failure: ReelFailure, in job: JobID) {
        if failure.cause == .noSpace {
            full = (freeSpace, .now)
            condition.setFull([store.root, scratch])
        }
        if failure.owner == .host { doubtsStore = true }
        if failure.reason.isOfStore {
            barred[job, default: 0] += 1
            // What comes again and again while the store can be written is that job's folder.
            if barred[job, default: 0] <= Self.patience { missed.insert(job) }
        }
    }

    /// So often this worker comes back to a job.
    private static let patience = 5

    private func claim() async -> Piece? {
        guard !drain.isOn, memory.free > 0, hasSpace(), hasStore() else { return nil }
        await comeBack()
        let offer = WorkerOffer(
            worker: worker, memoryFree: memory.free, encoders: identity.encoders, protocolVersion: Wire.version)
        do {
            let claim = try await board.claim(offer)
            outage.over()
            guard let claim else { return nil }
            do throws(ReelFailure) {
                guard let piece = try await piece(claim) else { return nil }
                memory.reserve(claim.need)
                return piece
            } catch {
                log.error("cannot work on job \(claim.job): \(error.words)")
                heed(error, in: claim.job)
                _ = try await board.fail(claim, worker: worker, failure: error)
                return nil
            }
        } catch {
            _ = outage.pause(after: error)
            return nil
        }
    }

    /// What the claim is for; nil where the store says that there is nothing to do.
    private func piece(_ claim: Claim) async throws(ReelFailure) -> Piece? {
        let record = try store.job(claim.job).read()
        guard try await !settle(claim, by: record) else { return nil }
        if claim.pass == .probe { return .probe(claim) }
        let context = try context(of: claim, record)
        try context.takeOver(claim.pass)
        return .pass(Assignment(claim: claim, context: context))
    }

    /// People's word stands in the store before the board has it, and Redis may have lost its last writes: a job that was
    /// cancelled or is held back is so on the board, too. Whether that is the case.
    private func settle(_ claim: Claim, by record: JobRecord) async throws(ReelFailure) -> Bool {
        if record.state == .cancelled {
            log.notice("job \(claim.job) was cancelled, and the board had lost that")
            return try await board.cancel(claim.job)
        }
        // A plan is made all the same: its passes are held back then.
        guard record.paused, claim.pass != .probe else { return false }
        log.notice("job \(claim.job) is held back, and the board had lost that")
        _ = try await board.pause(claim.job)
        try await board.release(claim)
        return true
    }

    private func context(of claim: Claim, _ record: JobRecord) throws(ReelFailure) -> JobContext {
        if let known = contexts[claim.job], known.describes(record, plan: claim.plan) { return known }
        let context = try JobContext(record, plan: claim.plan, in: store)
        let passes = context.plan.passes + [.assembly]
        guard passes.indices.contains(claim.index), passes[claim.index] == claim.pass else {
            throw ReelFailure(.planDiffers(job: claim.job, plan: claim.plan, store: store.root))
        }
        // Plans of long films are large, and a worker seldom has more than a few jobs at once.
        if contexts.count >= 8 { contexts = [:] }
        contexts[claim.job] = context
        return context
    }

    /// Rings when the board hints at work, or after a second: a lost hint costs no more than that.
    private func listen() {
        guard !listening else { return }
        listening = true
        Task {
            do throws(ReelFailure) {
                try await waiting.waitForWork(seconds: 1)
            } catch {
                try? await Task.sleep(for: outage.pause(after: error))
            }
            listening = false
            bell.ring()
        }
    }

    private func hasSpace() -> Bool {
        guard let full else { return true }
        let room: Int64 = 64 << 20
        guard freeSpace >= full.free + room || full.since.duration(to: .now) > .seconds(60) else { return false }
        log.notice("tries whether the disk of \(store.root) or \(scratch) has room again")
        self.full = nil
        condition.setFull(nil)
        return true
    }

    /// Has jobs take this worker again that excluded it since something in the store could not be used.
    private func comeBack() async {
        guard !missed.isEmpty else { return }
        do throws(ReelFailure) {
            if try await board.readmit(worker, to: Array(missed)) > 0 { log.notice("comes back to jobs of the store") }
            missed = []
        } catch {
            log.warning("\(error.words)")
        }
    }

    private func hasStore() -> Bool {
        guard doubtsStore else { return true }
        do throws(ReelFailure) {
            try store.tryWorking()
            doubtsStore = false
            if condition.setStoreFailure(nil) { log.notice("the store can be written again") }
        } catch {
            if condition.setStoreFailure(error) { log.error("claims nothing: \(error.words)") }
        }
        return !doubtsStore
    }

    /// Bytes, where there are fewest of them.
    private var freeSpace: Int64 {
        [store.root, scratch].map { folder in
            let attributes = try? FileManager.default.attributesOfFileSystem(forPath: folder)
            return (attributes?[.systemFreeSize] as? NSNumber)?.int64Value ?? 0
        }.min() ?? 0
    }
}
