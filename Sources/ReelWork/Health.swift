internal import Foundation
internal import Logging
package import ReelCore
package import ReelQueue
internal import ReelStore
internal import ReelWords
internal import Synchronization

/// How a worker is, for programs that watch it.
package struct WorkerHealth: Hashable, Sendable {
    package enum Obstacle: String, CaseIterable, Sendable {
        case starting
        case ending
        case drained
        /// Redis did not answer its last beat.
        case redisUnreachable = "redis-unreachable"
        /// The store is not at its place, or could not be written.
        case storeUnusable = "store-unusable"
        /// The disk of the store or of the scratch folder was full, and has no more room yet.
        case diskFull = "disk-full"
        /// All of its slots are out, since their engines crashed in one job after another.
        case slotsOut = "slots-out"
    }

    /// Whether its loop runs: it beats, or looks for Redis and the store.
    package var isAlive: Bool
    /// Everything that keeps it from taking work; empty if it takes some.
    package var obstacles: [Obstacle]
    package var slots: BoardFigures.Slots
    /// Bytes that all passes together may take.
    package var memoryTotal: Int64
    package var isRedisUp: Bool
    /// Whether the store was at its place at the last look, and could be written when the worker last had doubts.
    package var isStoreUp: Bool
    /// Room in the store; nil if it has no limit or is unknown.
    package var storeFreeBytes: Int64?
    /// Counter: attempts at passes, assemblies and planning since the worker started, by outcome. All outcomes are
    /// there. An attempt whose job was cancelled, or of whose end Redis could not be told, is in none.
    package var attempts: [BoardFigures.Attempt: Int]
}

extension WorkerEnvironment {
    package func health(slots: Int, memoryTotal: Int64) -> WorkerHealth {
        let (state, room) = (notes.state.withLock(\.self), notes.store)
        let isStoreUp = room != nil && state.storeFailure == nil
        let slotsOut = min(state.slotsOut, slots)
        let holding: [(WorkerHealth.Obstacle, Bool)] = [
            (.starting, !state.hasBegun), (.ending, drain.isOn), (.drained, drain.byUser != nil),
            (.redisUnreachable, !state.isRedisUp), (.storeUnusable, !isStoreUp), (.diskFull, state.full != nil),
            (.slotsOut, slotsOut == slots),
        ]
        let busy = min(passes.count, slots - slotsOut)
        let idle = slots - slotsOut - busy
        let isDrained = drain.isOn || drain.byUser != nil
        return WorkerHealth(
            isAlive: notes.isAlive, obstacles: holding.filter(\.1).map(\.0),
            slots: BoardFigures.Slots(
                busy: busy, free: isDrained ? 0 : idle, out: slotsOut, drained: isDrained ? idle : 0),
            memoryTotal: memoryTotal, isRedisUp: state.isRedisUp, isStoreUp: isStoreUp, storeFreeBytes: room?.freeBytes,
            attempts: Dictionary(uniqueKeysWithValues: BoardFigures.Attempt.allCases.map { ($0, 0) })
                .merging(state.attempts) { $1 })
    }
}

/// What a worker notes about itself: what keeps it from working as much as it could, which its beats tell people, and
/// for monitoring alone that its loop runs, whether Redis and the store are there, and how attempts end.
package final class WorkerNotes: Sendable {
    /// Of a store that is at its place.
    package struct Room: Sendable {
        /// Nil if it has no limit or is unknown.
        package var freeBytes: Int64?
    }

    fileprivate struct State {
        var sign: Duration?
        var hasBegun = false
        var isRedisUp = false
        var store: (room: Room, seen: Duration)?
        var attempts: [BoardFigures.Attempt: Int] = [:]
        var full: [String]?
        var slotsOut = 0
        var storeFailure: ReelFailure?
        var clockOffset = 0
    }

    /// Without a sign for that long, the loop or the store hangs. A service manager waits as long (`WatchdogSec=`).
    private static let patience = Duration.seconds(60)

    fileprivate let state = Mutex(State())
    private let clock: WorkerClock

    package init(clock: WorkerClock) { self.clock = clock }

    package func giveSign() { state.withLock { $0.sign = clock.now } }

    /// Redis and the store were reached, so that the worker claims from now on.
    package func begin() { state.withLock { $0.hasBegun = true } }

    package func setRedis(isUp: Bool) { state.withLock { $0.isRedisUp = isUp } }

    /// Notes what a look at the store has found; nil if it is away.
    package func setStore(_ room: Room?) { state.withLock { $0.store = room.map { ($0, clock.now) } } }

    package func count(_ attempt: BoardFigures.Attempt) { state.withLock { $0.attempts[attempt, default: 0] += 1 } }

    /// Whether the loop has given a sign lately. One that has given none yet may still be starting.
    package var isAlive: Bool {
        state.withLock { state in state.sign.map { clock.now - $0 < WorkerNotes.patience } ?? true }
    }

    package var attempts: [BoardFigures.Attempt: Int] { state.withLock(\.attempts) }

    /// Nil if the store was away, or has not been seen lately.
    package var store: Room? {
        state.withLock { state in state.store.flatMap { clock.now - $0.seen < WorkerNotes.patience ? $0.room : nil } }
    }

    /// Notes folders one of whose disks is full; nil when there is room again.
    package func setFull(_ folders: [String]?) { state.withLock { $0.full = folders } }

    package func slotLeaves() { state.withLock { $0.slotsOut += 1 } }

    package func slotReturns() { state.withLock { $0.slotsOut -= 1 } }

    /// Notes why the store cannot be written; nil when it can be again. Returns whether that is a change.
    package func setStoreFailure(_ failure: ReelFailure?) -> Bool {
        state.withLock { state in
            defer { state.storeFailure = failure }
            return state.storeFailure != failure
        }
    }

    /// Notes by how much the two clocks differ, if that is more than a minute.
    package func setClocks(_ clocks: Clocks) {
        // A clock that is set wrong may be beyond what an integer holds.
        let offset = Int(exactly: (clocks.host - clocks.board).rounded()) ?? 0
        state.withLock { $0.clockOffset = offset.magnitude > 60 ? offset : 0 }
    }

    package var slotsOut: Int { state.withLock(\.slotsOut) }

    package var diagnostics: [Diagnostic] {
        state.withLock { state in
            let full = state.full.map { Diagnostic.workerDiskFull(folders: $0) }
            let out =
                state.slotsOut > 0 ? Diagnostic.workerSlotsOut(slots: state.slotsOut, jobs: SlotHealth.jobsInARow) : nil
            let store = state.storeFailure.map { Diagnostic.workerStoreUnusable(last: $0) }
            let clock = state.clockOffset == 0 ? nil : Diagnostic.workerClockDiffers(seconds: state.clockOffset)
            return [full, out, store, clock].compactMap(\.self)
        }
    }
}

/// Whether a worker's host can do work: its disks have room, and the store can be written. While it cannot, the worker
/// claims nothing. It is the host of all slots; each has a `SlotHealth` of its own.
package actor HostHealth {
    private let environment: WorkerEnvironment
    /// Free bytes when a disk was full, and when that was; nil if none is.
    private var full: (free: Int64, since: Duration)?
    /// Whether a file of the store could not be used since the store was last seen to be writable.
    private var doubtsStore = false
    /// Jobs that exclude this worker because a file of the store could not be used, and how often that happened.
    private var barred: [JobID: Int] = [:]
    /// Those of them to which the worker returns when the store can be used.
    private var missed: Set<JobID> = []

    private var store: any JobStore { environment.store }

    init(_ environment: WorkerEnvironment) { self.environment = environment }

    /// Notes a failure. If it is this host's, the worker claims nothing until the cause is gone: until a full disk has
    /// more room, or for a minute, because the room that a quota leaves cannot be seen; until the store can be written.
    package func heed(_ failure: ReelFailure, in job: JobID) async {
        if failure.cause == .noSpace {
            full = (await freeSpace, environment.clock.now)
            environment.notes.setFull([store.name, environment.scratch])
        }
        if failure.owner == .host { doubtsStore = true }
        if failure.reason.isOfStore {
            barred[job, default: 0] += 1
            // If it happens again and again while the store can be written, the folder of that job is at fault.
            if barred[job, default: 0] <= HostHealth.patience { missed.insert(job) }
        }
    }

    /// So often a worker returns to a job that excluded it.
    private static let patience = 5

    /// Looks whether the causes of failures are gone. If so, jobs admit this worker again that excluded it because a
    /// file of the store could not be used.
    func admitsWork() async -> Bool {
        guard await hasSpace(), await hasStore() else { return false }
        await readmit()
        return true
    }

    private func hasSpace() async -> Bool {
        guard let full else { return true }
        let room: Int64 = 64 << 20
        let isRoom = await freeSpace >= full.free + room
        guard isRoom || environment.clock.now - full.since > BoardTiming().rest else { return false }
        environment.log.notice("tries whether the disk of \(store.name) or \(environment.scratch) has room again")
        self.full = nil
        environment.notes.setFull(nil)
        return true
    }

    private func hasStore() async -> Bool {
        guard doubtsStore else { return true }
        let (notes, log) = (environment.notes, environment.log)
        do throws(ReelFailure) {
            try await store.tryWorking()
            doubtsStore = false
            if notes.setStoreFailure(nil) { log.notice("the store can be written again") }
        } catch {
            if notes.setStoreFailure(error) { log.error("claims nothing: \(error.words)") }
        }
        return !doubtsStore
    }

    private func readmit() async {
        guard !missed.isEmpty else { return }
        do throws(ReelFailure) {
            if try await environment.board.readmit(environment.worker, to: Array(missed)) > 0 {
                environment.log.notice("comes back to jobs of the store")
            }
            missed = []
        } catch {
            environment.log.warning("\(error.words)")
        }
    }

    /// Free bytes of the store or of the scratch disk, whichever has fewer.
    private var freeSpace: Int64 {
        get async {
            let attributes = try? FileManager.default.attributesOfFileSystem(forPath: environment.scratch)
            let scratch = (attributes?[.systemFreeSize] as? NSNumber)?.int64Value ?? 0
            return min(await store.freeSpace ?? .max, scratch)
        }
    }
}
