import ReelCore
import ReelEngine
import ReelJobs
import ReelStore
import Testing

/// An engine that a hostile file has taken over writes whatever index and targets it likes. The coordinator or a worker plans
/// by them, outside of any sandbox.
@Suite("Hostile indexes and targets", .timeLimit(.minutes(10)))
struct HostileIndexTests {
    private static let numbers = [
        "0", "-1", "1", "2147483647", "1152921504606846976", "-1152921504606846976", "4611686018427387904",
        "9223372036854775807", "-9223372036854775808",
    ]

    private static let frames = 60

    private static let index: SourceIndex = {
        let track = TrackDetails(language: "deu", title: "7", dispositions: ["default"])
        var stream = VideoStream(
            index: 0, codec: "h264", width: 64, height: 48, pixelFormat: "yuv420p", timeBase: TimeBase(1, 12_800),
            frameRate: Rational(25), sampleAspectRatio: Rational(4, 3),
            displayMatrix: [0, 65536, 0, -65536, 0, 0, 0, 0, 1 << 30], colour: ColourTags(), fieldOrder: .topFirst,
            reorderDepth: 2, frameBytes: 4608, details: track)
        (stream.level, stream.profile) = (40, "High")
        return SourceIndex(
            format: "matroska,webm", fileSize: 70_000, startTime: Rational(1, 3),
            video: VideoTrack(
                stream: stream,
                packets: (0..<Int64(frames)).map {
                    PacketEntry(
                        pts: Timestamp($0 * 512), dts: Timestamp($0 * 512), size: 1000, position: 48 + $0 * 1100,
                        flags: $0 % 10 == 0 ? .key : [])
                },
                frames: (0..<Int64(frames)).map {
                    FrameEntry(
                        interval: Interval(start: Timestamp($0 * 512), duration: Ticks(512)), packet: Int32($0))
                },
                randomAccessPoints: stride(from: 0, to: Int32(frames), by: 10).map {
                    RandomAccessPoint(packet: $0, frame: $0)
                }),
            audio: [
                AudioTrack(
                    index: 1, codec: "aac", sampleRate: 48_000, channels: 2, channelLayout: "stereo",
                    sampleFormat: "fltp", bitsPerSample: 16, timeBase: TimeBase(1, 48_000),
                    span: Interval(start: Timestamp(-1024), duration: Ticks(100_000)), bytes: 65_536, details: track)
            ],
            subtitles: [
                SubtitleTrack(
                    parameters: SubtitleTrack.Parameters(
                        index: 2, codec: "webvtt", header: [], isTimedText: false, width: 640, height: 480,
                        timeBase: TimeBase(1, 1000), details: track),
                    cues: [
                        Cue(
                            interval: Interval(start: Timestamp(10), duration: Ticks(900)),
                            text: CueText(payload: [65], identifier: [], settings: []))
                    ])
            ],
            chapters: [Chapter(start: Rational(1, 3), end: Rational(1001, 30), title: "1")], metadata: [],
            passthrough: .impossible(why: .interFrames(codec: "h264")), diagnostics: [])
    }()

    private static let targets = TargetsResult(
        video: .encode(
            VideoEncoding(
                encoder: "libx264",
                format: OutputFormat(
                    timeBase: TimeBase(1, 12_800), width: 64, height: 48, pixelFormat: "yuv420p",
                    frameRate: Rational(25)),
                options: [], bitrate: .constant(100_000), threads: 1, keyFrameInterval: 250,
                identity: EncoderIdentity(build: "libx264 Lavc59.37.100", extradataHash: ""))),
        audio: [
            AudioTarget(
                track: 0, direction: .backwards, encoder: "aac", sampleRate: 48_000, channelLayout: "stereo",
                bitrate: 192_000, lossless: false)
        ], diagnostics: [])

    private static let specs: [JobSpec] = {
        let seconds = { (number: Int64, scale: Int64) in Position.seconds(Rational(number, scale)) }
        let edit = Edit(
            clips: [
                EditClip(from: seconds(1, 2), to: seconds(2, 1), play: .pingPong, times: 2, speed: Rational(3, 2)),
                EditClip(play: .forward, still: Rational(2)), EditClip(to: .frames(7), play: .reverse),
            ], crossfade: Rational(1, 10), soundtrack: Soundtrack(source: 0))
        var shown = JobSpec(container: .mkv, timestamps: .source)
        shown.passFrames = 10
        var paced = JobSpec(container: .mp4, mostFrames: Rational(10))
        paced.duration = seconds(1, 1)
        return [JobSpec(container: .mkv, passFrames: 10), shown, paced, JobSpec(container: .mkv, edit: edit)]
    }()

    /// Does with a job's index and targets what the programs do outside of the sandbox. Throws why planning refuses them.
    private func work(_ index: SourceIndex, _ targets: TargetsResult, _ spec: JobSpec) throws {
        let planner = Planner(slots: 2)
        let input = PlanInput(
            indexes: [index], indexHashes: [""], spec: spec, video: targets.video, audio: targets.audio)
        _ = try planner.threads(input)
        let plan = try planner.plan(input)
        #expect(
            try Plan.decoded(from: CanonicalJSON.bytes(of: plan)) == plan, "the store does not take its own plan back")
        #expect(plan.fits([index]))
        _ = Quotas.asked(by: plan, of: [index])
        _ = (plan.soundLength, plan.reservedAddresses, plan.framesToMake)
        _ = PlanView(id: "", sources: ["a"], plan: plan, indexes: [index])
        let planned = PlannedSegments(plan: plan, indexes: [index])
        for pass in plan.passes { _ = planned.contents(of: pass) }
    }

    /// Every text that differs from `text` in one number.
    private func damaged(_ text: String) -> [(text: String, change: String)] {
        var runs: [Range<String.Index>] = []
        var place = text.startIndex
        while let start = text[place...].firstIndex(where: \.isNumber) {
            let end = text[start...].firstIndex { !$0.isNumber } ?? text.endIndex
            let sign = start > text.startIndex ? text.index(before: start) : start
            runs.append(text[sign] == "-" ? sign..<end : start..<end)
            place = end
        }
        return runs.flatMap { run in
            let before = text[..<run.lowerBound].suffix(24)
            return Self.numbers.map { (text.replacingCharacters(of: run, with: $0), "\(before)\($0)") }
        }
    }

    @Test("an index is refused when it is read, or can be planned with")
    func parameters() throws {
        let bytes = Self.index.encoded()
        let (length, start) = try varint(bytes, at: 8)
        let text = String(decoding: bytes[start..<start + length], as: UTF8.self)
        let tables = bytes[(start + length)...].dropLast(8)
        var accepted = 0
        for (json, change) in damaged(text) {
            guard
                let index = try? SourceIndex(
                    decoding: seal(Array(bytes[..<8]) + varint(json.utf8.count) + json.utf8 + tables))
            else { continue }
            accepted += 1
            for spec in Self.specs {
                do {
                    try work(index, Self.targets, spec)
                } catch is ReelFailure {
                    continue
                } catch {
                    Issue.record("\(change): \(error)")
                }
            }
        }
        #expect(accepted > 100)
    }

    @Test("times at a clock's bounds are refused when they are read, or can be planned with")
    func times() throws {
        let bound: Int64 = 1 << 60
        for (start, duration) in [(bound, bound), (bound, 0), (bound - 5, 5), (bound - 5, 6), (-bound, bound)] {
            for isLast in [true, false] {
                var index = Self.index
                let place = isLast ? Self.frames - 1 : 0
                index.video.frames[place].interval = Interval(start: Timestamp(start), duration: Ticks(duration))
                guard let read = try? SourceIndex(decoding: index.encoded()) else { continue }
                #expect(start + duration <= bound)
                for spec in Self.specs {
                    do { try work(read, Self.targets, spec) } catch is ReelFailure {}
                }
            }
        }
    }

    @Test("targets are refused when an engine names them, or can be planned with")
    func numbers() throws {
        let text = String(decoding: try CanonicalJSON.bytes(of: Self.targets), as: UTF8.self)
        var accepted = 0
        for (json, change) in damaged(text) {
            guard let targets = try? CanonicalJSON.value(TargetsResult.self, from: Array(json.utf8)),
                targets.isSound(for: [Self.index])
            else { continue }
            accepted += 1
            for spec in Self.specs {
                do {
                    try work(Self.index, targets, spec)
                } catch is ReelFailure {
                    continue
                } catch {
                    Issue.record("\(change): \(error)")
                }
            }
        }
        #expect(accepted > 10)
    }

    // MARK: The file's form

    private func varint(_ bytes: [UInt8], at place: Int) throws -> (value: Int, end: Int) {
        var (value, end, shift) = (0, place, 0)
        while bytes[end] >= 0x80 {
            value |= Int(bytes[end] & 0x7F) << shift
            (end, shift) = (end + 1, shift + 7)
        }
        return (value | Int(bytes[end]) << shift, end + 1)
    }

    private func varint(_ value: Int) -> [UInt8] {
        value < 0x80 ? [UInt8(value)] : [UInt8(value & 0x7F | 0x80)] + varint(value >> 7)
    }

    /// Appends the checksum: FNV-1a, 64 bits, low byte first.
    private func seal(_ bytes: [UInt8]) -> [UInt8] {
        let hash = bytes.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        return bytes + (0..<8).map { UInt8(truncatingIfNeeded: hash >> (8 * UInt64($0))) }
    }
}

extension String {
    fileprivate func replacingCharacters(of range: Range<Index>, with text: String) -> String {
        var copy = self
        copy.replaceSubrange(range, with: text)
        return copy
    }
}
