internal import Foundation
internal import ReelCore
internal import ReelEngine
internal import ReelHost
internal import ReelQueue
internal import ReelStore
internal import Synchronization

/// The jobs of a run: the small ones are done here, the others are handed out in the order of the requests.
final class LocalJobs: Sendable {
    private let run: LocalRun
    private let workspace: Workspace
    private let store: FolderStore
    private let told: OrderedSteps
    private let state = Mutex(State())

    private struct State {
        /// The place of the request that is taken next.
        var next = 0
        /// Jobs that have files in the store, by the place of their request.
        var works: [Int: Work] = [:]
    }

    /// A job that was begun.
    private struct Work: Sendable {
        let folder: JobFolder
        let lock: FileLock
        /// Whether its files are of no use to another run of the same job.
        var isUnwanted = false
    }

    /// A job that is not small.
    struct Large: Sendable {
        let place: Int
        /// Nil if it has not been begun.
        let job: StoredJob?
    }

    /// How an attempt to do a job here ended.
    private enum End: Sendable {
        /// It is done, or has failed.
        case told
        case large(Large)
        case interrupted(ReelFailure)
    }

    init(
        of run: LocalRun, _ workspace: Workspace, _ store: FolderStore,
        _ told: @escaping @Sendable (Int, LocalRun.Step) -> Void
    ) {
        self.run = run
        self.workspace = workspace
        self.store = store
        self.told = OrderedSteps(told)
    }

    /// Whether a job was begun from which another run of the same can resume.
    var hasWork: Bool { state.withLock { $0.works.values.contains { !$0.isUnwanted } } }

    /// Takes the next requests and does the small ones, as many at the same time as there are slots, until one is not
    /// small. Returns the ones that are not, in their order; none when all requests have been taken.
    ///
    /// Throws `.interrupted`.
    func doSmall() async throws(ReelFailure) -> [Large] {
        var large: [Large] = []
        var interruption: ReelFailure?
        await withTaskGroup(of: (Int, End).self) { group in
            var running: Set<JobID> = []
            while true {
                while running.count < atOnce, large.isEmpty, interruption == nil, let place = takeNext(but: running) {
                    guard await mayBeSmall(place) else {
                        large.append(Large(place: place, job: nil))
                        break
                    }
                    running.insert(run.requests[place].job.id)
                    told.begin(place)
                    group.addTask { (place, await self.trySmall(place)) }
                }
                guard let (place, end) = await group.next() else { return }
                running.remove(run.requests[place].job.id)
                switch end {
                case .told: break
                case .large(let job):
                    told.leave(place)
                    large.append(job)
                case .interrupted(let failure):
                    told.leave(place)
                    interruption = failure
                }
            }
        }
        if let interruption { throw interruption }
        return large.sorted { $0.place < $1.place }
    }

    /// Does jobs that are not small, one after the other.
    ///
    /// Throws `.interrupted`, and what keeps Redis or the worker from working.
    func finish(
        _ large: [Large], _ redis: @Sendable () async throws -> RedisAddress
    ) async throws(ReelFailure) {
        for (number, next) in large.enumerated() {
            let place = next.place
            // The time of a job that has waited for another begins now.
            if number > 0 || next.job == nil { told.tell(place, .begun) }
            do {
                let request = run.requests[place]
                let job =
                    if let job = next.job { job } else {
                        try await begin(place).planAlone(request.job, anew: run.anew)
                    }
                if job.hadPlan { told.tell(place, .continued) }
                let view = try await run.finish(job, to: request.destination, in: store, redis) { [told] step in
                    told.tell(place, step)
                }
                try await deliver(view, place)
            } catch {
                let failure = ReelFailure.of(error)
                guard failure.kind != .interrupted else { throw failure }
                fail(failure, place)
            }
        }
    }

    /// Removes the files of jobs that are not for another run. Call it when nothing works on them any more.
    func tidy() {
        let works = state.withLock { state in
            defer { state.works = [:] }
            return state.works
        }
        for (place, work) in works.sorted(by: { $0.key < $1.key }) where work.isUnwanted {
            do throws(ReelFailure) { try work.folder.remove() } catch { told.tell(place, .notRemoved(error)) }
        }
        store.removeUnusedSources()
    }

    // MARK: One job

    /// The place of the next request. Nil after the last one, and while the same job runs already: two names may lead to
    /// the same bytes.
    private func takeNext(but running: Set<JobID>) -> Int? {
        state.withLock { state in
            guard state.next < run.requests.count, !running.contains(run.requests[state.next].job.id) else {
                return nil
            }
            state.next += 1
            return state.next - 1
        }
    }

    /// How many small jobs are done at the same time: each takes what planning may take. At least one, so that each
    /// request is taken.
    private var atOnce: Int { max(1, min(run.slots, Int(run.memoryTotal / Planning.need))) }

    private func mayBeSmall(_ place: Int) async -> Bool {
        guard run.memoryTotal >= Planning.need, let planning = try? planning(place) else { return false }
        return await planning.mayBeSmall(run.requests[place].job)
    }

    private func planning(_ place: Int) throws(ReelFailure) -> Planning {
        Planning(
            store: store,
            engine: EngineHost(
                executable: try run.programs.path("reel-engine"), sandbox: run.sandbox, remote: run.remote),
            capacity: Capacity(slots: run.slots, memoryTotal: run.memoryTotal, isLimit: run.memoryIsLimited),
            reading: { [told] in told.tell(place, .reading($0)) },
            working: { [told] in told.tell(place, .progress(JobView($0, output: nil))) })
    }

    /// Takes hold of a job. Returns what plans it.
    private func begin(_ place: Int) throws(ReelFailure) -> Planning {
        let folder = store.job(run.requests[place].job.id)
        let lock = try folder.lock()
        state.withLock { $0.works[place] = Work(folder: folder, lock: lock) }
        return try planning(place)
    }

    /// Does a job if it is small. If that fails, a worker tries it, which knows what to do about a failure.
    private func trySmall(_ place: Int) async -> End {
        guard let scratch = try? TemporaryFolder(scratchIn: FileManager.default.temporaryDirectory.path) else {
            return .large(Large(place: place, job: nil))
        }
        defer { withExtendedLifetime(scratch) {} }
        told.tell(place, .begun)
        do {
            let planned = try await begin(place).doAlone(
                run.requests[place].job, anew: run.anew, scratch: scratch.path)
            guard let made = planned.work.made else { return .large(Large(place: place, job: planned.job)) }
            let view = await view(of: planned.job, made)
            told.tell(place, .progress(view))
            try await deliver(view, place)
        } catch {
            let failure = ReelFailure.of(error)
            guard failure.kind != .interrupted else { return .interrupted(failure) }
            fail(failure, place)
        }
        return .told
    }

    /// A job that is done, as it would be shown if a worker had done it.
    private func view(of job: StoredJob, _ made: WholeJob.Made) async -> JobView {
        let status = job.status(.done, made.results, finished: Date().timeIntervalSince1970)
        let found = made.results.sorted { $0.key < $1.key }.flatMap(\.value.result.diagnostics)
        return await JobView(status, output: job.entry.result, found: found)
    }

    /// Moves a job's result to where it is wanted.
    private func deliver(_ view: JobView, _ place: Int) async throws(ReelFailure) {
        let (destination, folder) = (run.requests[place].destination, store.job(run.requests[place].job.id))
        try await destination.move(folder.storedResult(), outOf: workspace)
        // A worker may still hold a file in it; if so, the rest is removed at the end.
        let isRemoved = (try? folder.remove()) != nil
        state.withLock { state in
            if isRemoved { state.works[place] = nil } else { state.works[place]?.isUnwanted = true }
        }
        told.tell(place, .delivered(view.delivered(to: destination.path)))
    }

    /// Tells of a job that has failed.
    private func fail(_ failure: ReelFailure, _ place: Int) {
        let mayPass = LocalRun.mayPass(failure)
        let isBegun = state.withLock { state in
            state.works[place]?.isUnwanted = !mayPass
            return state.works[place] != nil
        }
        told.tell(place, .failed(LocalRun.said(failure, isStopped: isBegun && mayPass)))
    }
}

/// Tells of jobs that are done at the same time, one job after the other: each step of the first one at once, of another
/// one how far it is and how it ended when the ones before have ended.
private final class OrderedSteps: Sendable {
    private let told: @Sendable (Int, LocalRun.Step) -> Void
    private let state = Mutex(State())

    private struct State {
        /// The places of jobs that are done at the same time.
        var order: [Int] = []
        var waiting: [Int: Waiting] = [:]
    }

    /// What has not been told of a job.
    private struct Waiting {
        /// The last step before the end.
        var progress: LocalRun.Step?
        var end: LocalRun.Step?
    }

    init(_ told: @escaping @Sendable (Int, LocalRun.Step) -> Void) { self.told = told }

    func begin(_ place: Int) { state.withLock { $0.order.append(place) } }

    /// A job goes on later, or does not go on.
    func leave(_ place: Int) {
        state.withLock { state in
            state.order.removeAll { $0 == place }
            state.waiting[place] = nil
            tellWaiting(&state)
        }
    }

    func tell(_ place: Int, _ step: LocalRun.Step) {
        state.withLock { state in
            let isEnd =
                switch step {
                case .delivered, .failed: true
                case .begun, .reading, .continued, .progress, .notRemoved: false
                }
            if case .begun = step {
                // Its time runs from now on.
                return told(place, step)
            }
            guard let first = state.order.first, first != place, state.order.contains(place) else {
                told(place, step)
                if isEnd {
                    state.order.removeAll { $0 == place }
                    tellWaiting(&state)
                }
                return
            }
            if isEnd {
                state.waiting[place, default: Waiting()].end = step
            } else if case .progress = step {
                state.waiting[place, default: Waiting()].progress = step
            }
        }
    }

    /// Tells of the jobs that are first now, up to one that has not ended.
    private func tellWaiting(_ state: inout State) {
        while let place = state.order.first, let waiting = state.waiting.removeValue(forKey: place) {
            if let progress = waiting.progress { told(place, progress) }
            guard let end = waiting.end else { return }
            told(place, end)
            state.order.removeFirst()
        }
    }
}
