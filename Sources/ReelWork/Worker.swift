internal import Foundation
public import Logging
internal import ReelCore
public import ReelEngine
internal import ReelJobs
public import ReelQueue
public import ReelStore
internal import ReelWords
public import ServiceLifecycle

/// How a worker works.
public struct WorkerSettings: Sendable {
    /// Passes at once, at most.
    public var slots: Int
    /// Bytes that all passes together may take.
    public var memoryTotal: Int64
    /// Folder for what engines spill.
    public var scratch: String
    /// How long passes may go on when the worker is told to end.
    public var grace: Duration
    /// From one beat to the next; the lease is a multiple of it.
    public var beat: Duration
    /// From one look for expired leases, or for a Redis that was started anew, to the next.
    public var reap: Duration
    /// From one look for jobs that were kept long enough to the next.
    public var cleaning: Duration

    public init(
        slots: Int, memoryTotal: Int64, scratch: String, grace: Duration = .seconds(25), beat: Duration = .seconds(5),
        reap: Duration = .seconds(3), cleaning: Duration = .seconds(600)
    ) {
        self.slots = slots
        self.memoryTotal = memoryTotal
        self.scratch = scratch
        self.grace = grace
        self.beat = beat
        self.reap = reap
        self.cleaning = cleaning
    }
}

/// A stateless process that claims passes and has engines do them. A graceful shutdown drains it; cancelling its task
/// ends it at once, and hands back what it holds.
public final class Worker: Service {
    private let boards: BoardConnections
    private let store: Store
    private let engine: any EngineRunner
    private let settings: WorkerSettings
    private let log: Logger
    private let holdings = Holdings()
    private let bell = Bell()
    private let drain: Drain
    private let condition = Condition()
    private let host = ProcessInfo.processInfo.hostName
    private let id: WorkerID

    public init(
        boards: BoardConnections, store: Store, engine: any EngineRunner, settings: WorkerSettings, log: Logger
    ) {
        self.boards = boards
        self.store = store
        self.engine = engine
        self.settings = settings
        self.log = log
        drain = Drain(grace: settings.grace, holdings: holdings, bell: bell)
        let random = String(UInt32.random(in: .min ... .max), radix: 16)
        id = WorkerID("\(host)-\(ProcessInfo.processInfo.processIdentifier)-\(random)")
    }

    /// Works until shut down. Throws where the engine cannot be started at all.
    public func run() async throws {
        // A task of its own: what is held must be handed back even when this one is cancelled.
        let work = Task { try await self.work() }
        try await withTaskCancellationHandler {
            try await withGracefulShutdownHandler {
                try await work.value
            } onGracefulShutdown: {
                self.drain.begin()
            }
        } onCancel: {
            drain.now()
        }
    }

    /// Hands back at once what a graceful shutdown lets go on.
    public func endNow() { drain.now() }

    private func work() async throws(ReelFailure) {
        let identity = try await ReelFailure.unifying {
            try await engine.withEngine(memory: nil) { session in session.identity }
        }
        let claims = boards.board(named: "\(id)-claims")
        guard try await waitForRedis(claims, as: identity) else { return }
        let heartbeat = Heartbeat(
            board: boards.board(named: "\(id)-beat"), worker: id, report: { self.report(identity) },
            interval: settings.beat, holdings: holdings, drain: drain, log: log)
        let reaper = Reaper(board: claims, interval: settings.reap, log: log)
        let auditor = Auditor(store: store, board: claims, interval: settings.reap, log: log)
        let janitor = Janitor(
            store: store, board: claims, interval: settings.cleaning, condition: condition, log: log)
        let beating = Task { await heartbeat.run() }
        let caring = Task {
            await withTaskGroup { group in
                group.addTask { await reaper.run() }
                group.addTask { await auditor.run() }
                group.addTask { await janitor.run() }
            }
        }
        log.info("\(id) works with \(settings.slots) slots and \(ByteSize(bytes: settings.memoryTotal))")
        await work(claims, identity)
        caring.cancel()
        beating.cancel()
        await beating.value
        log.info("\(id) ends")
    }

    private func work(_ claims: any Board, _ identity: EngineIdentity) async {
        let claimer = Claimer(
            worker: id, identity: identity, boards: (claims, boards.board(named: "\(id)-waits")), store: store,
            scratch: settings.scratch, memory: SlotMemory(total: settings.memoryTotal), bell: bell, drain: drain,
            condition: condition, log: log)
        await withTaskGroup { group in
            for _ in 0..<settings.slots {
                let slot = Slot(
                    worker: id, board: claims, engine: engine, claimer: claimer, holdings: holdings, drain: drain,
                    scratch: settings.scratch, condition: condition, log: log)
                group.addTask { await slot.run() }
            }
        }
        // A worker without a fit slot stays, so that people see it.
        while true {
            let rings = bell.rings
            if drain.isOn { return }
            await bell.wait(since: rings)
        }
    }

    private func report(_ identity: EngineIdentity) -> WorkerReport {
        WorkerReport(
            worker: id, host: host, slots: settings.slots, slotsOut: condition.slotsOut,
            memoryTotal: settings.memoryTotal, encoders: identity.encoders, protocolVersion: Wire.version,
            notes: condition.notes, held: holdings.report)
    }

    /// False where the worker was told to end before Redis answered. Throws where Redis refuses for good, a password for
    /// instance.
    private func waitForRedis(_ board: any Board, as identity: EngineIdentity) async throws(ReelFailure) -> Bool {
        var outage = Outage(log: log)
        while !drain.isOn {
            do throws(ReelFailure) {
                // A board of another version, or of another store, is no place to work at: that shows now.
                try await store.join(board)
                _ = try await board.beat(report(identity))
                try store.tryWorking()
                // So does a user that may not do what a worker does.
                try await board.checkWorker()
                for warning in try await board.diagnostics() { log.warning("\(warning.words)") }
                outage.over()
                return true
            } catch {
                guard error.cause == .transient else { throw error }
                let pause = outage.pause(after: error)
                let rings = bell.rings
                Task { [bell] in
                    try? await Task.sleep(for: pause)
                    bell.ring()
                }
                await bell.wait(since: rings)
            }
        }
        return false
    }
}
