internal import Foundation
internal import ReelCore
internal import ReelEngine
internal import ReelPipeline
internal import ReelQueue
internal import ReelStore
internal import Synchronization

/// The steps of `run`, once its arguments are known to make sense.
struct LocalRun: Sendable {
    let source: String
    let spec: JobSpec
    let deliver: Deliver
    let programs: Programs
    let slots: Int
    let memoryTotal: Int64
    /// Whether a person chose the total.
    let memoryIsLimited: Bool
    let anew: Bool

    /// Reverses and delivers. What it leaves beside the output, if anything, is what the same command can go on with.
    func run() async throws(ReelFailure) -> JobView {
        let folder = URL(fileURLWithPath: deliver.output).deletingLastPathComponent().appendingPathComponent(".reel")
        let store: Store
        do {
            store = try Store(root: folder.path)
        } catch {
            throw ReelFailure(.output, "\(error.message); choose another place with -o", cause: error.cause)
        }
        // Here nothing is held any more that could lie in the store.
        defer { store.removeIfEmpty() }
        do throws(ReelFailure) {
            return try await run(in: store)
        } catch  where error.kind == .unreachable && error.cause == .noSpace {
            // The store is beside the output.
            throw ReelFailure(.output, error.message, cause: .noSpace)
        }
    }

    private func run(in store: Store) async throws(ReelFailure) -> JobView {
        let begun = ContinuousClock.now
        // The job is held until it is delivered, or what is left of it is in order.
        let held = Mutex<(job: JobFolder, lock: JobLock)?>(nil)
        do throws(ReelFailure) {
            // Redis and a worker take about as long to start as recon takes.
            let (job, view) = try await cluster(memoryTotal, store).with { redis in
                let submit = Submit(
                    store: store, engine: EngineHost(executable: try programs.path("reel-engine")),
                    capacity: Capacity(slots: slots, memoryTotal: memoryTotal, isLimit: memoryIsLimited))
                let preparation = try await submit.prepare(source: source, spec: spec)
                let job = store.job(preparation.record.id)
                let lock = try job.lock()
                held.withLock { $0 = (job, lock) }
                let placed = try submit.place(preparation, anew: anew)
                if placed.resumed { Console.say("goes on where an earlier run of the same job stopped") }
                return (job, try await finish(placed, with: submit, in: store, redis))
            }
            try deliver.move(outOf: store, job)
            let seconds = (ContinuousClock.now - begun) / .seconds(1)
            Console.say("wrote \(deliver.output): \(view.frames) frames in \(ClockTime.text(seconds: seconds))")
            return view
        } catch {
            guard let job = held.withLock({ $0?.job }) else { throw error }
            throw leave(job, after: error)
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
        let board = Board(redis, name: "reel-coordinator-run")
        _ = try await submit.publish(placed, on: board)
        var display = ProgressDisplay()
        defer { display.clear() }
        let status = try await Follow(placed.id, on: board, patience: .seconds(15)).untilEnd {
            status throws(ReelFailure) in
            // Here is no other host that could have room.
            if let note = status.spaceNote { throw ReelFailure(.output, note, cause: .noSpace) }
            display.show(status)
        }
        if let failure = status.endingFailure { throw failure }
        let warnings = try await board.passWarnings(placed.id)
        display.warn(warnings)
        return JobView(status, output: deliver.output, notes: warnings)
    }

    /// What can be gone on with stays, and the message says so; the rest goes.
    private func leave(_ job: JobFolder, after failure: ReelFailure) -> ReelFailure {
        var failure = failure
        switch failure.kind {
        case .unreachable, .output, .interrupted:
            failure.message += "; the same command goes on where this one stopped"
        case .job, .usage, .input:
            do { try job.remove() } catch { Console.say(error.message) }
        }
        return failure
    }
}
