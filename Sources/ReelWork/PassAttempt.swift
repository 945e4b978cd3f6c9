internal import ReelCore
internal import ReelEngine
internal import ReelJobs
internal import ReelQueue
internal import ReelStore

/// What an engine does by a job's plan in one attempt: a pass, or the assembly.
struct PassAttempt: Sendable {
    let attempt: Attempt
    let context: JobContext
    /// What it may take from its beginning on.
    let allowance: PassAllowance
    private let environment: WorkerEnvironment
    /// For each chunk of the pass its segment, if that was whole before this attempt.
    private let whole: [SegmentRecord?]

    private var claim: Claim { attempt.claim }
    private var entry: any JobEntry { attempt.work.entry }
    /// What the segments hold that the pass makes; an assembly makes none.
    private var subjects: [SegmentSubject] { attempt.work.pass.map(context.plan.subjects) ?? [] }

    /// Looks in the store for segments of the pass. Segments that cannot be read are made again. Their bytes are
    /// compared with their records, which takes long if they are many.
    init(
        _ attempt: Attempt, _ context: JobContext, _ allowance: PassAllowance, in environment: WorkerEnvironment
    ) async {
        self.attempt = attempt
        self.context = context
        self.allowance = allowance
        self.environment = environment
        guard let pass = attempt.work.pass else {
            whole = []
            return
        }
        let found = try? await context.wholeSegments(of: pass)
        whole = found ?? context.plan.subjects(of: pass).map { _ in nil }
    }

    /// Segments that were whole before this attempt, in chunk order.
    var reused: [SegmentRecord] { whole.compactMap(\.self) }

    var reusedFrames: Int { attempt.work.pass?.frames(in: reused) ?? 0 }

    /// The result if nothing is left to do, because everything was whole before.
    func finished() async -> PassResult? {
        guard let output = await entry.publishedOutput else { return attempt.work.pass?.result(of: whole) }
        // The store has the job's result, so its segments are gone, and the board has forgotten that the job is done.
        // Compare the bytes once before the board says again that it is done.
        if claim.work == .assembly {
            do throws(ReelFailure) { try await entry.local(output).verify() } catch {
                // A bucket that is away says nothing about the bytes.
                guard !error.reason.saysStoreIsAway else { return nil }
                _ = try? await entry.change { record throws(ReelFailure) in record.reopen() }
                return nil
            }
        }
        let statistics = PassStatistics(framesEncoded: attempt.work.frames)
        return PassResult(segments: reused, statistics: statistics, diagnostics: [])
    }

    /// Has an engine do the remaining work; it spills into the folder `scratch`. Throws its failure, or how it died.
    func perform(
        in engine: any Engine, scratch: String, progress: @escaping @Sendable (EngineProgress) -> Void
    ) async throws(ReelFailure) -> PassResult {
        try context.checkSources()
        switch attempt.work.pass {
        case nil: return try await assemble(in: engine, progress: progress)
        case let pass?: return try await reverse(pass, in: engine, scratch, progress: progress)
        }
    }

    private func reverse(
        _ pass: Pass, in engine: any Engine, _ scratch: String, progress: @escaping @Sendable (EngineProgress) -> Void
    ) async throws(ReelFailure) -> PassResult {
        let places = zip(subjects, whole).map { subject, whole in
            whole == nil ? entry.place(of: SegmentName(subject: subject, token: claim.token)) : nil
        }
        let request = PassRequest(job: context.files, pass: claim.index, segments: places, scratch: scratch)
        guard case .pass(var result) = try await engine.perform(pass.request(request), progress: progress) else {
            throw ReelFailure(.engineMisanswered(task: .pass))
        }
        let asked = zip(subjects, whole).compactMap { $1 == nil ? $0 : nil }
        // The assembly compares each file with its recorded hash.
        guard context.plan.asks(for: result.segments, of: pass, asked, token: claim.token) else {
            throw ReelFailure(.engineMisanswered(task: .pass))
        }
        try await entry.publish(result.segments)
        result.segments = zip(subjects, whole).compactMap { [made = result.segments] subject, whole in
            whole ?? made.first { $0.name.subject == subject }
        }
        result.diagnostics = result.diagnostics.adding(reused.diagnostics)
        // The board counts which frames are there, not which attempt encoded them.
        if case .video = pass { result.statistics.framesEncoded += reused.reduce(0) { $0 + $1.frames } }
        return result
    }

    private func assemble(
        in engine: any Engine, progress: @escaping @Sendable (EngineProgress) -> Void
    ) async throws(ReelFailure) -> PassResult {
        let feed = AssemblyFeed(
            job: claim.job, passCount: context.plan.passes.count, board: environment.board, store: environment.store,
            clock: environment.clock)
        let assembly = Assembly(of: context.plan, context.files, in: entry, token: claim.token)
        let (result, output): (PassResult, JobResult)
        do throws(ReelFailure) {
            (result, output) = try await assembly.perform(in: engine, progress: progress, next: feed.next)
        } catch {
            await feed.giveBack()
            throw error
        }
        await feed.giveBack()
        try await entry.recordDone(output, at: environment.board.endOfNow())
        return result
    }
}

/// Tells an assembly which segments to join: first those of the passes that are finished, then the others as they come.
/// So an assembly can begin while other workers still work at passes.
actor AssemblyFeed {
    private let job: JobID
    private let board: any Board
    private let entry: any JobEntry
    private let store: any JobStore
    private let clock: WorkerClock
    /// Passes whose segments have not been named.
    private var missing: Set<Int>
    private var hasBegun = false
    /// The segments that have been named.
    private var brought: [SegmentRecord] = []

    init(job: JobID, passCount: Int, board: any Board, store: any JobStore, clock: WorkerClock) {
        self.job = job
        self.board = board
        entry = store.job(job)
        self.store = store
        self.clock = clock
        missing = Set(0..<passCount)
    }

    /// The next segments, when there are any; nil when all are named. Throws `.interrupted` if a pass waits for another
    /// attempt, which this slot could make, and if the job is paused, because the slot could work at another one.
    func next() async throws(ReelFailure) -> [StoredSegment]? {
        guard !missing.isEmpty else { return nil }
        let finished = hasBegun ? try await next(of: missing) : try await board.results(job)
        let results = finished.filter { missing.contains($0.key) }
        hasBegun = true
        try await waitUntilVisible(results)
        missing.subtract(results.keys)
        let segments = results.sorted { $0.key < $1.key }.flatMap(\.value.segments)
        brought += segments
        try await entry.bring(segments)
        return entry.stored(segments)
    }

    /// Gives back the room of the segments that have been named.
    func giveBack() async { await entry.giveBack(brought) }

    private func next(of missing: Set<Int>) async throws(ReelFailure) -> [Int: PassResult] {
        while true {
            guard await clock.sleep(for: .milliseconds(200)) else { throw ReelFailure(.interrupted) }
            do throws(ReelFailure) {
                let results = try await board.results(job, at: missing.sorted())
                if !results.isEmpty { return results }
                guard try await board.retries(job) == 0 else { throw ReelFailure(.passesWait(job: job)) }
                try await checkNotPaused()
            } catch  where error.kind != .interrupted && error.cause == .transient {
                // Redis is out of reach. The workers at the passes go on, and so does this assembly.
                continue
            }
        }
    }

    /// Waits up to 60 s if another host's files may become visible here only later, as on NFS. Throws `.segmentMissing`
    /// for a segment that is not there then.
    private func waitUntilVisible(_ results: [Int: PassResult]) async throws(ReelFailure) {
        let showsWritesLate = await store.showsWritesLate
        let deadline = clock.now + .seconds(showsWritesLate ? 60 : 0)
        while let (pass, missing) = try await firstMissing(of: results) {
            guard clock.now < deadline else {
                throw ReelFailure(.segmentMissing(segment: missing.name.text, pass: pass))
            }
            guard await clock.sleep(for: .seconds(1)) else { throw ReelFailure(.interrupted) }
        }
    }

    private func firstMissing(
        of results: [Int: PassResult]
    ) async throws(ReelFailure) -> (pass: Int, segment: SegmentRecord)? {
        let missing = Set(try await entry.missingSegments(of: results.values.flatMap(\.segments)).map(\.name))
        for (pass, result) in results {
            if let segment = result.segments.first(where: { missing.contains($0.name) }) { return (pass, segment) }
        }
        return nil
    }

    private func checkNotPaused() async throws(ReelFailure) {
        guard let status = try? await board.status(job), status.isPaused else { return }
        throw ReelFailure(.jobHeldBack(job: job))
    }
}
