internal import Foundation
package import ReelCore
package import ReelEngine
package import ReelHost
internal import ReelQueue
package import ReelStore

/// Reverses videos on this machine, with a store beside the outputs, which all go into the same folder. A small job is
/// done by one engine of this process, several at the same time. The others go one after the other through a Redis and a
/// worker of this run alone, which are started for the first of them.
///
/// A video that fails does not keep the others from being reversed. It leaves only files from which another run of the same
/// job can resume.
package struct LocalRun: Sendable {
    /// A video to reverse: its job, by `JobRecord.init(submitting:spec:terms:submission:within:stages:)`, and where the
    /// result goes.
    package typealias Request = (job: JobRecord, destination: Destination)

    /// The progress of a run.
    package enum Step: Sendable {
        /// Work on the video begins.
        case begun
        /// How much of the source has been read, from 0 to 1.
        case reading(Double)
        /// The job is planned, and goes on by the plan of an earlier run.
        case continued
        /// The job as it is now; the last time with all diagnostics, before the result is delivered.
        case progress(JobView)
        /// The result was delivered.
        case delivered(JobView)
        /// The job failed; `.runStopped` if the same run may succeed later, for which finished passes are kept.
        case failed(ReelFailure)
        /// The files of an ended job could not be removed.
        case notRemoved(ReelFailure)
    }

    let requests: [Request]
    let programs: Programs
    let slots: Int
    let memoryTotal: Int64
    let memoryIsLimited: Bool
    let sandbox: SandboxMode
    let remote: (any RemoteSources)?
    let anew: Bool

    /// A run of several jobs.
    ///
    /// - Parameters:
    ///   - requests: at least one. The store is in the folder of the first one's output.
    ///   - slots: passes at once, at most.
    ///   - memoryTotal: bytes that all passes may take together.
    ///   - memoryIsLimited: whether a user chose the total. If not, a pass that needs more takes it.
    ///   - sandbox: whether engines must be confined.
    ///   - remote: how sources on web servers are read; nil if they are not.
    ///   - anew: remove first the files that an earlier run left.
    package init(
        _ requests: [Request], programs: Programs, slots: Int, memoryTotal: Int64, memoryIsLimited: Bool,
        sandbox: SandboxMode, remote: (any RemoteSources)? = nil, anew: Bool
    ) {
        self.requests = requests
        self.programs = programs
        self.slots = slots
        self.memoryTotal = memoryTotal
        self.memoryIsLimited = memoryIsLimited
        self.sandbox = sandbox
        self.remote = remote
        self.anew = anew
    }

    /// Reverses the videos, and delivers each result as soon as it is there.
    ///
    /// Throws what ends the run before its end: `.runStopped` if the same run may succeed later, and `.workspaceUnusable` if
    /// the store cannot be made.
    ///
    /// - Parameter told: hears how each video goes, with its place among the requests: of small ones in their order, also
    ///   of the ones that are done at the same time. It is called by one thread at a time.
    package func run(_ told: @escaping @Sendable (Int, Step) -> Void) async throws(ReelFailure) {
        guard let first = requests.first else { return }
        let workspace: Workspace
        let store: FolderStore
        do {
            workspace = try Workspace.within(first.destination.folder)
            store = try FolderStore.make(root: workspace.path)
        } catch {
            throw ReelFailure(.workspaceUnusable(last: error))
        }
        LocalRun.removeOld(in: store, butNot: requests.map { $0.job.id })
        // By then the jobs' locks, which are files in the store, have been let go.
        defer { store.removeIfEmpty() }
        let jobs = LocalJobs(of: self, workspace, store, told)
        // By then no worker writes into their folders any more.
        defer { jobs.tidy() }
        do throws(ReelFailure) {
            let isLikelySmall = first.job.source.fingerprint.size <= LocalRun.likelySmall
            let begun = try await isLikelySmall ? jobs.doSmall() : nil
            if let begun, begun.isEmpty { return }
            // Redis and a worker take about as long to start as recon takes.
            try await cluster(memoryTotal, store).with { redis in
                var large = if let begun { begun } else { try await jobs.doSmall() }
                while !large.isEmpty {
                    try await jobs.finish(large, redis)
                    large = try await jobs.doSmall()
                }
            }
        } catch {
            throw LocalRun.said(error, isStopped: jobs.hasWork && LocalRun.mayPass(error))
        }
    }

    /// Bytes of a source from which on most jobs take several passes.
    private static let likelySmall: Int64 = 8 << 20

    /// A failure as a user hears of it. The store is beside the output: if its disk is full, another place helps.
    static func said(_ failure: ReelFailure, isStopped: Bool) -> ReelFailure {
        let said = isStopped ? ReelFailure(.runStopped(last: failure)) : failure
        return said.kind == .unreachable && said.cause == .noSpace ? ReelFailure(.workspaceUnusable(last: said)) : said
    }

    private func cluster(_ memoryTotal: Int64, _ store: FolderStore) -> LocalCluster {
        LocalCluster(
            programs: programs, store: store.root, slots: slots, memoryTotal: memoryTotal, sandbox: sandbox)
    }

    /// Has the job done, unless an earlier run did all of it and could not deliver.
    func finish(
        _ stored: StoredJob, to destination: Destination, in store: FolderStore,
        _ redis: @Sendable () async throws -> RedisAddress, _ told: @escaping @Sendable (Step) -> Void
    ) async throws -> JobView {
        if await stored.result != nil, let view = try await JobView(stored.entry) {
            return view.delivered(to: destination.path)
        }
        guard stored.plan.need > memoryTotal else {
            return try await follow(stored, to: destination, in: store, at: redis(), told)
        }
        // No user limits the memory, and a pass needs more than the usual total: only a worker that has as much can do it.
        return try await cluster(stored.plan.need, store).with { redis in
            try await follow(stored, to: destination, in: store, at: redis(), told)
        }
    }

    /// Publishes the job, and waits until it ends.
    private func follow(
        _ stored: StoredJob, to destination: Destination, in store: FolderStore, at redis: RedisAddress,
        _ told: @Sendable (Step) -> Void
    ) async throws(ReelFailure) -> JobView {
        let board = RedisBoard(redis, name: "reel-coordinator-run", patience: RedisPatience(.seconds(15)))
        guard case .begun(let claim) = try await board.begin(stored.record.beginning, holder: WorkerID("submit")) else {
            throw ReelFailure(.probeLost(job: stored.id))
        }
        try await stored.publish(on: board, claim, stored.finished(in: stored.indexes(in: store)))
        var sight = ClipSight(stored.entry, on: board)
        // Its worker beats as often.
        let follow = Follow(stored.id, on: board, interval: LocalCluster.beat)
        let status = try await follow.untilEnd { status async throws(ReelFailure) in
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
    static func mayPass(_ failure: ReelFailure) -> Bool {
        switch failure.reason {
        case .passExhausted(_, _, let last), .noWorkerCan(_, let last): return mayPass(last)
        case .sourceOutOfReach: return true
        // A signed URL has run out, and the next one belongs to the same job.
        case .urlRefused(_, let status) where [401, 403].contains(status): return true
        // Keys, rights and clocks can be set, and the job goes on.
        case .bucketDenied, .bucketKeysAbsent, .bucketKeysWrong, .bucketKeysExpired, .bucketClockDiffers: return true
        default: break
        }
        switch failure.kind {
        case .unreachable, .output, .interrupted: return true
        case .job, .usage, .input: return failure.cause == .transient
        }
    }
}

/// What interrupted runs leave for the same command: finished passes, in a hidden folder inside the folder of the outputs.
extension LocalRun {
    /// The hidden folder inside a folder of outputs, and its size in bytes; nil if it does not exist.
    package static func kept(in folder: String) -> (folder: String, bytes: Int64)? {
        guard let workspace = try? Workspace.existing(within: folder), workspace.size > 0 else { return nil }
        return (workspace.path, workspace.size)
    }

    /// After this many days without a run of the same job, its files are removed.
    package static let daysKept = 7

    /// Removes the files of jobs that no run has worked on for `daysKept`, and what killed runs have left half-made. Files
    /// that cannot be removed stay.
    static func removeOld(in store: FolderStore, butNot jobs: [JobID]) {
        store.removeAbandoned()
        let limit = Int(Date().timeIntervalSince1970) - daysKept * 86_400
        for id in (try? store.jobs()) ?? [] where !jobs.contains(id) {
            let folder = store.job(id)
            guard let used = folder.lastUse, used < limit, let lock = try? folder.lock() else { continue }
            withExtendedLifetime(lock) { try? folder.remove() }
        }
    }
}
