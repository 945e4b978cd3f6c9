import ReelCore
import ReelMedia
import Testing

/// Frame n−1…0 by hash, timestamps by their mirror, samples bit for bit.
@Suite("Lossless reversal")
struct LosslessTests {
    private let folder = ScratchFolder()

    private static let openGOP = Fixture.x264 + ["-g", "12", "-bf", "3", "-x264-params", "open-gop=1"]
    private static let mpeg2 = ["-c:v", "mpeg2video", "-g", "12", "-bf", "2", "-r", "24000/1001"]

    /// Containers and codecs whose groups of pictures are seeked to, decoded and joined in different ways.
    static let sources: [(name: String, video: [String])] = [
        ("closed.mp4", Fixture.x264 + ["-g", "12", "-bf", "2"]), ("open.mp4", openGOP), ("open.mkv", openGOP),
        ("open.ts", openGOP), ("one-key.mp4", Fixture.x264 + ["-g", "1000", "-sc_threshold", "0"]),
        ("refresh.mkv", Fixture.x264 + ["-x264-params", "intra-refresh=1:keyint=20"]),
        ("fragmented.mp4", Fixture.x264 + ["-g", "12", "-movflags", "frag_keyframe+empty_moov"]),
        (
            "open-hevc.mp4",
            ["-c:v", "libx265", "-preset", "ultrafast", "-x265-params", "log-level=error:keyint=12:bframes=3"]
        ), ("open.mpg", mpeg2),
        ("vp9.webm", ["-c:v", "libvpx-vp9", "-g", "12", "-deadline", "realtime", "-cpu-used", "8"]),
        ("part2.avi", ["-c:v", "mpeg4", "-g", "12"]), ("open.flv", openGOP), ("open.nut", openGOP),
        ("open.avi", openGOP), ("open.h264", openGOP), ("open-mpeg2.ts", mpeg2),
        ("bframes.m4v", ["-c:v", "mpeg4", "-g", "12", "-bf", "2"]), ("wmv2.wmv", ["-c:v", "wmv2", "-g", "12"]),
        ("theora.ogv", ["-c:v", "libtheora", "-g", "12"]), ("mpeg2.mxf", mpeg2),
        ("prores.mov", ["-c:v", "prores_ks", "-profile:v", "2"]),
    ]

    @Test("every pass of every container: each frame once, from the last to the first", arguments: sources.map(\.name))
    func frames(name: String) throws {
        let video = try #require(Self.sources.first { $0.name == name }).video
        let source = try Fixture.make(name, in: folder, frames: 60, video: video)
        let job = try MediaJob(
            source, spec: JobSpec(container: .mkv, lossless: true, passFrames: 12), folder: folder.path)
        let (before, after) = (try Decoded(source), try Decoded(job.output))
        #expect(before.hashes.count == 60)
        #expect(Set(before.hashes).count == 60)
        #expect(after.hashes == before.hashes.reversed())
    }

    @Test(
        "passes decoded in windows: each frame once, from the last to the first, wherever their chunks begin",
        arguments: [
            "closed.mp4", "open.mp4", "open.mkv", "open.ts", "fragmented.mp4", "open-hevc.mp4", "open-mpeg2.ts",
            "vp9.webm",
        ])
    func windows(name: String) throws {
        let video = try #require(Self.sources.first { $0.name == name }).video
        let source = try Fixture.make(name, in: folder, frames: 400, size: "96x64", video: video)
        let job = try MediaJob(source, spec: JobSpec(container: .mkv, lossless: true), folder: folder.path)
        // Its two chunks meet in the midst of a window.
        let pass = VideoPass(randomAccessPoint: 0, frames: 0..<400, chunkCount: 2, windowFrames: 60)
        var plan = job.plan
        plan.passes = [.video(pass: pass)]
        let reverser = try job.reverser(of: source, plan: plan)
        func reverse(_ token: String, finished: Set<Int> = []) throws -> PassResult {
            var places = plan.places(of: .video(pass: pass), in: folder.path, token: token)
            for chunk in finished { places[chunk] = nil }
            return try reverser.reverse(pass, at: places) { _, _ in }
        }
        let whole = try reverse("a0")
        #expect((400...412).contains(whole.statistics.framesDecoded), "\(whole.statistics.framesDecoded)")
        let output = folder.path + "/whole.mkv"
        _ = try job.assembler(of: source, whole.segments, plan: plan).assemble(to: .file(output)) { _ in }
        let (before, after) = (try Decoded(source), try Decoded(output))
        #expect(Set(before.hashes).count == 400)
        #expect(after.hashes == before.hashes.reversed())
        #expect(try Decoded(job.output).hashes == after.hashes)

        for chunk in [0, 1] {
            let again = try reverse("b\(chunk)", finished: [1 - chunk])
            #expect(again.segments.map(\.checksum) == [whole.segments[chunk].checksum])
            #expect(again.statistics.framesDecoded < 330, "only what the chunk needs")
        }
    }

    @Test("--timestamps source keeps the source's timestamps in their order")
    func sourceTimestamps() throws {
        let source = try Fixture.variable("vfr.mp4", in: folder, video: Fixture.x264)
        let spec = JobSpec(container: .mkv, lossless: true, timestamps: .source)
        let job = try MediaJob(source, spec: spec, folder: folder.path)
        let (before, after) = (try Decoded(source), try Decoded(job.output))
        #expect(after.hashes == before.hashes.reversed())
        #expect(after.gaps == before.gaps)
    }

    @Test("a range: frames with from ≤ t < to")
    func range() throws {
        let source = try Fixture.make(
            "r.mp4", in: folder, frames: 60, rate: "24000/1001", video: Fixture.x264 + ["-g", "12"])
        // Frame 10 starts at 10·1001/24000 s exactly; frame 32 is the first at or after 1.293 s.
        let spec = JobSpec(
            container: .mkv, lossless: true, from: .seconds(Rational(10010, 24000)), to: .seconds(Rational(1293, 1000)))
        let job = try MediaJob(source, spec: spec, folder: folder.path)
        let (before, after) = (try Decoded(source), try Decoded(job.output))
        #expect(after.hashes == before.hashes[10..<32].reversed())
    }

    @Test("samples are reversed bit for bit, channels in their order, at their mirrored place")
    func samplesExact() throws {
        let source = try Fixture.make(
            "pcm.mov", in: folder, frames: 50, rate: "25", video: Fixture.x264, audio: ["-c:a", "pcm_s16le"])
        let job = try MediaJob(source, spec: JobSpec(container: .mkv, lossless: true), folder: folder.path)
        let before = try samples(of: source)
        #expect(before.count == 88200)
        #expect(try samples(of: job.output) == before.reversed())
    }

    @Test("sound whose codec a transport stream's tables do not name is decoded as ffmpeg decodes it")
    func samplesOfTransportStream() throws {
        let source = try Fixture.make(
            "s.ts", in: folder, frames: 23, rate: "25", video: ["-c:v", "mpeg1video", "-g", "33"],
            audio: ["-c:a", "mp2"])
        let job = try MediaJob(source, spec: JobSpec(container: .mkv, lossless: true), folder: folder.path)
        let before = try samples(of: source)
        #expect(before.count > 40_000)
        #expect(try samples(of: job.output) == before.reversed())
    }

    @Test("sound that starts late ends early by as much")
    func place() throws {
        let plain = try Fixture.make(
            "plain.mkv", in: folder, frames: 125, rate: "25", video: Fixture.x264, audio: ["-c:a", "pcm_s16le"])
        let source = folder.path + "/late.mkv"
        try ffmpeg(
            "-i", plain, "-itsoffset", "1", "-t", "3", "-i", plain, "-map", "0:v", "-map", "1:a", "-c", "copy", source)
        let job = try MediaJob(source, spec: JobSpec(container: .mkv, lossless: true), folder: folder.path)
        // Sound from 1 s to a of a video of 5 s lies from 5 s − a to 4 s.
        let sound = try samples(of: source)
        let packets = try probe(job.output, "packet=pts_time", streams: "a")
        let first = try #require(packets.split(separator: "\n").first.flatMap { Double($0) })
        #expect(abs(first - (5 - 1 - Double(sound.count) / 44100)) < 0.001)
        #expect(try samples(of: job.output) == sound.reversed())
    }
}
