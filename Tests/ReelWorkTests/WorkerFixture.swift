import Foundation
import ReelBoardModel
import ReelCore
import ReelEngine
import ReelJobs
import ReelMemoryStore
import ReelQueue
import ReelStore
import ReelWork
import Synchronization
import Testing

/// The roles of one worker, over a model of the board, a store in memory or in a temporary folder, and engines that
/// answer in this process.
struct WorkerFixture: Sendable {
    let folder: String
    let store: any JobStore
    let board: ModelBoard
    let engines: FakeEngines
    let clock: ManualClock
    let log = LogRecorder()
    let environment: WorkerEnvironment
    let claimer: Claimer
    /// Those of all workers of the farm.
    private let drains: Drains

    static let memory: Int64 = 64 << 30
    /// Of each source.
    static let frames = 40
    /// Of a job: each has ten frames.
    static let passes = 4
    static let grace = Duration.seconds(25)

    /// Where the store is.
    enum StoreKind { case memory, folder }

    init(_ kind: StoreKind, memory: Int64, quotas: Quotas, clockRunsFreely: Bool) async throws {
        let folder = NSTemporaryDirectory() + "reel-work-tests-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder + "/scratch", withIntermediateDirectories: true)
        try Data(repeating: 7, count: 8000).write(to: URL(filePath: folder + "/film.mkv"))
        let store: any JobStore =
            switch kind {
            case .memory: try MemoryStore()
            case .folder: try FolderStore.make(root: folder + "/store")
            }
        _ = try await store.establish()
        try await self.init(
            folder: folder, store: store, board: ModelBoard(), engines: FakeEngines(scratch: folder + "/scratch"),
            drains: Drains(), name: "w1", memory: memory, quotas: quotas, clockRunsFreely: clockRunsFreely)
    }

    private init(
        folder: String, store: any JobStore, board: ModelBoard, engines: FakeEngines, drains: Drains, name: String,
        memory: Int64, quotas: Quotas, clockRunsFreely: Bool
    ) async throws {
        self.folder = folder
        self.store = store
        self.board = board
        self.engines = engines
        self.drains = drains
        clock = ManualClock(runsFreely: clockRunsFreely)
        environment = WorkerEnvironment(
            worker: WorkerID(name), board: board, store: store, engines: engines, scratch: folder + "/scratch",
            quotas: quotas, grace: WorkerFixture.grace, clock: clock.clock, log: log.logger)
        claimer = Claimer(environment, identity: FakeEngines.identity, waiting: board, memoryTotal: memory)
        drains.add(environment.drain)
        try await board.register(environment.worker, host: "host of \(name)", memory: memory)
    }

    /// Another worker of the same farm, on a host of its own.
    func another(
        _ name: String, memory: Int64 = memory, quotas: Quotas = Quotas(), clockRunsFreely: Bool = false
    ) async throws -> WorkerFixture {
        try await WorkerFixture(
            folder: folder, store: store, board: board, engines: engines, drains: drains, name: name,
            memory: memory, quotas: quotas, clockRunsFreely: clockRunsFreely)
    }

    var worker: WorkerID { environment.worker }
    var source: String { folder + "/film.mkv" }

    /// Ends what a test that failed has left running, too.
    func end() async {
        drains.stopAll()
        clock.advance(by: .seconds(1 << 30))
        engines.letGo()
        await board.close()
        try? FileManager.default.removeItem(atPath: folder)
    }
}

/// Runs a test's body with a worker.
func withWorker(
    store kind: WorkerFixture.StoreKind = .memory, memory: Int64 = WorkerFixture.memory,
    quotas: Quotas = Quotas(), clockRunsFreely: Bool = false, _ body: (WorkerFixture) async throws -> Void
) async throws {
    let fixture = try await WorkerFixture(
        kind, memory: memory, quotas: quotas, clockRunsFreely: clockRunsFreely)
    do {
        try await body(fixture)
    } catch {
        await fixture.end()
        throw error
    }
    await fixture.end()
}

/// Waits until a condition holds. The limit only tells a hang: how fast the machine is decides no test.
func until(sourceLocation: SourceLocation = #_sourceLocation, _ condition: () async throws -> Bool) async throws {
    let deadline = ContinuousClock.now + .seconds(180)
    while try await !condition() {
        try #require(ContinuousClock.now < deadline, "timed out", sourceLocation: sourceLocation)
        try await Task.sleep(for: .milliseconds(1))
    }
}

// MARK: Jobs

extension WorkerFixture {
    var planning: Planning { Planning(store: store, engine: engines, capacity: Capacity(slots: 2)) }

    /// A job of the source: another for each value.
    func record(quality: Double = 20) throws -> JobRecord {
        try JobRecord(submitting: [source], spec: JobSpec(container: .mkv, crf: quality, passFrames: 10))
    }

    /// Plans a job and puts it on the board.
    func publish(quality: Double = 20) async throws -> StoredJob {
        let job = try await planning.planAlone(try record(quality: quality), anew: false)
        try await publish(job)
        return job
    }

    /// Puts a planned job on the board.
    func publish(_ job: StoredJob) async throws {
        guard case .begun(let claim) = try await board.begin(job.record.beginning, holder: WorkerID("submit")) else {
            throw ReelFailure(.probeLost(job: job.id))
        }
        _ = try await planning.plan(claim, on: board)
    }

    /// Writes the record of a job, and puts the job on the board with a probe that no process holds.
    func begin(quality: Double = 20) async throws -> JobRecord {
        let record = try record(quality: quality)
        try await board.release(try await holdProbe(record))
        return record
    }

    /// Writes the record of a job, and leases its probe to the caller.
    func holdProbe(_ record: JobRecord) async throws -> Claim {
        _ = try await store.job(record.id).create(record)
        guard case .begun(let claim) = try await board.begin(record.beginning, holder: WorkerID("c1")) else {
            throw ReelFailure(.probeLost(job: record.id))
        }
        return claim
    }

    func status(_ job: JobID) async throws -> JobStatus { try #require(try await board.status(job)) }

    /// Passes of a job that are held now.
    func held(_ job: JobID) async throws -> [Int] { try await board.live(job).keys.sorted() }
}

// MARK: Working

extension WorkerFixture {
    /// Starts slots; they end when the worker drains.
    func start(slots: Int = 1) -> RunningSlots { RunningSlots(slots, environment, claimer) }

    /// Runs slots until a condition holds, then ends the worker at once.
    func work(
        slots: Int = 1, sourceLocation: SourceLocation = #_sourceLocation, until condition: () async throws -> Bool
    ) async throws {
        let running = start(slots: slots)
        do {
            try await ReelWorkTests.until(sourceLocation: sourceLocation, condition)
        } catch {
            environment.drain.stopNow()
            throw error
        }
        environment.drain.stopNow()
        try await running.end(sourceLocation: sourceLocation)
    }

    /// Runs slots until a job has ended, and the worker has done what follows from that.
    func workToEnd(of job: JobID, slots: Int = 1, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        try await work(slots: slots, sourceLocation: sourceLocation) {
            try await board.state(of: job)?.isTerminal ?? true && environment.passes.report.isEmpty
        }
    }

    var heartbeat: Heartbeat {
        Heartbeat(environment, board: board, interval: .seconds(5)) { [environment] in
            WorkerReport(
                worker: environment.worker, host: "host of \(environment.worker)", slots: 1,
                slotsOut: environment.notes.slotsOut, memoryTotal: WorkerFixture.memory,
                encoders: FakeEngines.identity.encoders, protocolVersion: Wire.version,
                notes: environment.notes.diagnostics, held: environment.passes.report)
        }
    }
}

extension EngineRequest {
    /// The pass's place in the plan; nil for requests that are of no pass.
    var pass: Int? {
        switch self {
        case .reverse(let request), .reverseAudio(let request): request.pass
        case .recon, .choose, .assemble, .pictures: nil
        }
    }
}

extension ReelFailure {
    static func of(_ cause: FailureCause) -> ReelFailure {
        switch cause {
        case .transient: ReelFailure(.unexpected(said: "it broke"))
        case .crash: FakeEngines.crash
        case .lost: ReelFailure(.workerVanished(worker: "w9"))
        case .limit: ReelFailure(.outOfMemory(step: .encode, subject: nil))
        case .incompatible: ReelFailure(.encoderMissing(build: "another"))
        case .noSpace: ReelFailure(.diskFull(path: nil))
        case .permanent: ReelFailure(.notMedia(path: "film.mkv"))
        }
    }
}

/// Slots that a test has started.
final class RunningSlots: Sendable {
    private let running: Atomic<Int>

    fileprivate init(_ count: Int, _ environment: WorkerEnvironment, _ claimer: Claimer) {
        running = Atomic(count)
        for _ in 0..<count {
            Task {
                await Slot(environment, claimer: claimer).run()
                running.subtract(1, ordering: .acquiringAndReleasing)
            }
        }
    }

    /// Waits until all have ended.
    func end(sourceLocation: SourceLocation = #_sourceLocation) async throws {
        try await until(sourceLocation: sourceLocation) { running.load(ordering: .acquiring) == 0 }
    }
}

/// The drains of all workers of a test.
private final class Drains: Sendable {
    private let drains = Mutex<[Drain]>([])

    func add(_ drain: Drain) { drains.withLock { $0.append(drain) } }

    func stopAll() {
        for drain in drains.withLock(\.self) { drain.stopNow() }
    }
}

/// Says yes once.
final class Once: Sendable {
    private let isTaken = Atomic(false)

    func take() -> Bool { !isTaken.exchange(true, ordering: .acquiringAndReleasing) }
}

/// Counts calls.
final class Counter: Sendable {
    private let calls = Atomic(0)

    func count() { calls.add(1, ordering: .acquiringAndReleasing) }

    var total: Int { calls.load(ordering: .acquiring) }
}
