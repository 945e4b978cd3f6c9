import Foundation
import ReelCore
import ReelEngine
import ReelJobs
import ReelStore
import ReelWork
import Synchronization

/// Engines that answer in the test's process: they write the files that an engine writes, with a line of text in place of
/// pictures.
final class FakeEngines: EngineRunner {
    /// What an engine does with a request.
    enum Answer: Sendable {
        case result
        case failure(ReelFailure)
        case crash
        /// Does the pass, and reports segments of another attempt.
        case misreport
        /// Goes on when the test lets it, unless it is killed before.
        case wait
    }

    private struct State {
        var answer: @Sendable (EngineRequest) -> Answer = { _ in .result }
        var probeAnswer = Answer.result
        var root: String?
        var indexing: @Sendable (inout SourceIndex) -> Void = { _ in }
        var choosing: @Sendable (inout TargetsResult) -> Void = { _ in }
        var reconHash: String?
        var indexPadding = 0
        var started: [Int64?] = []
        var running = 0
        var working = 0
        var mostWorking = 0
        var waiting = 0
        var passes: [Int] = []
        var assemblies = 0
        var recons = 0
        var threads: [Int] = []
        var (cpuSeconds, cpuPerPass) = (0.0, 0.0)
    }

    private let state = Mutex(State())
    private let gate = AsyncSignal()
    private let scratch: String

    /// - Parameter scratch: the folder that requests of jobs name, unlike those for a worker's own clip.
    init(scratch: String) { self.scratch = scratch }

    static let identity = EngineIdentity(version: Wire.version, encoders: [FakeMedia.encoder], sandbox: .none)

    static let crash = ReelFailure(.engineDied(place: .idle, end: .signalled(signal: 11), lastWords: nil))

    // MARK: What tests say and see

    /// Says what engines do with passes and assemblies.
    func answer(_ answer: @escaping @Sendable (EngineRequest) -> Answer) { state.withLock { $0.answer = answer } }

    /// Says what engines do when they read sources and choose encoders.
    func answerProbes(_ answer: Answer) { state.withLock { $0.probeAnswer = answer } }

    /// From now on, no source can be read.
    func failProbes(with failure: ReelFailure) { answerProbes(.failure(failure)) }

    /// From now on, engines start only for sources in this folder; nil for any.
    func takeSources(from root: String?) { state.withLock { $0.root = root } }

    /// From now on, recon writes other indexes.
    func changeIndexes(_ change: @escaping @Sendable (inout SourceIndex) -> Void) {
        state.withLock { $0.indexing = change }
    }

    /// From now on, recon writes this many bytes after its index.
    func padIndexes(by count: Int) { state.withLock { $0.indexPadding = count } }

    /// From now on, recon names this hash of its index.
    func nameHash(_ hash: String) { state.withLock { $0.reconHash = hash } }

    /// From now on, encoders are chosen otherwise.
    func changeTargets(_ change: @escaping @Sendable (inout TargetsResult) -> Void) {
        state.withLock { $0.choosing = change }
    }

    /// From now on, each pass takes this many seconds of CPU time.
    func burn(_ seconds: Double) { state.withLock { $0.cpuPerPass = seconds } }

    /// Lets the engines go on that wait.
    func letGo() { gate.send() }

    /// How many engines wait.
    var waiting: Int { state.withLock(\.waiting) }
    /// The memory of each engine that was started to work at passes.
    var started: [Int64] { state.withLock { $0.started.compactMap(\.self) } }
    /// How many engines were started.
    var starts: Int { state.withLock(\.started.count) }
    var running: Int { state.withLock(\.running) }
    /// The most engines that reversed passes of jobs at the same time.
    var mostWorking: Int { state.withLock(\.mostWorking) }
    /// The passes that engines were asked to reverse, in order.
    var passes: [Int] { state.withLock(\.passes) }
    fileprivate var cpuSeconds: Double { state.withLock(\.cpuSeconds) }
    var assemblies: Int { state.withLock(\.assemblies) }
    /// How often engines were asked to read a source.
    var recons: Int { state.withLock(\.recons) }
    /// The number of threads of each choice of encoders.
    var threads: [Int] { state.withLock(\.threads) }

    // MARK: EngineRunner

    nonisolated(nonsending) func withEngine<R: Sendable>(
        memory: Int64?, scope: EngineScope, _ body: nonisolated(nonsending) (any Engine) async throws -> R
    ) async throws -> R {
        if let root = state.withLock(\.root),
            let outside = scope.sources.first(where: { !$0.name.hasPrefix(root + "/") })
        {
            throw ReelFailure(.sourceOutside(path: outside.name))
        }
        state.withLock { state in
            state.started.append(memory)
            if memory != nil { state.running += 1 }
        }
        defer { state.withLock { if memory != nil { $0.running -= 1 } } }
        return try await body(FakeEngine(self))
    }

    fileprivate func perform(
        _ request: EngineRequest, _ progress: @Sendable (EngineProgress) -> Void, next: NextSegments?
    ) async throws(ReelFailure) -> EngineResult {
        let answer: @Sendable (EngineRequest) -> Answer = state.withLock { state in
            switch request {
            case .reverse(let pass), .reverseAudio(let pass):
                state.passes.append(pass.pass)
                state.cpuSeconds += state.cpuPerPass
            case .assemble: state.assemblies += 1
            case .recon: state.recons += 1
            case .choose(let choice): state.threads.append(choice.threads)
            case .pictures: break
            }
            switch request {
            case .reverse, .reverseAudio, .assemble: return state.answer
            case .recon, .choose, .pictures: return { [answer = state.probeAnswer] _ in answer }
            }
        }
        if isOfJob(request) {
            state.withLock { state in
                state.working += 1
                state.mostWorking = max(state.mostWorking, state.working)
            }
        }
        defer { if isOfJob(request) { state.withLock { $0.working -= 1 } } }
        switch answer(request) {
        case .result: break
        case .misreport:
            guard case .pass(var pass) = try await ReelFailure.unifying({ try self.result(of: request, []) }) else {
                break
            }
            for place in pass.segments.indices { pass.segments[place].name.token = "ff" }
            return .pass(pass)
        case .failure(let failure): throw failure
        case .crash: throw FakeEngines.crash
        case .wait:
            progress(.video(decoded: 3, encoded: 2, frames: 0..<3))
            try await waitForGate()
        }
        var segments: [StoredSegment] = []
        while let more = try await next?() { segments += more }
        return try await ReelFailure.unifying { [segments] in try self.result(of: request, segments) }
    }

    private func isOfJob(_ request: EngineRequest) -> Bool {
        if case .reverse(let pass) = request { pass.scratch.hasPrefix(scratch + "/reel-scratch.") } else { false }
    }

    private func waitForGate() async throws(ReelFailure) {
        let count = gate.count
        let ended = AsyncSignal()
        let opening = Task { [gate] in
            await gate.wait(after: count)
            ended.send()
        }
        state.withLock { $0.waiting += 1 }
        await withTaskCancellationHandler {
            await ended.wait(after: 0)
        } onCancel: {
            ended.send()
        }
        state.withLock { $0.waiting -= 1 }
        _ = opening
        if Task.isCancelled { throw ReelFailure(.interrupted) }
    }

    private func result(of request: EngineRequest, _ segments: [StoredSegment]) throws -> EngineResult {
        switch request {
        case .recon(let request):
            var index = FakeMedia.index(frames: request.source.name.hasSuffix("/clip.y4m") ? 12 : WorkerFixture.frames)
            state.withLock(\.indexing)(&index)
            let bytes = index.encoded() + [UInt8](repeating: 0, count: state.withLock(\.indexPadding))
            try Data(bytes).write(to: URL(filePath: request.index.name))
            let named = state.withLock(\.reconHash)
            return .recon(ReconResult(indexHash: named ?? Fingerprint.sha256Hex(bytes)))
        case .choose(let request):
            var targets = TargetsResult(video: FakeMedia.target(threads: request.threads), audio: [], diagnostics: [])
            state.withLock(\.choosing)(&targets)
            return .targets(targets)
        case .reverse(let request), .reverseAudio(let request): return .pass(try reverse(request))
        case .assemble(let request): return .assembly(try assemble(request, segments))
        case .pictures: return .pictures
        }
    }

    private func reverse(_ request: PassRequest) throws -> PassResult {
        let plan = try Plan.decoded(from: Array(Data(contentsOf: URL(filePath: request.job.plan.name))))
        let indexes = try request.job.sources.map {
            try SourceIndex(decoding: Array(Data(contentsOf: URL(filePath: $0.index.name))))
        }
        let contents = PlannedSegments(plan: plan, indexes: indexes).contents(of: plan.passes[request.pass])
        var made: [SegmentRecord] = []
        for (content, place) in zip(contents, request.segments) {
            guard let place, case .video(let frames) = content.part else { continue }
            let bytes = Array("\(content.part) backwards\n".utf8)
            let record = SegmentRecord(
                content: content, clip: place.name.subject.clip, token: place.name.token, frames: frames.count,
                packets: frames.count, bytes: Int64(bytes.count), checksum: Fingerprint.sha256Hex(bytes),
                timeBase: plan.video.format.timeBase, reorderDepth: 0, extradataHash: "")
            try Data(bytes).write(to: URL(filePath: place.data.name))
            try JSONEncoder().encode(record).write(to: URL(filePath: place.record.name))
            made.append(record)
        }
        let frames = made.reduce(0) { $0 + $1.frames }
        return PassResult(
            segments: made, statistics: PassStatistics(framesDecoded: frames, framesEncoded: frames, peakRSS: 1000),
            diagnostics: [])
    }

    /// Joins the segments, the last frames first.
    private func assemble(_ request: AssembleRequest, _ segments: [StoredSegment]) throws -> AssemblyResult {
        let parts = try segments.sorted { $0.record.content.part > $1.record.content.part }.map {
            try Data(contentsOf: URL(filePath: $0.data.name))
        }
        let output = parts.reduce(Data(), +)
        try output.write(to: URL(filePath: request.output.name))
        return AssemblyResult(
            bytes: Int64(output.count), checksum: Fingerprint.sha256Hex(Array(output)),
            packets: segments.reduce(0) { $0 + $1.record.packets }, peakRSS: 2000, diagnostics: [])
    }
}

private struct FakeEngine: Engine {
    let engines: FakeEngines

    init(_ engines: FakeEngines) { self.engines = engines }

    var identity: EngineIdentity { FakeEngines.identity }
    var standardErrorTail: String { "last words" }
    var cpuSeconds: Double { engines.cpuSeconds }

    func perform(
        _ request: EngineRequest, progress: @escaping @Sendable (EngineProgress) -> Void, next: NextSegments?
    ) async throws(ReelFailure) -> EngineResult {
        try await engines.perform(request, progress, next: next)
    }
}

/// A source as recon would index it, and how its output is encoded.
enum FakeMedia {
    static let encoder = "libx264 of the tests"

    /// Frames of equal length, one packet each, with a random access point at every tenth.
    static func index(frames count: Int) -> SourceIndex {
        let frames = (0..<count).map { place in
            FrameEntry(
                interval: Interval(start: Timestamp(Int64(place) * 512), duration: Ticks(512)), packet: Int32(place))
        }
        let packets = (0..<count).map { place in
            PacketEntry(
                pts: Timestamp(Int64(place) * 512), dts: Timestamp(Int64(place) * 512), size: 1000,
                position: Int64(48 + place * 1100), flags: place.isMultiple(of: 10) ? .key : [])
        }
        let points = stride(from: 0, to: count, by: 10).map { RandomAccessPoint(packet: Int32($0), frame: Int32($0)) }
        let stream = VideoStream(
            index: 0, codec: "h264", width: 64, height: 48, pixelFormat: "yuv420p", timeBase: timeBase,
            frameRate: Rational(25), sampleAspectRatio: nil, displayMatrix: nil, colour: ColourTags(),
            fieldOrder: .progressive, reorderDepth: 0, frameBytes: 4608, details: TrackDetails())
        return SourceIndex(
            format: "matroska,webm", fileSize: Int64(48 + count * 1100), startTime: Rational(0),
            video: VideoTrack(stream: stream, packets: packets, frames: frames, randomAccessPoints: points),
            audio: [], metadata: [], passthrough: .impossible(why: .interFrames(codec: "h264")), diagnostics: [])
    }

    private static let timeBase = TimeBase(1, 12800)

    static func target(threads: Int = 1) -> VideoTarget {
        .encode(
            VideoEncoding(
                encoder: "libx264",
                format: OutputFormat(
                    timeBase: timeBase, width: 64, height: 48, pixelFormat: "yuv420p", frameRate: Rational(25)),
                options: [], bitrate: nil, threads: threads, keyFrameInterval: 250,
                identity: EncoderIdentity(build: encoder, extradataHash: "")))
    }
}
