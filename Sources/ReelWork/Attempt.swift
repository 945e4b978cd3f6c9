internal import ReelCore
internal import ReelEngine
internal import ReelJobs
internal import ReelQueue
internal import ReelStore

/// One attempt of this worker at one pass.
struct Attempt: Sendable {
    let pass: ClaimedPass
    /// What it may take from its beginning on.
    var allowance = PassAllowance()
    /// When it began.
    private let begun = ContinuousClock.now
    private let environment: WorkerEnvironment
    /// For each chunk of the pass its segment, if that was whole before this attempt.
    private var whole: [SegmentRecord?]

    private var claim: Claim { pass.claim }
    private var context: JobContext { pass.context }
    private var entry: any JobEntry { pass.context.entry }

    /// An attempt that begins now, and knows of no segments.
    init(_ pass: ClaimedPass, in environment: WorkerEnvironment) {
        self.pass = pass
        self.environment = environment
        whole = pass.context.plan.subjects(of: pass.claim.pass).map { _ in nil }
    }

    /// Looks in the store for segments of the pass. Segments that cannot be read are made again. Their bytes are compared with
    /// their records, which takes long if they are many.
    mutating func findSegments() async {
        if let found = try? await context.wholeSegments(of: claim.pass) { whole = found }
    }

    /// Does a piece of the attempt's work, and cancels it when the attempt's time is over. Throws `.quotaExceeded` then, and
    /// what the work throws.
    func timed<Result: Sendable>(
        _ work: @escaping @Sendable () async throws -> Result
    ) async throws(ReelFailure) -> Result {
        try await allowance.timed(since: begun, work)
    }

    /// Since it began.
    var milliseconds: Int { Int((ContinuousClock.now - begun) / .milliseconds(1)) }

    /// Segments that were whole before this attempt, in chunk order.
    var reused: [SegmentRecord] { whole.compactMap(\.self) }

    var reusedFrames: Int { claim.pass.frames(in: reused) }

    /// The result if nothing is left to do, because everything was whole before.
    func finished() async -> PassResult? {
        guard let output = await entry.publishedOutput else { return claim.pass.result(of: whole) }
        // The store has the job's result, so its segments are gone, and the board has forgotten that the job is done.
        // Compare the bytes once before the board says again that it is done.
        if pass.isAssembly, (try? output.verify()) == nil {
            _ = try? await entry.change { record throws(ReelFailure) in record.reopen() }
            return nil
        }
        let statistics = PassStatistics(framesEncoded: pass.frames)
        return PassResult(segments: reused, statistics: statistics, diagnostics: [])
    }

    /// Has an engine do the remaining work; it spills into the folder `scratch`. Throws the engine's failure, or how it died.
    func perform(
        in engine: any Engine, scratch: String, progress: @escaping @Sendable (EngineProgress) -> Void
    ) async throws(ReelFailure) -> PassResult {
        try context.checkSources()
        switch claim.pass {
        case .assembly: return try await assemble(in: engine, progress: progress)
        case .probe: preconditionFailure("a probe has no pass of a plan")
        case .audio: return try await reverse(in: engine, EngineRequest.reverseAudio, scratch, progress: progress)
        case .video: return try await reverse(in: engine, EngineRequest.reverse, scratch, progress: progress)
        }
    }

    private func reverse(
        in engine: any Engine, _ kind: (PassRequest) -> EngineRequest, _ scratch: String,
        progress: @escaping @Sendable (EngineProgress) -> Void
    ) async throws(ReelFailure) -> PassResult {
        let places = zip(context.plan.subjects(of: claim.pass), whole).map { subject, whole in
            whole == nil ? entry.place(of: SegmentName(subject: subject, token: claim.token)) : nil
        }
        let request = PassRequest(
            job: context.files, pass: claim.index, segments: places, scratch: scratch)
        guard case .pass(var result) = try await engine.perform(kind(request), progress: progress) else {
            throw ReelFailure(.engineMisanswered(task: .pass))
        }
        try await check(result.segments)
        let subjects = context.plan.subjects(of: claim.pass)
        result.segments = zip(subjects, whole).compactMap { [made = result.segments] subject, whole in
            whole ?? made.first { $0.name.subject == subject }
        }
        result.diagnostics = result.diagnostics.adding(reused.diagnostics)
        // The board counts which frames are there, not which attempt encoded them.
        if case .video = claim.pass { result.statistics.framesEncoded += reused.reduce(0) { $0 + $1.frames } }
        return result
    }

    /// Throws if an engine reports segments that it was not asked for, or files that are not there: it reads bytes of any
    /// origin, and the board keeps its report. The assembly, which reads the files, checks that each has the recorded
    /// bytes.
    private func check(_ made: [SegmentRecord]) async throws(ReelFailure) {
        let asked = zip(context.plan.subjects(of: claim.pass), whole).compactMap { $1 == nil ? $0 : nil }
        let isAsked = made.allSatisfy { segment in
            guard segment.name.token == claim.token else { return false }
            switch segment.content.part {
            case .video(let frames):
                let clips = context.plan.clips
                guard clips.indices.contains(segment.name.subject.clip) else { return false }
                return segment.frames == clips[segment.name.subject.clip].shown(in: frames).count
                    && segment.timeBase == context.plan.video.format.timeBase
            case .audio: return segment.frames >= 0
            }
        }
        guard isAsked, made.map(\.name.subject).sorted() == asked.sorted(),
            await entry.missingSegments(of: made).isEmpty
        else { throw ReelFailure(.engineMisanswered(task: .pass)) }
    }

    private func assemble(
        in engine: any Engine, progress: @escaping @Sendable (EngineProgress) -> Void
    ) async throws(ReelFailure) -> PassResult {
        let container = context.plan.container
        let feed = AssemblyFeed(
            job: claim.job, passCount: context.plan.passes.count, board: environment.board, store: environment.store,
            clock: environment.clock)
        let request = AssembleRequest(job: context.files, output: entry.assembling(container, token: claim.token))
        guard case .assembly(let result) = try await engine.assemble(request, progress: progress, next: feed.next)
        else {
            throw ReelFailure(.engineMisanswered(task: .assemble))
        }
        let output = try await entry.adoptOutput(
            assembledBy: claim.token, as: container, bytes: result.bytes, sha256: result.checksum)
        try await entry.recordDone(output, on: environment.board)
        let statistics = PassStatistics(
            framesEncoded: pass.frames, peakRSS: result.peakRSS, outputBytes: result.bytes)
        return PassResult(segments: [], statistics: statistics, diagnostics: result.diagnostics)
    }

    /// Removes the files that a failed or killed engine left half-written.
    func removePartial() async { await entry.removePartial(token: claim.token) }
}
