internal import Foundation
internal import ReelCore
internal import ReelEngine
internal import ReelPipeline
internal import ReelQueue
internal import ReelStore

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
        let submit = Submit(
            store: store, engine: EngineHost(executable: try programs.path("reel-engine")),
            capacity: Capacity(slots: slots, memoryTotal: memoryTotal, isLimit: memoryIsLimited))
        let preparation = try await submit.prepare(source: source, spec: spec)
        let job = store.job(preparation.record.id)
        let lock = try job.lock()
        defer { withExtendedLifetime(lock) {} }
        do throws(ReelFailure) {
            let placed = try submit.place(preparation, anew: anew)
            if placed.resumed { Console.say("goes on where an earlier run of the same job stopped") }
            let view = try await finish(placed, submit, store)
            try deliver.move(outOf: store, job)
            let seconds = (ContinuousClock.now - begun) / .seconds(1)
            Console.say("wrote \(deliver.output): \(view.frames) frames in \(ClockTime.text(seconds: seconds))")
            return view
        } catch {
            throw leave(job, after: error)
        }
    }

    /// Has the job done by a Redis and a worker of its own, unless an earlier run did all of it and could not deliver.
    private func finish(_ placed: PlacedJob, _ submit: Submit, _ store: Store) async throws(ReelFailure) -> JobView {
        if placed.result != nil, let view = try JobView(placed.folder) { return view.delivered(to: deliver.output) }
        let cluster = LocalCluster(
            programs: programs, store: store.root, slots: slots, memoryTotal: max(memoryTotal, placed.plan.need))
        return try await cluster.with { address in
            let board = Board(address, name: "reel-coordinator-run")
            _ = try await submit.publish(placed, on: board)
            var display = ProgressDisplay()
            defer { display.clear() }
            // Nobody else asks this Redis, and whoever waits notices the end by this.
            let follow = Follow(placed.id, on: board, interval: .milliseconds(50), patience: .seconds(15))
            let status = try await follow.untilEnd { status throws(ReelFailure) in
                // Here is no other host that could have room.
                if let note = status.spaceNote { throw ReelFailure(.output, note, cause: .noSpace) }
                display.show(status)
            }
            if let failure = status.endingFailure { throw failure }
            let warnings = try await board.passWarnings(placed.id)
            display.warn(warnings)
            return JobView(status, output: deliver.output, notes: warnings)
        }
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
