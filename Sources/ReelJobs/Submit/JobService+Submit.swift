package import ReelCore
package import ReelEngine
internal import ReelHost
internal import ReelQueue
package import ReelStore

extension JobService {
    /// Hears how much of a source this process has read, from 0 to 1.
    package typealias Reading = @Sendable (Double) -> Void

    /// What submitting a job would do: reads the source and plans the job, without board or store.
    ///
    /// Throws `.input` if the source is at fault, `.usage` if the request is, and `.unreachable` if the temporary
    /// folder cannot be written or the engine cannot be started.
    package static func prepare(
        _ wanted: JobRecord, engine: any EngineRunner, quotas: Quotas = Quotas(), reading: @escaping Reading = { _ in }
    ) async throws(ReelFailure) -> PreparedJob {
        let folder = try PrivateFolder()
        defer { withExtendedLifetime(folder) {} }
        let store = try FolderStore.make(root: folder.path)
        let planning = Planning(
            store: store, engine: engine, capacity: Capacity(slots: Capacity.usualSlots), quotas: quotas,
            reading: reading)
        let job = try await planning.planAlone(wanted, anew: false)
        let indexes = try await job.indexes(in: store)
        let scratch = try TemporaryFolder(scratchIn: folder.path)
        // A plan without it is of use, too, and must not wait for slow encoders.
        let bytes = await first(within: .seconds(15)) {
            try await planning.expectedBytes(of: job, indexes, scratch: scratch.path)
        }
        if Task.isCancelled { throw ReelFailure(.interrupted) }
        return PreparedJob(job, indexes: indexes, quotas: quotas, expectedBytes: bytes)
    }

    /// What the body returns; nil if it throws, or is not done in time and has been cancelled.
    private static func first<Result: Sendable>(
        within limit: Duration, _ body: @escaping @Sendable () async throws -> Result?
    ) async -> Result? {
        await withTaskGroup(of: Result?.self) { group in
            group.addTask { try? await body() }
            group.addTask {
                try? await Task.sleep(for: limit)
                return nil
            }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
    }

    /// Has workers do a job: attaches to it if it runs already, resumes it if it was interrupted, else begins it.
    /// Returns when its passes are on the board, or at once if the store has its result.
    ///
    /// Throws what refuses the source or the request: every process that waits for the job gets the same failure, and
    /// the last of them removes the job. If the task is cancelled, the job goes on without this caller.
    ///
    /// - Parameters:
    ///   - engine: reads the source, unless the store has its index or another process reads it.
    ///   - anew: remove the job's passes and plan first, even if it runs now.
    ///   - known: hears of the job's state as soon as board or store know the job: its id is of use from then on.
    package func submit(
        _ wanted: JobRecord, engine: any EngineRunner, quotas: Quotas = Quotas(), anew: Bool = false,
        reading: @escaping Reading = { _ in }, known: (JobState) -> Void = { _ in }
    ) async throws(ReelFailure) -> SubmittedJob {
        let store = try requiredStore()
        if anew { try await withdraw(wanted.id) }
        let planning = Planning(
            store: store, engine: engine, capacity: try await Capacity.ofWorkers(on: board), quotas: quotas,
            reading: reading)
        let admission = JobAdmission(board: board, store: store, wanted: wanted)
        let (job, outcome) = try await Submitter(planning: planning, admission: admission).submit(known: known)
        let output = try? await job.entry.read().terms.output
        return SubmittedJob(id: job.id, outcome: outcome, output: output, diagnostics: job.plan.diagnostics)
    }

    /// Begins a job and leaves all of it to the workers, its planning, too: returns before its source has been read. A
    /// job that is on the board or done stays as it is; one that had failed or was cancelled begins anew.
    ///
    /// What reading the source shows fails the job later. A job that fails so stays on the board, as any that fails.
    ///
    /// - Parameters:
    ///   - anew: remove the job's passes and plan first, even if it runs now.
    ///   - recorded: called when the store has the job's record, and no worker can learn of the job yet.
    package func post(
        _ wanted: JobRecord, anew: Bool = false, recorded: () async throws(ReelFailure) -> Void = {}
    ) async throws(ReelFailure) -> PostedJob {
        let store = try requiredStore()
        if anew { try await withdraw(wanted.id) }
        let (entry, admission) = (store.job(wanted.id), JobAdmission(board: board, store: store, wanted: wanted))
        var isNew = false
        var state = JobState.probing
        let found = try await admission.admit(
            created: { created async throws(ReelFailure) in
                isNew = isNew || created
                try await recorded()
                try await stage(wanted, in: entry, isNew: created)
            }, known: { state = $0 })
        return try await posted(admission, found, state, isNew: isNew)
    }

    /// Attaches to a job as `post` does if it is done or goes on. Nil, and nothing has changed, if `post` would begin it.
    package func attach(_ wanted: JobRecord) async throws(ReelFailure) -> PostedJob? {
        let admission = JobAdmission(board: board, store: try requiredStore(), wanted: wanted)
        guard let (found, state) = try await admission.going() else { return nil }
        return try await posted(admission, found, state, isNew: false)
    }

    /// Tells the board what the submission says of its job, and leaves the job to the workers.
    private func posted(
        _ admission: JobAdmission, _ found: JobAdmission.Found, _ state: JobState, isNew: Bool
    ) async throws(ReelFailure) -> PostedJob {
        let wanted = admission.wanted
        let entry = try requiredStore().job(wanted.id)
        func posted(_ outcome: SubmittedJob.Outcome, _ plan: Plan? = nil) async -> PostedJob {
            // The record of a job that was there before may name another output.
            let output = if isNew { wanted.terms.output } else { try? await entry.read().terms.output }
            let job = SubmittedJob(
                id: wanted.id, outcome: outcome, output: output, diagnostics: plan?.diagnostics ?? [])
            return PostedJob(job: job, state: state, isNew: isNew)
        }
        let claim: Claim?
        switch found {
        case .finished(let job):
            try await admission.describe()
            return await posted(.finished, job.plan)
        case .running(let job):
            try await admission.describe()
            return await posted(.attached, job.plan)
        case .unplanned(let held): claim = held
        }
        // The planning goes back, uncharged, so that a worker takes it.
        func handBack() async throws(ReelFailure) {
            if let claim { _ = try await board.leave(wanted.id, waiter: admission.name.text, claim: claim) }
        }
        do throws(ReelFailure) { try await admission.describe(claim) } catch {
            try? await handBack()
            throw error
        }
        try await handBack()
        guard claim != nil else { return await posted(.attached) }
        return await posted(entry.hasFinishedSegments ? .continued : .published)
    }

    /// Copies a job's sources into the store if the record says so: the workers that plan it need not see them.
    private func stage(_ wanted: JobRecord, in entry: any JobEntry, isNew: Bool) async throws(ReelFailure) {
        do throws(ReelFailure) { try await entry.stage(wanted.sources) } catch {
            // Workers put a job with a record on the board, and this one has not been begun.
            if isNew, let record = try? await entry.read() { _ = try? await entry.remove(ifStill: record) }
            throw error
        }
    }

    /// How many jobs of a list are begun at the same time: their records wait for the disk, not for one another.
    private static let postsAtOnce = 16

    /// Posts the jobs of a list, several at the same time. Returns when all have been begun or refused.
    ///
    /// Throws `.interrupted` if the task is cancelled before. The list then has been worked on up to some job, and `told`
    /// has heard of each up to there.
    ///
    /// - Parameters:
    ///   - anew: as in the other `post`.
    ///   - told: hears what became of each job, by its place in the list and in that order.
    package func post(
        _ jobs: [JobRecord], anew: Bool = false, told: (Int, Result<PostedJob, ReelFailure>) -> Void
    ) async throws(ReelFailure) {
        var (begun, next) = (0, 0)
        await withTaskGroup(of: (Int, Result<PostedJob, ReelFailure>).self) { group in
            var ended: [Int: Result<PostedJob, ReelFailure>] = [:]
            while true {
                while begun < jobs.count, begun - next < JobService.postsAtOnce, !Task.isCancelled {
                    let (place, job) = (begun, jobs[begun])
                    group.addTask(executorPreference: StoreExecutor.shared) { (place, await outcome(of: job, anew)) }
                    begun += 1
                }
                guard let (place, result) = await group.next() else { return }
                ended[place] = result
                while let result = ended.removeValue(forKey: next) {
                    told(next, result)
                    next += 1
                }
            }
        }
        guard next == jobs.count else { throw ReelFailure(.interrupted) }
    }

    private func outcome(of job: JobRecord, _ anew: Bool) async -> Result<PostedJob, ReelFailure> {
        do throws(ReelFailure) { return .success(try await post(job, anew: anew)) } catch { return .failure(error) }
    }
}

package struct SubmittedJob: Hashable, Sendable {
    package enum Outcome: Hashable, Sendable {
        case attached
        /// It has begun: its passes are on the board, or a worker is to plan it.
        case published
        /// It goes on by an earlier plan, and keeps the finished passes.
        case continued
        case finished
    }

    package let id: JobID
    package let outcome: Outcome
    /// Where the result goes unless another place is named: what the first submission of the job asked for.
    package let output: String?
    package let diagnostics: [Diagnostic]
}

package struct PostedJob: Hashable, Sendable {
    /// What there is to tell its submitter. The diagnostics of a job that was begun are not known yet.
    package let job: SubmittedJob
    /// The state in which it was found, or `probing` if it was begun.
    package let state: JobState
    /// Whether this call made the job: true for exactly one of several callers that post the same job at once.
    package let isNew: Bool

    package var id: JobID { job.id }
}

/// A job as it would be done: its plan, with what it was made from.
package struct PreparedJob: Sendable {
    private let record: JobRecord
    private let plan: Plan
    private let indexes: [SourceIndex]
    private let quotas: Quotas
    private let expectedBytes: Int64?

    init(_ job: StoredJob, indexes: [SourceIndex], quotas: Quotas, expectedBytes: Int64?) {
        (record, plan, self.indexes, self.quotas) = (job.record, job.plan, indexes, quotas)
        self.expectedBytes = expectedBytes
    }

    package var view: PlanView {
        var view = PlanView(id: record.id.text, sources: record.sources.map(\.path), plan: plan, indexes: indexes)
        view.expectedBytes = expectedBytes
        view.quotas = Quotas.asked(by: plan, of: indexes).compactMap { quota, amount in
            quotas[quota].map { PlanView.QuotaView(quota: quota.rawValue, asked: amount, most: $0) }
        }
        return view
    }

    /// Writes the edit as a timeline of OpenTimelineIO. Reading that gives the same plan.
    ///
    /// Throws `.timelineSpeed` if a clip is played at another speed than its source's, `.timelineSoundtrack`, and
    /// `.output` if the file cannot be written; nothing half-written remains.
    package func writeTimeline(to destination: Destination) throws(ReelFailure) {
        let writer = try TimelineWriter(plan, record.spec, sources: record.sources.map(\.path), indexes: indexes)
        try destination.write(writer.bytes(at: destination.path))
    }
}
