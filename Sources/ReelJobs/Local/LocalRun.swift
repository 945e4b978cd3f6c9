public import ReelCore
internal import ReelEngine
internal import ReelQueue
public import ReelStore
internal import Synchronization

/// Reverses one video on this machine, with a Redis and a worker of its own and a store beside the output.
///
/// A failed run leaves only files from which another run of the same job can resume.
public struct LocalRun: Sendable {
    /// The progress of a run.
    public enum Step: Sendable {
        /// How much of the source has been read, from 0 to 1.
        case reading(Double)
        /// The job is planned, and goes on by the plan of an earlier run.
        case continued
        /// The job as it is now; the last time with all diagnostics, before the result is delivered.
        case progress(JobView)
        /// After a failure, the job's files could not be removed.
        case notRemoved(ReelFailure)
    }

    private let job: JobRecord
    private let destination: Destination
    private let programs: Programs
    private let slots: Int
    private let memoryTotal: Int64
    private let memoryIsLimited: Bool
    private let sandbox: SandboxMode
    private let anew: Bool

    /// A run of one job.
    ///
    /// - Parameters:
    ///   - job: from `JobRecord.init(submitting:spec:terms:stages:)`.
    ///   - destination: where the result goes. The store is in the same folder.
    ///   - programs: where engine and worker are.
    ///   - slots: passes at once, at most.
    ///   - memoryTotal: bytes that all passes may take together.
    ///   - memoryIsLimited: whether a user chose the total. If not, a pass that needs more takes it.
    ///   - sandbox: whether engines must be confined.
    ///   - anew: remove first the files that an earlier run left.
    public init(
        _ job: JobRecord, to destination: Destination, programs: Programs, slots: Int, memoryTotal: Int64,
        memoryIsLimited: Bool, sandbox: SandboxMode, anew: Bool
    ) {
        self.job = job
        self.destination = destination
        self.programs = programs
        self.slots = slots
        self.memoryTotal = memoryTotal
        self.memoryIsLimited = memoryIsLimited
        self.sandbox = sandbox
        self.anew = anew
    }

    /// Reverses the video and delivers the result.
    ///
    /// Throws `.runStopped` if the same run may succeed later: finished passes are kept for it. Throws `.workspaceUnusable` if
    /// the store cannot be made or its disk is full, and what reading, reversing and delivering throw.
    public func run(_ told: @escaping @Sendable (Step) -> Void) async throws(ReelFailure) -> JobView {
        let workspace: Workspace
        let store: FolderStore
        do {
            workspace = try Workspace.beside(destination.path)
            store = try FolderStore.make(root: workspace.path)
        } catch {
            throw ReelFailure(.workspaceUnusable(last: error))
        }
        // By then the job's lock, which is a file in the store, has been let go.
        defer { store.removeIfEmpty() }
        do throws(ReelFailure) {
            return try await run(in: store, workspace, told)
        } catch  where error.kind == .unreachable && error.cause == .noSpace {
            // The store is beside the output.
            throw ReelFailure(.workspaceUnusable(last: error))
        }
    }

    private func run(
        in store: FolderStore, _ workspace: Workspace, _ told: @escaping @Sendable (Step) -> Void
    ) async throws(ReelFailure) -> JobView {
        // The job is locked until it is delivered, or its remaining files are in order.
        let held = Mutex<(job: JobFolder, lock: JobLock)?>(nil)
        do throws(ReelFailure) {
            // Redis and a worker take about as long to start as recon takes.
            let (folder, view) = try await cluster(memoryTotal, store).with { redis in
                let probe = Probe(
                    store: store, engine: EngineHost(executable: try programs.path("reel-engine"), sandbox: sandbox),
                    capacity: Capacity(slots: slots, memoryTotal: memoryTotal, isLimit: memoryIsLimited),
                    reading: { told(.reading($0)) })
                let folder = store.job(job.id)
                let lock = try folder.lock()
                held.withLock { $0 = (folder, lock) }
                let stored = try await probe.planAlone(job, anew: anew)
                if stored.hadPlan { told(.continued) }
                return (folder, try await finish(stored, in: store, redis, told))
            }
            try Delivery.move(
                folder.storedResult(), outOf: workspace, to: destination.path, overwrite: destination.overwrite)
            try folder.remove()
            store.removeUnusedSources()
            return view
        } catch {
            guard let folder = held.withLock({ $0?.job }) else { throw error }
            guard !LocalRun.mayPass(error) else { throw ReelFailure(.runStopped(last: error)) }
            do throws(ReelFailure) {
                try folder.remove()
                store.removeUnusedSources()
            } catch {
                told(.notRemoved(error))
            }
            throw error
        }
    }

    private func cluster(_ memoryTotal: Int64, _ store: FolderStore) -> LocalCluster {
        LocalCluster(
            programs: programs, store: store.root, slots: slots, memoryTotal: memoryTotal, sandbox: sandbox)
    }

    /// Has the job done, unless an earlier run did all of it and could not deliver.
    private func finish(
        _ stored: StoredJob, in store: FolderStore, _ redis: @Sendable () async throws -> RedisAddress,
        _ told: @escaping @Sendable (Step) -> Void
    ) async throws -> JobView {
        if await stored.result != nil, let view = try await JobView(stored.entry) {
            return view.delivered(to: destination.path)
        }
        guard stored.plan.need > memoryTotal else { return try await follow(stored, in: store, at: redis(), told) }
        // No user limits the memory, and a pass needs more than the usual total: only a worker that has as much can do it.
        return try await cluster(stored.plan.need, store).with { redis in
            try await follow(stored, in: store, at: redis(), told)
        }
    }

    /// Publishes the job, and waits until it ends.
    private func follow(
        _ stored: StoredJob, in store: FolderStore, at redis: RedisAddress, _ told: @Sendable (Step) -> Void
    ) async throws(ReelFailure) -> JobView {
        let board = RedisBoard(redis, name: "reel-coordinator-run")
        guard case .begun(let claim) = try await board.begin(stored.beginning, holder: WorkerID("submit")) else {
            throw ReelFailure(.probeLost(job: stored.id))
        }
        try await stored.publish(on: board, claim, stored.finished(in: stored.indexes(in: store)))
        var sight = ClipSight(stored.entry, on: board)
        let status = try await Follow(stored.id, on: board, patience: .seconds(15)).untilEnd {
            status async throws(ReelFailure) in
            // No other host could have room.
            if let note = status.spaceNote { throw ReelFailure(.workspaceUnusable(last: note.reason)) }
            var view = JobView(status, output: nil)
            view.clips = await sight.clips(of: status)
            told(.progress(view))
        }
        if let failure = status.endingFailure { throw failure }
        let diagnostics = try await board.passDiagnostics(stored.id)
        let view = await JobView(status, output: stored.entry.result, found: diagnostics).delivered(
            to: destination.path)
        told(.progress(view))
        return view
    }

    /// Whether the same run may succeed later: neither the request nor the source is at fault, but this machine, or something
    /// that passes, such as a source that was out of reach for a moment.
    private static func mayPass(_ failure: ReelFailure) -> Bool {
        switch failure.reason {
        case .passExhausted(_, _, let last), .noWorkerCan(_, let last): return mayPass(last)
        case .sourceOutOfReach: return true
        default: break
        }
        switch failure.kind {
        case .unreachable, .output, .interrupted: return true
        case .job, .usage, .input: return failure.cause == .transient
        }
    }
}
