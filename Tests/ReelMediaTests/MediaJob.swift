import Foundation
import ReelCore
import ReelMedia
import ReelWords
import Testing

/// A whole job without queue and processes: recon, plan, every pass, assembly, all in this process.
struct MediaJob {
    /// Those of the sources, in their order.
    let indexes: [SourceIndex]
    let plan: Plan
    let results: [PassResult]
    let output: String
    let assembled: Assembled
    /// The most decoded frames that waited for an encoder at a time.
    let mostFramesHeld: Int

    /// Reverses `source` into `folder`; the index goes through its file form, as between processes. If a pass disproves
    /// the plan, the whole source is decoded and reversed again, as a worker would do.
    ///
    /// - Parameter clips: directions in which the output shows the part of the source that the spec selects, one after
    ///   the other.
    init(
        _ source: String, spec: JobSpec, folder: String, slots: Int = 2, clips: [Direction] = [.backwards],
        soundParts: Int? = nil
    ) throws { try self.init([source], spec: spec, folder: folder, slots: slots, clips: clips, soundParts: soundParts) }

    /// The same for several sources. If a pass disproves the plan, all of them are decoded.
    ///
    /// - Parameter soundParts: the number of passes that make each audio track; nil for the planner's choice.
    init(
        _ sources: [String], spec: JobSpec, folder: String, slots: Int = 2, clips: [Direction] = [.backwards],
        soundParts: Int? = nil
    ) throws {
        do {
            try self.init(sources, nil, spec, folder, slots, clips, soundParts)
        } catch let failure as ReelFailure where failure.reason.disprovesPlan {
            try self.init(sources, .disproved, spec, folder, slots, clips, soundParts)
        }
    }

    /// The index of the first source.
    var index: SourceIndex { indexes[0] }

    /// - Parameter decoding: why the whole sources are to be decoded, if they are.
    init(
        _ sources: [String], _ decoding: DecodingCause?, _ spec: JobSpec, _ folder: String, _ slots: Int = 2,
        _ clips: [Direction] = [.backwards], _ soundParts: Int? = nil
    ) throws {
        Media.prepare()
        indexes = try sources.enumerated().map { number, source in
            let scanned =
                spec.isOnlyHeard(number)
                ? try SoundRecon(.file(source)).run() : try Recon.index(of: .file(source), decoding: decoding)
            let index = try SourceIndex(decoding: scanned.encoded())
            #expect(index == scanned)
            return index
        }
        let files = zip(sources, indexes).map { IndexedSource(.file($0), index: $1) }
        let targets = try TargetChoice(indexes: indexes, spec: spec).targets()
        let planned = try MediaJob.plan(clips) { [indexes] clip in
            var input = PlanInput(
                indexes: indexes, indexHashes: indexes.map { _ in "" }, spec: spec, video: targets.value.video,
                audio: targets.value.audio, diagnostics: targets.diagnostics)
            if let clip { (input.chosenClips, input.audio) = ([clip], []) }
            return try Planner(slots: slots, memory: .standard).plan(input)
        }
        plan = if let soundParts { try planned.makingSound(in: soundParts, indexes) } else { planned }
        let reverser = try PassReverser(sources: files, plan: plan)
        var results: [PassResult] = []
        for pass in plan.passes {
            let places = plan.places(of: pass, in: folder)
            switch pass {
            case .video(let pass): results.append(try reverser.reverse(pass, at: places) { _, _ in })
            case .audio(let track, let samples):
                let audio = try SoundRenderer(sources: files, plan: plan, number: track, samples: samples)
                results.append(try audio.render(at: #require(places[0]), scratch: folder) {})
            }
        }
        self.results = results
        mostFramesHeld = reverser.mostFramesHeld
        output = folder + "/output." + spec.container.rawValue
        let assembler = Assembler(
            sources: files, plan: plan, segments: SegmentList(results.flatMap(\.segments), in: folder))
        assembled = try assembler.assemble(to: .file(output)) { _ in }
    }

    /// A plan of clips on end, each made from the usual plan's clip by `make`. The command line cannot ask for one.
    private static func plan(_ directions: [Direction], _ make: (Clip?) throws -> Plan) throws -> Plan {
        var plan = try make(nil)
        guard directions != [.backwards] else { return plan }
        var clip = plan.clips[0]
        (plan.clips, plan.passes) = ([], [])
        for direction in directions {
            clip.map.direction = direction
            let made = try make(clip)
            plan.need = plan.clips.isEmpty ? made.need : max(plan.need, made.need)
            for case .video(var pass) in made.passes {
                pass.clips = [plan.clips.count]
                plan.passes.append(.video(pass: pass))
            }
            plan.clips.append(clip)
            clip.map.offset = clip.map.offset + clip.map.source.seconds(clip.map.end - clip.map.start)
        }
        return try Plan.decoded(from: CanonicalJSON.bytes(of: plan))
    }

    var framesDecoded: Int { results.reduce(0) { $0 + $1.statistics.framesDecoded } }
    /// Everything that is reported to the user.
    var diagnostics: [Diagnostic] { plan.diagnostics + results.flatMap(\.diagnostics) + assembled.diagnostics }
    var warnings: [String] { diagnostics.map(\.words) }
}

extension PassResult { var warnings: [String] { diagnostics.map(\.words) } }

/// Runs a program to its end and returns what it printed. Records an issue if it fails.
@discardableResult
func run(_ program: String, _ arguments: String...) throws -> String {
    try run(program, arguments)
}

@discardableResult
func run(_ program: String, _ arguments: [String]) throws -> String {
    // Not Foundation's Process: its waiting needs a run loop, which threads of the test runner do not have.
    let quoted = ([program] + arguments).map { "'" + $0.replacing("'", with: "'\\''") + "'" }
    let command = quoted.joined(separator: " ") + " </dev/null"
    guard let pipe = popen(command, "re") else { throw CocoaError(.executableLoad) }
    var output: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while case let count = fread(&buffer, 1, buffer.count, pipe), count > 0 { output += buffer[..<count] }
    let status = pclose(pipe)
    let text = String(decoding: output, as: UTF8.self)
    #expect(status == 0, "\(command): \(text)")
    return text
}

/// What ffprobe says of these entries: a line for each stream, packet or frame, of all streams or of the given ones.
func probe(_ path: String, _ entries: String, streams: String? = nil) throws -> String {
    let selection = streams.map { ["-select_streams", $0] } ?? []
    return try run("ffprobe", ["-v", "error"] + selection + ["-show_entries", entries, "-of", "csv=p=0", path])
}

@discardableResult
func ffmpeg(_ arguments: String...) throws -> String { try ffmpeg(arguments) }

@discardableResult
func ffmpeg(_ arguments: [String]) throws -> String { try run("ffmpeg", ["-v", "error", "-nostdin"] + arguments) }

func contents(of path: String) throws -> Data { try Data(contentsOf: URL(fileURLWithPath: path)) }

func store(_ bytes: Data, to path: String) throws { try bytes.write(to: URL(fileURLWithPath: path)) }

/// Why something is refused or fails; nil if it does not.
func failureReason<R>(_ body: () throws -> R) throws -> FailureReason? {
    do {
        _ = try body()
        return nil
    } catch let failure as ReelFailure { return failure.reason }
}

extension TargetChoice {
    init(of source: String, _ spec: JobSpec) throws { self.init(indexes: [try Recon(.file(source)).run()], spec: spec) }
}

/// A folder that is removed with its owner.
final class ScratchFolder {
    let path: String

    init() {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("reel-media-\(UUID().uuidString)")
        path = url.path
        do { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true) } catch {
            Issue.record(error)
        }
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}

extension Plan {
    /// The plan with as many passes for each audio track, which must be joinable.
    fileprivate func makingSound(in parts: Int, _ indexes: [SourceIndex]) throws -> Plan {
        var plan = self
        let video = passes.filter { if case .video = $0 { true } else { false } }
        plan.passes = try audio.enumerated().flatMap { place, target in
            let sound = try #require(JoinableSound(target, of: self, indexes), "one pass must make audio \(place)")
            return sound.parts(parts).map { Pass.audio(place: place, samples: $0) }
        }
        plan.passes += video
        return try Plan.decoded(from: CanonicalJSON.bytes(of: plan))
    }

    /// Where the segments of a pass are to be, in a folder.
    func places(of pass: Pass, in folder: String, token: String = "7e57") -> [SegmentPlace?] {
        subjects(of: pass).map { subject in
            let name = SegmentName(subject: subject, token: token)
            return SegmentPlace(
                name: name, data: .file("\(folder)/\(name.text)"), record: .file("\(folder)/\(name.recordName)"))
        }
    }
}

extension StoredSegment {
    /// A segment in a folder.
    init(_ record: SegmentRecord, in folder: String) {
        self.init(record: record, data: .file("\(folder)/\(record.name.text)"))
    }
}

extension SegmentList {
    /// Segments in a folder.
    convenience init(_ records: [SegmentRecord], in folder: String) {
        self.init(records.map { StoredSegment($0, in: folder) })
    }
}

extension MediaJob {
    /// The records of all segments, in the order of the passes.
    var records: [SegmentRecord] { results.flatMap(\.segments) }

    /// Assembles the job again from its one source, by default with its own segments, plan and index.
    func assembler(
        of source: String, _ segments: [SegmentRecord]? = nil, plan: Plan? = nil, index: SourceIndex? = nil
    ) -> Assembler {
        let folder = String(output[..<(output.lastIndex(of: "/") ?? output.startIndex)])
        return Assembler(
            sources: [IndexedSource(.file(source), index: index ?? self.index)], plan: plan ?? self.plan,
            segments: SegmentList(segments ?? records, in: folder))
    }

    /// Makes segments of the job's one source again.
    func reverser(of source: String, plan: Plan? = nil, index: SourceIndex? = nil) throws -> PassReverser {
        try PassReverser(sources: [IndexedSource(.file(source), index: index ?? self.index)], plan: plan ?? self.plan)
    }
}
