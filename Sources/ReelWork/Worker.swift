internal import Foundation
package import Logging
package import ReelCore
package import ReelEngine
package import ReelHost
internal import ReelJobs
package import ReelQueue
package import ReelStore
internal import ReelWords
internal import ServiceLifecycle

/// A stateless process that claims passes and has engines do them. After a graceful shutdown it finishes what it can in
/// time. Cancelling its task ends it at once, and hands back the passes that it holds.
package final class Worker: Service {
    private let boards: BoardConnections
    private let settings: WorkerSettings
    private let manager: ServiceManager?
    private let environment: WorkerEnvironment
    private let host = ProcessInfo.processInfo.hostName
    private let started = ContinuousClock.now

    private var id: WorkerID { environment.worker }
    private var log: Logger { environment.log }

    /// - Parameter manager: is told when the worker is ready, that it is alive, and when it ends; nil for none.
    package init(
        boards: BoardConnections, store: any JobStore, engines: any EngineRunner, settings: WorkerSettings,
        manager: ServiceManager? = nil, log: Logger
    ) {
        self.boards = boards
        self.settings = settings
        self.manager = manager
        let random = String(UInt32.random(in: .min ... .max), radix: 16)
        let id = WorkerID("\(host)-\(ProcessInfo.processInfo.processIdentifier)-\(random)")
        environment = WorkerEnvironment(
            worker: id, board: boards.board(named: "\(id)-claims"), store: store, engines: engines,
            scratch: settings.scratch, quotas: settings.quotas, grace: settings.grace, log: log)
    }

    /// Works until shut down. Throws if no engine can be started.
    package func run() async throws {
        // A task of its own: held passes must be handed back even if this one is cancelled.
        let work = Task { try await self.work() }
        try await withTaskCancellationHandler {
            try await withGracefulShutdownHandler {
                try await work.value
            } onGracefulShutdown: {
                self.manager?.tell(.stopping)
                self.environment.drain.begin()
            }
        } onCancel: {
            environment.drain.stopNow()
        }
    }

    /// How the worker is now, also before it runs and after it has ended.
    package var health: WorkerHealth { environment.health(slots: settings.slots, memoryTotal: settings.memoryTotal) }

    /// Hands back at once the passes that a graceful shutdown lets go on.
    package func endNow() { environment.drain.stopNow() }

    private func work() async throws(ReelFailure) {
        let watching = Task { [environment, settings] in
            await StoreWatch(environment).run(every: environment.pause(settings.reap))
        }
        defer { watching.cancel() }
        let identity = try await ReelFailure.unifying {
            try await environment.engines.withEngine(memory: nil, scope: .nothing) { engine in engine.identity }
        }
        guard try await waitForRedis(as: identity) else { return }
        let heartbeat = Heartbeat(
            environment, board: boards.board(named: "\(id)-beat"), interval: settings.beat, manager: manager,
            report: { self.report(identity) })
        let beating = Task { await heartbeat.run() }
        manager?.tell(.ready)
        manager?.tell(.status("works, slots: \(settings.slots)"))
        let caring = Task { [environment, settings] in
            await withTaskGroup { group in
                group.addTask { await Reaper(environment).run(every: settings.reap) }
                group.addTask { await Auditor(environment).run(every: settings.reap) }
                group.addTask { await Janitor(environment).run(every: environment.pause(settings.cleaning)) }
                if let interval = settings.registering {
                    group.addTask { await Registrar(environment).run(every: environment.pause(interval)) }
                }
                group.addTask { await self.warnOfNeighbours() }
            }
        }
        let slots = Wording.count(settings.slots, "slot")
        log.info("\(id) works with \(slots) and \(ByteSize(bytes: settings.memoryTotal))")
        log.log(level: identity.sandbox.missing.isEmpty ? .info : .warning, "\(identity.sandbox.words)")
        await runSlots(identity)
        caring.cancel()
        beating.cancel()
        await beating.value
        log.info("\(id) ends")
    }

    private func runSlots(_ identity: EngineIdentity) async {
        let claimer = Claimer(
            environment, identity: identity, waiting: boards.board(named: "\(id)-waits"),
            memoryTotal: settings.memoryTotal)
        await withTaskGroup { group in
            for _ in 0..<settings.slots {
                let slot = Slot(environment, claimer: claimer)
                group.addTask { await slot.run() }
            }
        }
        // A worker whose slots all claim nothing stays, so that people see it.
        while true {
            let count = environment.signal.count
            if environment.drain.isOn { return }
            await environment.signal.wait(after: count)
        }
    }

    /// Warns if the workers of this host may take more memory together than it has: each takes its share of the whole.
    /// Looks until it has warned once, since another worker may begin to beat later than this one.
    private func warnOfNeighbours() async {
        repeat {
            if await hasWarnedOfNeighbours() { return }
        } while await environment.clock.sleep(for: settings.reap)
    }

    private func hasWarnedOfNeighbours() async -> Bool {
        guard let workers = try? await environment.board.workers() else { return false }
        let neighbours = workers.filter { !$0.isGone && $0.report.host == host && $0.report.worker != id }
        let all = neighbours.reduce(settings.memoryTotal) { $0 + $1.report.memoryTotal }
        guard !neighbours.isEmpty, all > HostMemory.machine else { return false }
        log.warning(
            """
            the \(neighbours.count + 1) workers of this host may take \(ByteSize(bytes: all)), and it has \
            \(ByteSize(bytes: HostMemory.machine)): give each a part of it
            """)
        return true
    }

    private func report(_ identity: EngineIdentity) -> WorkerReport {
        let notes = environment.notes
        return WorkerReport(
            worker: id, host: host, slots: settings.slots, slotsOut: notes.slotsOut, memoryTotal: settings.memoryTotal,
            encoders: identity.encoders, protocolVersion: Wire.version, version: Release.version,
            store: environment.store.name, uptime: ((ContinuousClock.now - started) / .seconds(1)).rounded(.down),
            sandbox: identity.sandbox, sourceRoots: settings.sourceRoots, notes: notes.diagnostics,
            held: environment.passes.report)
    }

    /// Returns false if the worker was told to end before Redis answered. Throws if Redis refuses for good.
    private func waitForRedis(as identity: EngineIdentity) async throws(ReelFailure) -> Bool {
        let (board, store) = (environment.board, environment.store)
        var backoff = RetryBackoff(log: log)
        while !environment.drain.isOn {
            environment.notes.giveSign()
            do throws(ReelFailure) {
                // A worker must not work at a board of another version or of another store: these calls show that.
                try await store.join(board)
                environment.heed(try await board.beat(report(identity)).drained)
                environment.notes.setRedis(isUp: true)
                try await store.tryWorking()
                // This call shows whether Redis lets its user do what a worker does.
                try await board.checkWorker()
                for warning in try await board.diagnostics() { log.warning("\(warning.words)") }
                backoff.reset()
                environment.notes.begin()
                return true
            } catch {
                if case .redisUnreachable = error.reason { environment.notes.setRedis(isUp: false) }
                guard error.cause == .transient else { throw error }
                manager?.tell(.status("waits for Redis and the store: \(error.words)"))
                _ = await environment.drain.staysOff(for: backoff.delay(after: error))
            }
        }
        return false
    }
}

package struct WorkerEnvironment: Sendable {
    package let worker: WorkerID
    /// The board on which passes are claimed and reported. The roles that wait, or must not be delayed, have others.
    package let board: any Board
    package let store: any JobStore
    package let engines: any EngineRunner
    /// The folder for what engines spill, perhaps on another disk than the store.
    package let scratch: String
    package let quotas: Quotas
    package let clock: WorkerClock
    package let log: Logger
    package let passes = ActivePasses()
    /// Is sent when there may be something to claim, and when the worker begins to end or is drained.
    package let signal = AsyncSignal()
    package let notes: WorkerNotes
    package let drain: Drain

    /// - Parameter grace: how long passes may go on when the worker ends.
    package init(
        worker: WorkerID, board: any Board, store: any JobStore, engines: any EngineRunner, scratch: String,
        quotas: Quotas = Quotas(), grace: Duration, clock: WorkerClock = .continuous, log: Logger
    ) {
        self.worker = worker
        self.board = board
        self.store = store
        self.engines = engines
        self.scratch = scratch
        self.quotas = quotas
        self.clock = clock
        self.log = log
        notes = WorkerNotes(clock: clock)
        drain = Drain(grace: grace, passes: passes, signal: signal, clock: clock)
    }

    /// From one look at the store to the next: looks at a store that counts calls are rare.
    func pause(_ usual: Duration) -> Duration { store.isMetered ? max(usual, .seconds(600)) : usual }

    /// Heeds what the board says that a user has drained, and logs each change.
    package func heed(_ drained: DrainScope?) {
        guard drain.heed(drained) else { return }
        switch drained {
        case .worker: log.notice("claims nothing: this worker is drained")
        case .host: log.notice("claims nothing: its host is drained")
        case nil: log.notice("claims again: it is no longer drained")
        }
    }
}

package struct WorkerSettings: Sendable {
    package var slots: Int
    /// Bytes that all passes together may take.
    package var memoryTotal: Int64
    package var scratch: String
    /// The folders from which the worker takes sources, as its engines have been told; nil for any.
    package var sourceRoots: SourceRoots?
    package var quotas = Quotas()
    /// How long passes may go on when the worker is told to end.
    package var grace = Duration.seconds(25)
    /// From one beat to the next; the board's lease is a multiple of it.
    package var beat = BoardTiming().beat
    /// From one look for expired leases, or for a Redis that was started anew, to the next.
    package var reap = BoardTiming().reap
    /// From one look for jobs whose retention is over to the next.
    package var cleaning = Duration.seconds(600)
    /// From one look for jobs that the board has lost to the next; nil to look for none.
    package var registering: Duration? = BoardTiming().registering

    package init(slots: Int, memoryTotal: Int64, scratch: String) {
        (self.slots, self.memoryTotal, self.scratch) = (slots, memoryTotal, scratch)
    }
}
