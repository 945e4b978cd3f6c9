package import ReelCore
package import ReelQueue
internal import ReelStore

/// Jobs and workers as they are now: the board knows how far they are, the store what the board has forgotten. A
/// service without a store leaves out results, times of failed frames, and the last words of engines. `Board` documents
/// what is passed on from it.
extension JobService {
    /// One job in full. Throws `.jobUnknown` if neither board nor store has it.
    package func view(_ id: JobID) async throws(ReelFailure) -> JobView {
        let entry = store?.job(id)
        guard let status = try await board.status(id) else {
            guard let entry, await entry.exists, let view = try await JobView(entry) else {
                throw ReelFailure(.jobUnknown(job: id))
            }
            return view
        }
        let workers = status.state.isTerminal ? [] : try await board.workers()
        let reason = WaitReason(status, workers: workers)
        let record = try? await entry?.read()
        var view = JobView(
            status, record: record, output: try? await entry?.outline().result,
            found: try await board.passDiagnostics(id), waitReason: reason, waitAdvice: reason.flatMap(advice),
            failures: try await failures(status, entry))
        view.engines = workers.map(\.report).filter { $0.held.contains { $0.job == id } }.map(JobView.EngineView.init)
        if let entry {
            var sight = ClipSight(entry, on: board)
            view.clips = await sight.clips(of: status)
        }
        return view
    }

    /// Whether the job's record or plan takes long to use, as with an edit of 10,000 clips. False without a store.
    package func isLarge(_ id: JobID) async -> Bool { await store?.job(id).isLarge ?? false }

    /// The jobs of the board that a filter admits, the oldest first; jobs that cannot be read, with the reason; and how
    /// many others an open filter leaves out: it gives all that have not ended, and the latest 50 of the others.
    package func jobs(
        _ filter: JobFilter = JobFilter()
    ) async throws(ReelFailure) -> (jobs: [JobView], unreadable: [JobID: ReelFailure], others: Int) {
        let workers = try await board.workers()
        let list =
            if filter.isOpen { try await board.latestJobs(ended: 50) } else { try await matching(filter, workers) }
        var views: [JobView] = []
        for status in list.jobs { views.append(await view(status, workers)) }
        let others = filter.isOpen ? try await board.jobCounts().all - views.count - list.unreadable.count : 0
        return (views, list.unreadable, max(others, 0))
    }

    /// Unfinished jobs of the store, if the board knows no job, as after a loss: `recover` puts them back.
    package func forgottenJobs() async throws(ReelFailure) -> [JobID] {
        guard let store, try await board.isEmpty() else { return [] }
        return try await store.unfinishedJobs()
    }

    /// The ids of the jobs of the board that a filter admits, the oldest first.
    package func ids(_ filter: JobFilter) async throws(ReelFailure) -> [JobID] {
        try await matching(filter, board.workers()).jobs.map(\.job.id)
    }

    /// All jobs together, and the jobs that have not ended or that failed: the first 100 of each, or with a filter all
    /// that it admits. With a filter the sums are those of the jobs that it admits.
    package func queue(_ filter: JobFilter = JobFilter()) async throws(ReelFailure) -> QueueView {
        let workers = try await board.workers()
        let list =
            if filter.isOpen { try await board.queue(count: 100) } else {
                try await matching(filter, workers) { $0 != .done && $0 != .cancelled }
            }
        var jobs: [JobView] = []
        for status in list.jobs { jobs.append(await view(status, workers)) }
        let counts = try await board.jobCounts()
        return QueueView(
            jobs: jobs, counts: (counts.active, counts.failed),
            figures: filter.isOpen ? try await board.figures() : nil,
            pace: try await board.pace(), workers: workers, unreadable: list.unreadable)
    }

    /// Looks at the jobs of the board from the one that was submitted last, until the filter has enough.
    ///
    /// - Parameter isShown: whether jobs in a state are wanted at all.
    private func matching(
        _ filter: JobFilter, _ workers: [WorkerStatus], _ isShown: (JobState) -> Bool = { _ in true }
    ) async throws(ReelFailure) -> ListedJobs {
        var found = ListedJobs()
        var place: JobPlace?
        while found.jobs.count < filter.limit ?? .max {
            let places = try await board.jobs(before: place, count: 100, unfinished: filter.isOfUnfinished)
            guard !places.isEmpty else { break }
            place = places.last
            let page = try await board.list(places.map(\.id))
            found.unreadable.merge(page.unreadable) { $1 }
            found.jobs += page.jobs.filter { isShown($0.state) && filter.admits($0, workers: workers) }
            // They are in the order of their submission.
            if let since = filter.since, let last = page.jobs.last, last.created < since { break }
        }
        found.jobs = found.jobs.prefix(filter.limit ?? .max).reversed()
        return found
    }

    package func workers() async throws(ReelFailure) -> [WorkerView] { try await board.workers().map(WorkerView.init) }

    /// Throws `.workersAbsent` if no worker claims passes.
    package func checkWorkers() async throws(ReelFailure) {
        let views = try await workers()
        guard !views.contains(where: \.claims) else { return }
        throw ReelFailure(.workersAbsent(known: views.count))
    }

    package func drainedHosts() async throws(ReelFailure) -> [String] { try await board.drainedHosts() }

    package func strip(_ id: JobID, cells: Int) async throws(ReelFailure) -> PassStrip? {
        try await board.strip(id, cells: cells)
    }

    package func unfinishedJobs(of submitter: String) async throws(ReelFailure) -> Int {
        try await board.jobs(of: submitter)
    }

    /// Who submitted a job last, as "alice@edit-2"; nil if the store does not know.
    package func submitter(of id: JobID) async -> String? {
        (try? await store?.job(id).outline())?.submission?.submitter
    }

    package func metrics() async throws(ReelFailure) -> MetricsView {
        MetricsView(try await board.figures(), memory: try await board.memory())
    }

    package func demand() async throws(ReelFailure) -> DemandView { DemandView(try await board.figures()) }

    package func rates() async throws(ReelFailure) -> RatesView { RatesView(try await board.rates()) }

    /// Adds to each failure its pass, the times of the pass's frames, and what engines said, which only the store has.
    private func failures(_ status: JobStatus, _ entry: (any JobEntry)?) async throws(ReelFailure) -> [FailureView] {
        guard !status.failures.isEmpty else { return [] }
        let job = status.job
        let plan = try? await entry?.readPlan(job.plan)
        let index = await index(of: job.id, plan)
        var views: [FailureView] = []
        for failure in status.failures {
            var logs: [String: String] = [:]
            for attempt in failure.recent {
                logs[attempt.token] = await entry?.readAttempt(pass: failure.index, token: attempt.token)
            }
            let pass = plan.flatMap { $0.passes.indices.contains(failure.index) ? $0.passes[failure.index] : nil }
            views.append(
                FailureView(failure, work: job.work(at: failure.index), pass: pass, index: index, logs: logs))
        }
        return views
    }

    /// The index of a job's source. Nil if it cannot be read: a failure then names frames without times.
    private func index(of job: JobID, _ plan: Plan?) async -> SourceIndex? {
        guard let store, let plan, let record = try? await store.job(job).read() else { return nil }
        return try? await store.readIndexes(of: plan, record).first
    }
}

extension WorkerView {
    fileprivate var claims: Bool {
        !gone && !draining && slots > slotsOut && !diagnostics.contains(where: \.stopsClaims)
    }
}

extension DiagnosticView {
    /// Whether a worker that tells this claims nothing until it is over.
    fileprivate var stopsClaims: Bool {
        [Diagnostic.CodingKeys.workerDiskFull, .workerStoreUnusable].contains { $0.stringValue == code }
    }
}
