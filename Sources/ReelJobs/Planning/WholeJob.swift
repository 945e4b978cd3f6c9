internal import Foundation
package import ReelCore
package import ReelEngine
internal import ReelQueue
internal import ReelStore
internal import Synchronization

extension Planning {
    /// A planned job, and what became of its work.
    struct PlannedJob: Sendable {
        let job: StoredJob
        let indexes: [SourceIndex]
        let work: WholeJob.Outcome
    }

    /// Bytes of the longest source that one engine both reads and reverses.
    private static let shortSource: Int64 = 64 << 20

    /// Whether a job may turn out to be small enough for one engine to do all of it. The plan tells for certain.
    func mayBeSmall(_ record: JobRecord) async -> Bool {
        let entry = store.job(record.id)
        let isShort = takesAllAsSmall || record.source.fingerprint.size <= Planning.shortSource
        guard record.sources.count == 1, isShort, !record.paused,
            !record.terms.keepsSegments, !quotas.countsJobs, await !entry.hasFinishedSegments
        else { return false }
        return await entry.publishedOutput == nil
    }

    /// Plans a job that no other process can work at, and does all of it if it is small. The job's record then says that
    /// it is done.
    ///
    /// - Parameter scratch: a folder of this machine for segments, which no other engine has.
    func doAlone(_ wanted: JobRecord, anew: Bool, scratch: String) async throws(ReelFailure) -> PlannedJob {
        try await openAlone(wanted, anew: anew)
        let entry = store.job(wanted.id)
        let token = Hexadecimal.text((0..<16).map { _ in UInt8.random(in: .min ... .max) })
        let planned = try await planAndDo(entry.read(), token: token, scratch: scratch)
        if let made = planned.work.made {
            try await entry.recordDone(made.output, at: Date().timeIntervalSince1970)
        }
        return planned
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
                let whole = WholeJob(
                    job: job, source: part.locator, engine: session, token: token, scratch: scratch, working: working,
                    isTakenAsSmall: takesAllAsSmall)
                let outcome = try await whole.make(indexes: part.entry)
                if outcome.made == nil { try await stage(record) }
                return PlannedJob(job: job, indexes: sources.input.indexes, work: outcome)
            }
        }
    }

    /// Plans a job, and leaves its passes to others.
    func planOnly(_ record: JobRecord) async throws(ReelFailure) -> PlannedJob {
        let sources = try await examine(record)
        let job = try await findOrMakePlan(of: record.id, from: sources)
        try await stage(record)
        return PlannedJob(job: job, indexes: sources.input.indexes, work: .left)
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
    let working: Planning.Working
    /// Whether it is done, however long it is.
    var isTakenAsSmall = false

    enum Outcome: Sendable {
        /// The job is not small: its passes are left to others.
        case left
        case made(Made)
        /// Its passes are left to others, too.
        case failed(WholeJobFailure)

        var made: Made? { if case .made(let made) = self { made } else { nil } }
        var failure: WholeJobFailure? { if case .failed(let failure) = self { failure } else { nil } }
    }

    /// All results of a job, by the index of the pass or assembly, and the output.
    struct Made: Sendable {
        let results: [Int: RecordedResult]
        let output: JobResult
    }

    /// Throws `.interrupted` alone.
    func make(indexes: any SourceEntry) async throws(ReelFailure) -> Outcome {
        guard isTakenAsSmall || job.plan.isSmall, let hash = job.plan.sources.first?.indexHash else { return .left }
        var step = WholeJobFailure.Step.files
        do throws(ReelFailure) {
            guard let index = try await indexes.locator(of: hash) else { return .left }
            return .made(try await make(by: index, at: &step))
        } catch {
            guard error.kind != .interrupted else { throw error }
            await job.entry.removePartial(token: token)
            return .failed(WholeJobFailure(step: step, failure: error))
        }
    }

    /// - Parameter step: what is done now.
    private func make(by index: Locator, at step: inout WholeJobFailure.Step) async throws(ReelFailure) -> Made {
        let plan = "\(scratch)/plan.json"
        try AtomicFile.write(json: job.plan, toScratch: plan)
        let files = JobFiles(sources: [SourceFiles(source: source, index: index)], plan: .file(plan))
        guard try job.record.source.fingerprint.matches(source) else {
            throw ReelFailure(.sourceReplaced(path: source.name))
        }
        var (results, segments): ([Int: RecordedResult], [StoredSegment]) = ([:], [])
        for (number, pass) in job.plan.passes.enumerated() {
            step = .pass(number)
            let result = try await result(of: pass, number, files, after: results)
            segments += result.segments.map { StoredSegment(record: $0, data: place(of: $0.name).data) }
            results[number] = RecordedResult(token: token, result: result)
        }
        step = .assembly
        working(job.status(.assembling, results))
        let (assembled, output) = try await assemble(segments, files) { [job, working, results] progress in
            guard case .assembly(_, _, let thousandths) = progress else { return }
            working(job.status(.assembling, results, assembled: Double(min(thousandths, 1000)) / 1000))
        }
        results[job.plan.passes.count] = RecordedResult(token: token, result: assembled)
        return Made(results: results, output: output)
    }

    private func place(of name: SegmentName) -> SegmentPlace { SegmentPlace(name, inScratch: scratch) }

    /// - Parameter earlier: the results of the passes before.
    private func result(
        of pass: Pass, _ number: Int, _ files: JobFiles, after earlier: [Int: RecordedResult]
    ) async throws(ReelFailure) -> PassResult {
        let subjects = job.plan.subjects(of: pass)
        let places = subjects.map { place(of: SegmentName(subject: $0, token: token)) }
        let request = PassRequest(job: files, pass: number, segments: places, scratch: scratch)
        let before = engine.cpuSeconds
        working(job.status(.running, earlier))
        let answer = try await engine.perform(pass.request(request)) { [job, working] progress in
            guard case .video(let decoded, let encoded, _) = progress else { return }
            working(job.status(.running, earlier, decoded: decoded, encoded: encoded))
        }
        guard case .pass(var result) = answer, job.plan.asks(for: result.segments, of: pass, subjects, token: token)
        else { throw ReelFailure(.engineMisanswered(task: .pass)) }
        result.statistics.cpuSeconds = max(0, engine.cpuSeconds - before)
        return result
    }

    private func assemble(
        _ segments: [StoredSegment], _ files: JobFiles, progress: @escaping @Sendable (EngineProgress) -> Void
    ) async throws(ReelFailure) -> (PassResult, JobResult) {
        let before = engine.cpuSeconds
        let unnamed = Mutex<[StoredSegment]?>(segments)
        let assembly = Assembly(of: job.plan, files, in: job.entry, token: token)
        var (result, output) = try await assembly.perform(in: engine, progress: progress) {
            unnamed.withLock { segments in
                defer { segments = nil }
                return segments
            }
        }
        result.statistics.cpuSeconds = max(0, engine.cpuSeconds - before)
        return (result, output)
    }
}

extension SegmentPlace {
    /// A place in a folder of this machine. What lies there need not survive a crash of the machine.
    init(_ name: SegmentName, inScratch folder: String) {
        self.init(
            name: name, data: .file("\(folder)/\(name.text)"), record: .file("\(folder)/\(name.recordName)"),
            isDurable: false)
    }
}

/// Why a small job could not be done as a whole.
package struct WholeJobFailure: Sendable {
    package enum Step: Hashable, Sendable, CustomStringConvertible {
        case files
        /// By its place in the plan.
        case pass(Int)
        case assembly

        package var description: String {
            switch self {
            case .files: "opening its files"
            case .pass(let number): "pass \(number)"
            case .assembly: "the assembly"
            }
        }
    }

    package let step: Step
    package let failure: ReelFailure
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
        return passes.count - audioPasses <= 1 && need <= Planning.need && pixels <= 2 << 30
            && duration <= Rational(600)
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
                return segment.frames == clips[segment.name.subject.clip].places(showing: frames).count
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
