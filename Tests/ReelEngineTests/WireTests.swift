import Foundation
import ReelCore
import ReelEngine
import ReelTestSupport
import Testing

/// Messages between programs of one release, and of two releases during an upgrade.
@Suite("The wire")
struct WireTests {
    private let job = JobFiles(
        sources: [SourceFiles(source: .file("/media/one two.mp4"), index: .file("/store/index"))],
        plan: .file("/store/plan.json"))

    private var pass: PassRequest {
        PassRequest(job: job, pass: 3, segments: [nil, place(120..<240), nil, place(360..<480)], scratch: "/tmp")
    }

    private func place(_ frames: Range<Int>) -> SegmentPlace {
        let name = SegmentName(subject: SegmentSubject(clip: 0, part: .video(frames: frames)), token: "7e")
        return SegmentPlace(
            name: name, data: .file("/store/segments/\(name.text)"),
            record: .file("/store/segments/\(name.recordName)"))
    }

    private var segment: StoredSegment {
        let record = SegmentRecord(
            content: SegmentContent(source: 0, part: .video(frames: 0..<120), times: "aa", target: "bb"), clip: 0,
            token: "7e", frames: 120, packets: 120, bytes: 4321, checksum: "c0", timeBase: TimeBase(1, 30000),
            reorderDepth: 2, extradataHash: "e0")
        return StoredSegment(record: record, data: .file("/store/segments/\(record.name.text)"))
    }

    private func picture(of subject: PicturesRequest.Subject) -> PicturesRequest {
        PicturesRequest(
            subject: subject, within: PictureSize(width: 160, height: 160), file: .file("/store/pictures/a.jpg"))
    }

    private var shown: FilePicture {
        FilePicture(file: .file("/store/out.mkv"), start: Rational(1001, 30000), lasts: Rational(1001, 30000))
    }

    private var format: OutputFormat {
        OutputFormat(
            timeBase: TimeBase(1, 30000), width: 1280, height: 720, pixelFormat: "yuv420p",
            frameRate: Rational(30000, 1001))
    }

    private var stream: VideoStream {
        VideoStream(
            index: 0, codec: "h264", width: 1280, height: 720, pixelFormat: "yuv420p", timeBase: TimeBase(1, 30000),
            frameRate: Rational(30000, 1001), sampleAspectRatio: nil, displayMatrix: nil, colour: ColourTags(),
            fieldOrder: .progressive, reorderDepth: 2, frameBytes: 1_382_400, details: TrackDetails())
    }

    private var video: VideoTarget {
        .encode(
            VideoEncoding(
                encoder: "libx264", format: format, options: [MediaOption(name: "preset", value: "medium")],
                bitrate: .constant(2_000_000), threads: 2, keyFrameInterval: 250,
                identity: EncoderIdentity(build: "libx264 Lavc59.37.100", extradataHash: "e3b0")))
    }

    private var audio: AudioTarget {
        AudioTarget(
            track: 0, direction: .forwards, encoder: "aac", sampleRate: 48000, channelLayout: "stereo",
            bitrate: 192_000, lossless: false)
    }

    @Test("Requests are written as the golden file says, and are read back")
    func requests() throws {
        let spec = JobSpec(container: .mkv, videoCodec: "libx264", crf: 20, from: .seconds(Rational(3, 2)))
        let scope = EngineScope(
            sources: [job.sources[0].source], reads: [job.plan], folders: [.file("/store/segments")], cpuSeconds: 3600,
            fileBytes: 1 << 30)
        try compare(
            [.confinement(Confinement(scope: scope, mode: .require, sourceRoots: SourceRoots(["/films"])))]
                + [
                    EngineRequest.recon(
                        ReconRequest(source: job.sources[0].source, index: job.sources[0].index, decoding: .disproved)),
                    .recon(ReconRequest(source: job.sources[0].source, index: job.sources[0].index)),
                    .choose(ChooseRequest(indexes: [job.sources[0].index], spec: spec, threads: 4)), .reverse(pass),
                    .reverseAudio(pass), .assemble(AssembleRequest(job: job, output: .file("/store/out.mkv"))),
                    .pictures(picture(of: .source(files: job.sources[0], sample: FrameSample(12)))),
                    .pictures(picture(of: .output(format: format, like: stream, pictures: [nil, shown]))),
                ].map(EngineInput.request) + [
                    .segments([segment]), .fetched(FetchOrder(source: 0, range: 0..<65536)),
                    .request(
                        .recon(
                            ReconRequest(
                                source: .fetched(
                                    FetchedBytes(name: "https://host/film.mp4?…", size: 1000, number: 0),
                                    into: "/scratch/source"), index: job.sources[0].index))),
                ], "requests.json")
    }

    @Test("A place that need not be durable says so; others are as an engine of an earlier release expects them")
    func durability() throws {
        let (durable, name) = (place(0..<120), place(0..<120).name)
        let passing = SegmentPlace(name: name, data: durable.data, record: durable.record, isDurable: false)
        for (place, isDurable) in [(durable, true), (passing, false)] {
            let bytes = try JSONEncoder().encode(place)
            #expect(try JSONDecoder().decode(SegmentPlace.self, from: bytes).isDurable == isDurable)
            #expect(String(decoding: bytes, as: UTF8.self).contains("isPassing") == !isDurable)
        }
    }

    @Test("Events are written as the golden file says, and are read back")
    func events() throws {
        let diagnostics: [Diagnostic] = [.soundNotHeard(track: 1)]
        try compare(
            [
                .ready(
                    EngineIdentity(
                        version: 5, encoders: ["libx264 Lavc59.37.100"],
                        sandbox: SandboxState(landlock: 2, seccomp: true))),
                .progress(.recon(packets: 640, thousandths: 250)),
                .progress(.video(decoded: 7, encoded: 5, frames: 240..<480)), .progress(.sound),
                .progress(.assembly(packets: 90, frames: 40, thousandths: 350)),
                .result(.recon(ReconResult(indexHash: "e3b0"))),
                .result(.targets(TargetsResult(video: video, audio: [audio], diagnostics: diagnostics))),
                .result(
                    .pass(
                        PassResult(
                            segments: [], statistics: PassStatistics(framesEncoded: 240), diagnostics: diagnostics))),
                .result(
                    .assembly(
                        AssemblyResult(
                            bytes: 1 << 20, checksum: "ab12", packets: 480, peakRSS: 1 << 28, diagnostics: diagnostics))
                ),
                .result(.pictures), .fetch(FetchOrder(source: 0, range: 0..<65536, discarded: 65536..<131072)),
                .failure(ReelFailure(.segmentMissing(segment: "v0-240", pass: 2))),
            ] as [EngineEvent], "events.json")
    }

    @Test("The protocol's version is that of the golden files")
    func version() { #expect(Wire.version == 12) }

    /// Compares the lines with a golden file, which REEL_WRITE_GOLDEN=1 rewrites, and the values read back with the originals.
    private func compare<Message: Codable>(_ messages: [Message], _ name: String) throws {
        let lines = try Golden.lines(messages)
        let read = try lines.split(separator: "\n").map { try JSONDecoder().decode(Message.self, from: Data($0.utf8)) }
        #expect(try Golden.lines(read) == lines)
        try Golden.expect(lines, is: name)
    }
}
