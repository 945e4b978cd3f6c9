internal import Foundation
internal import ReelCore
internal import ReelEngine
internal import ReelJobs
internal import ReelQueue
internal import ReelStore

/// A piece of work that this worker claimed.
enum Piece: Sendable {
    case pass(Assignment)
    /// The job has no plan yet: this worker makes one.
    case probe(Claim)

    var claim: Claim {
        switch self {
        case .pass(let assignment): assignment.claim
        case .probe(let claim): claim
        }
    }
}

/// A pass that this worker claimed, with what the store says of its job.
struct Assignment: Sendable {
    let claim: Claim
    let context: JobContext

    var isAssembly: Bool { claim.pass == .assembly }

    /// Frames of video that it makes: where packets are copied the assembly does that, else it joins what was made.
    var frames: Int {
        switch claim.pass {
        case .video(let pass): pass.frames.count
        case .audio, .probe: 0
        case .assembly: context.plan.video.isPassthrough ? context.plan.frameCount : 0
        }
    }

    var description: String {
        switch claim.pass {
        case .assembly: "assembly of job \(claim.job)"
        case .probe: "probe of job \(claim.job)"
        case .audio(let track): "pass \(claim.index) of job \(claim.job), audio track \(track)"
        case .video(let pass):
            "pass \(claim.index) of job \(claim.job), frames \(pass.frames.lowerBound)..<\(pass.frames.upperBound)"
        }
    }
}

/// One attempt at a pass.
struct Work: Sendable {
    let assignment: Assignment
    let board: Board
    /// Folder for what engines spill.
    let scratch: String
    /// For each chunk of this pass its segment, where that is whole already, whoever made it.
    private let whole: [SegmentRecord?]

    private var claim: Claim { assignment.claim }
    private var context: JobContext { assignment.context }
    private var folder: JobFolder { assignment.context.folder }

    /// Reads from the store what is there already; what cannot be read is not there.
    init(_ assignment: Assignment, board: Board, scratch: String) {
        self.assignment = assignment
        self.board = board
        self.scratch = scratch
        let (context, pass) = (assignment.context, assignment.claim.pass)
        whole = (try? context.wholeSegments(of: pass)) ?? context.plan.subjects(of: pass).map { _ in nil }
    }

    /// Segments of this pass that were whole before, in chunk order.
    var reused: [SegmentRecord] { whole.compactMap(\.self) }

    var reusedFrames: Int { claim.pass.frames(in: reused) }

    /// The result where nothing is left to do: everything was whole before.
    func finished() -> PassResult? {
        guard let output = folder.publishedOutput else { return claim.pass.result(of: whole) }
        // The job was done, and the board has forgotten that: its segments are gone by then. Its bytes are compared once,
        // before the board says again that it is done.
        if assignment.isAssembly, (try? output.verify()) == nil {
            try? folder.forgetOutput()
            return nil
        }
        let statistics = PassStatistics(framesEncoded: assignment.frames)
        return PassResult(segments: reused, statistics: statistics, diagnostics: [])
    }

    /// Has the engine do what is left to do. Throws what the engine reports, or how it died.
    func perform(
        in session: EngineSession, progress: @escaping @Sendable (EngineProgress) -> Void
    ) async throws(ReelFailure) -> PassResult {
        try context.checkSource()
        switch claim.pass {
        case .assembly: return try await assemble(in: session, progress: progress)
        case .probe: preconditionFailure("a probe has no pass of a plan")
        case .audio: return try await reverse(in: session, EngineRequest.reverseAudio, progress: progress)
        case .video: return try await reverse(in: session, EngineRequest.reverse, progress: progress)
        }
    }

    private func reverse(
        in session: EngineSession, _ kind: (PassRequest) -> EngineRequest,
        progress: @escaping @Sendable (EngineProgress) -> Void
    ) async throws(ReelFailure) -> PassResult {
        let request = PassRequest(
            job: context.files, pass: claim.index, chunks: whole.count, segments: folder.segments, token: claim.token,
            finishedChunks: whole.indices.filter { whole[$0] != nil }, scratch: scratch)
        guard case .pass(var result) = try await session.perform(kind(request), progress: progress) else {
            throw ReelFailure(.engineMisanswered(task: .pass))
        }
        try check(result.segments)
        result.segments = (result.segments + reused).sorted { $0.content.part < $1.content.part }
        result.diagnostics += reused.diagnostics.filter { !result.diagnostics.contains($0) }
        // What counts on the board is which frames are there, not who encoded them.
        if case .video = claim.pass { result.statistics.framesEncoded += reused.reduce(0) { $0 + $1.frames } }
        return result
    }

    /// Throws where an engine reports segments that it was not asked for, or files that are not there: it reads bytes
    /// that anybody may have written, and its report is kept on the board. That each file has the recorded bytes is
    /// checked by the assembly, which reads them.
    private func check(_ made: [SegmentRecord]) throws(ReelFailure) {
        let asked = zip(context.plan.subjects(of: claim.pass), whole).compactMap { $1 == nil ? $0 : nil }
        let isAsked = made.allSatisfy { segment in
            guard segment.name.token == claim.token else { return false }
            switch segment.content.part {
            case .video(let frames):
                return segment.frames == frames.count && segment.timeBase == context.plan.video.format.timeBase
            case .audio: return segment.frames >= 0
            }
        }
        guard isAsked, made.map(\.name.subject).sorted() == asked.sorted(), folder.missingSegments(of: made).isEmpty
        else { throw ReelFailure(.engineMisanswered(task: .pass)) }
    }

    private func assemble(
        in session: EngineSession, progress: @escaping @Sendable (EngineProgress) -> Void
    ) async throws(ReelFailure) -> PassResult {
        let list = try SegmentListFile(path: folder.segmentList(token: claim.token))
        let feed = AssemblyFeed(
            job: claim.job, passCount: context.plan.passes.count, board: board, folder: folder, list: list)
        let output = folder.assembling(context.plan.container, token: claim.token)
        let request = EngineRequest.assemble(
            AssembleRequest(job: context.files, segments: folder.segments, list: list.path, output: output))
        guard case .assembly(let result) = try await session.perform(request, progress: progress, beside: feed.run)
        else {
            throw ReelFailure(.engineMisanswered(task: .assemble))
        }
        try folder.publishOutput(
            output, as: context.plan.container, bytes: result.bytes, sha256: result.checksum)
        let statistics = PassStatistics(framesEncoded: assignment.frames, peakRSS: result.peakRSS)
        return PassResult(segments: [], statistics: statistics, diagnostics: result.diagnostics)
    }

    /// Removes what an engine that was killed, or failed, left half-written.
    func removePartial() { folder.removePartial(token: claim.token) }
}

extension EngineSession {
    /// Performs a request, and what the engine needs beside it; where that fails, the engine is killed.
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
