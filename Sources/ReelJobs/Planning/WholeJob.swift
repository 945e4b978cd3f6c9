internal import Foundation
package import ReelCore
package import ReelEngine
internal import ReelQueue
internal import ReelStore
internal import Synchronization

extension Planning {
    /// A planned job, and its results if it has also been done.
    struct PlannedJob: Sendable {
        let job: StoredJob
        let indexes: [SourceIndex]
        /// The results of all passes and of the assembly, with the output; nil if other attempts are to make them.
        let whole: WholeJob.Made?
    }

    /// Bytes of the longest source that one engine both reads and reverses.
    private static let shortSource: Int64 = 64 << 20

    /// Whether a job may turn out to be small enough for one engine to do all of it. The plan tells for certain.
    private func mayBeSmall(_ record: JobRecord) async -> Bool {
        let entry = store.job(record.id)
        guard record.sources.count == 1, record.source.fingerprint.size <= Planning.shortSource, !record.paused,
            !record.terms.keepsSegments, !quotas.countsJobs, await !entry.hasFinishedSegments
        else { return false }
        return await entry.publishedOutput == nil
    }

    /// Plans a job, and does all of it if it is small. If that fails, other attempts are left to try its passes: they are
    /// charged for failures, and know what to do about each.
    ///
    /// - Parameters:
    ///   - token: names the output while it is assembled.
    ///   - scratch: a folder of this machine for segments, which no other engine has.
    func planAndDo(_ record: JobRecord, token: String, scratch: String) async throws(ReelFailure) -> PlannedJob {
        guard await mayBeSmall(record) else { return try await planOnly(record) }
        return try await ReelFailure.unifying {
            let part = try await part(0, of: record)
            // The kernel knows one limit for all files of an engine.
            guard quotas[.output] ?? .max >= part.mostBytesOfIndex else { return try await planOnly(record) }
            return try await engine.withEngine(memory: nil, scope: scope(toDo: part, of: record, scratch)) { session in
                var planning = self
                planning.engine = RunningEngine(session: session)
                let sources = try await planning.examine([part], of: record)
                let job = try await planning.findOrMakePlan(of: record.id, from: sources)
                let whole = WholeJob(job: job, source: part.locator, engine: session, token: token, scratch: scratch)
                let made = try await whole.make(indexes: part.entry)
                if made == nil { try await stage(record) }
                return PlannedJob(job: job, indexes: sources.input.indexes, whole: made)
            }
        }
    }

    /// Plans a job, and leaves its passes to others.
    func planOnly(_ record: JobRecord) async throws(ReelFailure) -> PlannedJob {
        let sources = try await examine(record)
        let job = try await findOrMakePlan(of: record.id, from: sources)
        try await stage(record)
        return PlannedJob(job: job, indexes: sources.input.indexes, whole: nil)
    }

    /// What the engine reaches that reads a source and does the whole job.
    private func scope(toDo part: ReconPart, of record: JobRecord, _ scratch: String) async throws -> EngineScope {
        var scope = scope(toRead: part)
        scope.reads.append(part.indexes)
        scope.folders += try await store.job(record.id).engineFolders() + [.file(scratch)]
        scope.fileBytes = min(quotas[.output] ?? .max, Planning.longestFile)
        return scope
    }

    /// Bytes of the longest file that a small job leaves: its pictures may be uncompressed.
    private static let longestFile: Int64 = 16 << 30
}

/// A small job as one piece of work: the engine that has read its source makes the passes and joins them. The segments
/// stay in a folder of this machine, and only the output reaches the store.
struct WholeJob: Sendable {
    let job: StoredJob
    let source: Locator
    let engine: any Engine
    let token: String
    let scratch: String

    /// All results of a job, by the index of the pass or assembly, and the output.
    struct Made: Sendable {
        let results: [Int: RecordedResult]
        let output: JobResult
    }

    /// Nil if the job is not small, or if anything of it fails.
    func make(indexes: any SourceEntry) async throws(ReelFailure) -> Made? {
        guard job.plan.isSmall, let hash = job.plan.sources.first?.indexHash,
            let index = await indexes.locator(of: hash)
        else { return nil }
        do throws(ReelFailure) {
            return try await make(by: index)
        } catch {
            guard error.kind != .interrupted else { throw error }
            await job.entry.removePartial(token: token)
            return nil
        }
    }

    private func make(by index: Locator) async throws(ReelFailure) -> Made? {
        let plan = "\(scratch)/plan.json"
        try AtomicFile.write(json: job.plan, to: plan)
        let files = JobFiles(sources: [SourceFiles(source: source, index: index)], plan: .file(plan))
        guard try job.record.source.fingerprint.matches(source) else { return nil }
        var (results, segments): ([Int: RecordedResult], [StoredSegment]) = ([:], [])
        for (number, pass) in job.plan.passes.enumerated() {
            let result = try await result(of: pass, number, files)
            segments += result.segments.map { StoredSegment(record: $0, data: place(of: $0.name).data) }
            results[number] = RecordedResult(token: token, result: result)
        }
        let (assembled, output) = try await assemble(segments, files)
        results[job.plan.passes.count] = RecordedResult(token: token, result: assembled)
        return Made(results: results, output: output)
    }

    private func place(of name: SegmentName) -> SegmentPlace {
        SegmentPlace(
            name: name, data: .file("\(scratch)/\(name.text)"), record: .file("\(scratch)/\(name.recordName)"))
    }

    private func result(of pass: Pass, _ number: Int, _ files: JobFiles) async throws(ReelFailure) -> PassResult {
        let subjects = job.plan.subjects(of: pass)
        let places = subjects.map { place(of: SegmentName(subject: $0, token: token)) }
        let request = PassRequest(job: files, pass: number, segments: places, scratch: scratch)
        let before = engine.cpuSeconds
        let answer = try await engine.perform(pass.request(request))
        guard case .pass(var result) = answer, job.plan.asks(for: result.segments, of: pass, subjects, token: token)
        else { throw ReelFailure(.engineMisanswered(task: .pass)) }
        result.statistics.cpuSeconds = max(0, engine.cpuSeconds - before)
        return result
    }

    private func assemble(
        _ segments: [StoredSegment], _ files: JobFiles
    ) async throws(ReelFailure) -> (PassResult, JobResult) {
        let (container, before) = (job.plan.container, engine.cpuSeconds)
        let unnamed = Mutex<[StoredSegment]?>(segments)
        let request = EngineRequest.assemble(
            AssembleRequest(job: files, output: job.entry.assembling(container, token: token)))
        let answer = try await engine.perform(request, progress: { _ in }) {
            unnamed.withLock { segments in
                defer { segments = nil }
                return segments
            }
        }
        guard case .assembly(let result) = answer else { throw ReelFailure(.engineMisanswered(task: .assemble)) }
        let output = try await job.entry.adoptOutput(
            assembledBy: token, as: container, bytes: result.bytes, sha256: result.checksum)
        let statistics = PassStatistics(
            framesEncoded: job.plan.video.isPassthrough ? job.plan.frameCount : 0, peakRSS: result.peakRSS,
            cpuSeconds: max(0, engine.cpuSeconds - before), outputBytes: result.bytes)
        return (PassResult(segments: [], statistics: statistics, diagnostics: result.diagnostics), output)
    }
}

/// An engine that runs already. It serves everyone who asks for one, whatever the memory and scope.
private struct RunningEngine: EngineRunner {
    let session: any Engine

    nonisolated(nonsending) func withEngine<R: Sendable>(
        memory: Int64?, scope: EngineScope, _ body: nonisolated(nonsending) (any Engine) async throws -> R
    ) async throws -> R {
        try await body(session)
    }
}

extension Plan {
    /// Whether one slot does all of it sooner than several would: one pass of video, of about as many pixels as a minute
    /// and a half of 720p, that needs no more memory than planning may take.
    fileprivate var isSmall: Bool {
        let pixels = Int64(framesToMake) * Int64(video.format.width) * Int64(video.format.height)
        let end = clips.reduce(Rational(0)) { max($0, $1.map.offset + $1.map.duration) }
        return passes.count - audioPasses <= 1 && need <= Planning.need && pixels <= 2 << 30 && end <= Rational(600)
    }

    /// Whether an engine that was asked for segments of a pass reports exactly these, as far as numbers tell. It reads bytes
    /// of any origin, and the board keeps its report.
    ///
    /// - Parameter asked: the subjects of the segments that it was asked for.
    package func asks(
        for made: [SegmentRecord], of pass: Pass, _ asked: [SegmentSubject], token: String
    ) -> Bool {
        let areSound = made.allSatisfy { segment in
            guard segment.name.token == token else { return false }
            switch (segment.content.part, pass) {
            case (.video(let frames), _):
                guard clips.indices.contains(segment.name.subject.clip) else { return false }
                return segment.frames == clips[segment.name.subject.clip].shown(in: frames).count
                    && segment.timeBase == video.format.timeBase
            case (.audio, .audio(let number, _)):
                return segment.frames >= 0 && segment.timeBase == TimeBase(1, Int64(max(audio[number].sampleRate, 1)))
            case (.audio, .video): return false
            }
        }
        return areSound && made.map(\.name.subject).sorted() == asked.sorted()
    }
}

extension Pass {
    /// The request to an engine that makes this pass.
    package func request(_ request: PassRequest) -> EngineRequest {
        switch self {
        case .video: .reverse(request)
        case .audio: .reverseAudio(request)
        }
    }
}
