internal import Foundation
internal import ReelCore
internal import ReelEngine
internal import ReelJobs
internal import ReelQueue
internal import ReelStore
internal import ReelTerminal
internal import ReelWords
internal import Synchronization

/// The steps of `run`, once its arguments are known to make sense.
struct LocalRun: Sendable {
    let job: JobRecord
    let deliver: Deliver
    let programs: Programs
    let slots: Int
    let memoryTotal: Int64
    /// Whether a person chose the total.
    let memoryIsLimited: Bool
    let anew: Bool

    /// Reverses and delivers. What it leaves beside the output, if anything, is what the same command can go on with.
    func run() async throws(ReelFailure) -> JobView {
        let workspace: Workspace
        let store: Store
        do {
            workspace = try Workspace.beside(deliver.output)
            store = try Store.make(root: workspace.path)
        } catch {
            throw ReelFailure(.workspaceUnusable(last: error))
        }
        // Here nothing is held any more that could lie in the store.
        defer { store.removeIfEmpty() }
        do throws(ReelFailure) {
            return try await run(in: store, workspace)
        } catch  where error.kind == .unreachable && error.cause == .noSpace {
            // The store is beside the output.
            throw ReelFailure(.workspaceUnusable(last: error))
        }
    }

    private func run(in store: Store, _ workspace: Workspace) async throws(ReelFailure) -> JobView {
        let begun = ContinuousClock.now
        // The job is held until it is delivered, or what is left of it is in order.
        let held = Mutex<(job: JobFolder, lock: JobLock)?>(nil)
        do throws(ReelFailure) {
            // Redis and a worker take about as long to start as recon takes.
            let (folder, view) = try await cluster(memoryTotal, store).with { redis in
                let reading = ReadingDisplay(on: console)
                defer { reading.clear() }
                let submit = Submit(
                    store: store, engine: EngineHost(executable: try programs.path("reel-engine")),
                    capacity: Capacity(slots: slots, memoryTotal: memoryTotal, isLimit: memoryIsLimited),
                    heard: reading.heard)
                let folder = store.job(job.id)
                let lock = try folder.lock()
                held.withLock { $0 = (folder, lock) }
                let placed = try await submit.place(job, anew: anew)
                reading.clear()
                if placed.resumed { console.say("goes on where an earlier run of the same job stopped") }
                return (folder, try await finish(placed, with: submit, in: store, redis))
            }
            try deliver.move(folder, outOf: workspace)
            let seconds = (ContinuousClock.now - begun) / .seconds(1)
            console.say("wrote \(deliver.output): \(view.frames) frames in \(ClockTime.text(seconds: seconds))")
            return view
        } catch {
            guard let folder = held.withLock({ $0?.job }) else { throw error }
            throw leave(folder, in: store, after: error)
        }
    }

    private func cluster(_ memoryTotal: Int64, _ store: Store) -> LocalCluster {
        LocalCluster(programs: programs, store: store.root, slots: slots, memoryTotal: memoryTotal)
    }

    /// Has the job done, unless an earlier run did all of it and could not deliver.
    private func finish(
        _ placed: PlacedJob, with submit: Submit, in store: Store, _ redis: @Sendable () async throws -> RedisAddress
    ) async throws -> JobView {
        if placed.result != nil, let view = try JobView(placed.folder) { return view.delivered(to: deliver.output) }
        guard placed.plan.need > memoryTotal else { return try await follow(placed, with: submit, at: redis()) }
        // Nobody limits the memory, and a pass takes more than all that is usual: only a worker that has it can do it.
        return try await cluster(placed.plan.need, store).with { redis in
            try await follow(placed, with: submit, at: redis())
        }
    }

    /// Publishes the job, and shows how it goes until it ends.
    private func follow(
        _ placed: PlacedJob, with submit: Submit, at redis: RedisAddress
    ) async throws(ReelFailure) -> JobView {
        let board = RedisBoard(redis, name: "reel-coordinator-run")
        try await submit.publish(placed, on: board)
        var display = ProgressDisplay(on: console)
        defer { display.clear() }
        let status = try await Follow(placed.id, on: board, patience: .seconds(15)).untilEnd {
            status throws(ReelFailure) in
            // Here is no other host that could have room.
            if let note = status.spaceNote { throw ReelFailure(.workspaceUnusable(last: note.reason)) }
            display.show(status)
        }
        if let failure = status.endingFailure { throw failure }
        let diagnostics = try await board.passDiagnostics(placed.id)
        display.warn(diagnostics.map(\.words))
        return JobView(status, output: placed.folder.result, found: diagnostics).delivered(to: deliver.output)
    }

    /// What can be gone on with stays, and the message says so; the rest goes.
    private func leave(_ job: JobFolder, in store: Store, after failure: ReelFailure) -> ReelFailure {
        guard !LocalRun.mayPass(failure) else { return ReelFailure(.runStopped(last: failure)) }
        do {
            try job.remove()
            store.removeUnusedSources()
        } catch {
            console.say(error.words)
        }
        return failure
    }

    /// Whether the same command may well go on: neither the request nor the source is at fault, but this machine, or
    /// something that passes, as a source that was away for a moment.
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
