internal import ReelCore
internal import ReelEngine
internal import ReelJobs
internal import ReelQueue
internal import ReelStore

/// One attempt of this worker at one pass.
struct Attempt: Sendable {
    let pass: ClaimedPass
    private let environment: WorkerEnvironment
    /// For each chunk of the pass its segment, if that was whole before this attempt.
    private let whole: [SegmentRecord?]

    private var claim: Claim { pass.claim }
    private var context: JobContext { pass.context }
    private var folder: JobFolder { pass.context.folder }

    /// Looks in the store for segments of the pass. Those that cannot be read are made again.
    init(_ pass: ClaimedPass, in environment: WorkerEnvironment) {
        self.pass = pass
        self.environment = environment
        whole =
            (try? pass.context.wholeSegments(of: pass.claim.pass))
            ?? pass.context.plan.subjects(of: pass.claim.pass).map { _ in nil }
    }

    /// Segments that were whole before this attempt, in chunk order.
    var reused: [SegmentRecord] { whole.compactMap(\.self) }

    var reusedFrames: Int { claim.pass.frames(in: reused) }

    /// The result if nothing is left to do, because everything was whole before.
    func finished() -> PassResult? {
        guard let output = folder.publishedOutput else { return claim.pass.result(of: whole) }
        // The store has the job's result, so its segments are gone, and the board has forgotten that the job is done.
        // Compare the bytes once before the board says again that it is done.
        if pass.isAssembly, (try? output.verify()) == nil {
            try? folder.forgetOutput()
            return nil
        }
        let statistics = PassStatistics(framesEncoded: pass.frames)
        return PassResult(segments: reused, statistics: statistics, diagnostics: [])
    }

    /// Has an engine do what is left to do. Throws what the engine reports, or how it died.
    func perform(
        in engine: any Engine, progress: @escaping @Sendable (EngineProgress) -> Void
    ) async throws(ReelFailure) -> PassResult {
        try context.checkSource()
        switch claim.pass {
        case .assembly: return try await assemble(in: engine, progress: progress)
        case .probe: preconditionFailure("a probe has no pass of a plan")
        case .audio: return try await reverse(in: engine, EngineRequest.reverseAudio, progress: progress)
        case .video: return try await reverse(in: engine, EngineRequest.reverse, progress: progress)
        }
    }

    private func reverse(
        in engine: any Engine, _ kind: (PassRequest) -> EngineRequest,
        progress: @escaping @Sendable (EngineProgress) -> Void
    ) async throws(ReelFailure) -> PassResult {
        let request = PassRequest(
            job: context.files, pass: claim.index, chunks: whole.count, segments: folder.segments, token: claim.token,
            finishedChunks: whole.indices.filter { whole[$0] != nil }, scratch: environment.scratch)
        guard case .pass(var result) = try await engine.perform(kind(request), progress: progress) else {
            throw ReelFailure(.engineMisanswered(task: .pass))
        }
        try check(result.segments)
        result.segments = (result.segments + reused).sorted { $0.content.subject < $1.content.subject }
        result.diagnostics += reused.diagnostics.filter { !result.diagnostics.contains($0) }
        // The board counts which frames are there, not which attempt encoded them.
        if case .video = claim.pass { result.statistics.framesEncoded += reused.reduce(0) { $0 + $1.frames } }
        return result
    }

    /// Throws if an engine reports segments that it was not asked for, or files that are not there: it reads bytes of any
    /// origin, and the board keeps its report. The assembly, which reads the files, checks that each has the recorded
    /// bytes.
    private func check(_ made: [SegmentRecord]) throws(ReelFailure) {
        let asked = zip(context.plan.subjects(of: claim.pass), whole).compactMap { $1 == nil ? $0 : nil }
        let isAsked = made.allSatisfy { segment in
            guard segment.name == SegmentName(subject: segment.content.subject, token: claim.token) else {
                return false
            }
            switch segment.content.subject {
            case .video(let frames):
                return segment.frames == frames.count && segment.timeBase == context.plan.video.format.timeBase
            case .audio: return segment.frames >= 0
            }
        }
        guard isAsked, made.map(\.content.subject).sorted() == asked.sorted(), folder.missingSegments(of: made).isEmpty
        else { throw ReelFailure(.engineMisanswered(task: .pass)) }
    }

    private func assemble(
        in engine: any Engine, progress: @escaping @Sendable (EngineProgress) -> Void
    ) async throws(ReelFailure) -> PassResult {
        let list = try SegmentListFile(path: folder.segmentList(token: claim.token))
        let feed = AssemblyFeed(
            job: claim.job, passCount: context.plan.passes.count, board: environment.board, folder: folder, list: list,
            clock: environment.clock)
        let output = folder.assembling(context.plan.container, token: claim.token)
        let request = EngineRequest.assemble(
            AssembleRequest(job: context.files, segments: folder.segments, list: list.path, output: output))
        guard case .assembly(let result) = try await engine.perform(request, progress: progress, beside: feed.run)
        else {
            throw ReelFailure(.engineMisanswered(task: .assemble))
        }
        try folder.publishOutput(
            output, as: context.plan.container, bytes: result.bytes, sha256: result.checksum)
        let statistics = PassStatistics(framesEncoded: pass.frames, peakRSS: result.peakRSS)
        return PassResult(segments: [], statistics: statistics, diagnostics: result.diagnostics)
    }

    /// Removes what an engine that failed or was killed left half-written.
    func removePartial() { folder.removePartial(token: claim.token) }
}

extension Engine {
    /// Performs a request, and at the same time what the engine needs meanwhile. If that fails, the engine is killed.
    fileprivate func perform(
        _ request: EngineRequest, progress: @escaping @Sendable (EngineProgress) -> Void,
        beside: @escaping @Sendable () async throws(ReelFailure) -> Void
    ) async throws(ReelFailure) -> EngineResult? {
        do {
            return try await withThrowingTaskGroup(of: EngineResult?.self) { group in
                group.addTask { try await self.perform(request, progress: progress) }
                group.addTask {
                    try await beside()
                    return nil
                }
                defer { group.cancelAll() }
                for try await answer in group {
                    if let answer { return answer }
                }
                return nil
            }
        } catch {
            throw ReelFailure.of(error)
        }
    }
}
