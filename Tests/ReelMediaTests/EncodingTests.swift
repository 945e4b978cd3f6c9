import Foundation
import ReelCore
import ReelMedia
import ReelWords
import Testing

/// Every encoder and container that reel writes: segments join exactly, and colour, shape and rotation are kept.
@Suite("Encoders and containers")
struct EncodingTests {
    private let folder = ScratchFolder()

    @Test(
        "joined segments decode to what each decodes to alone",
        arguments: [
            ("libx264", Container.mp4, nil), ("libx265", .mp4, "ultrafast"), ("libsvtav1", .mkv, "12"),
            ("libvpx-vp9", .webm, "8"), ("ffv1", .mkv, nil), ("prores_ks", .mov, nil), ("mjpeg", .mov, nil),
            ("libx264", .ts, "veryfast"), ("libx264", .nut, "veryfast"), ("mpeg2video", .ts, nil),
        ] as [(String, Container, String?)])
    func joins(encoder: String, container: Container, preset: String?) throws {
        let source = try Fixture.make(
            "s.mp4", in: folder, frames: 48, rate: "30000/1001",
            video: Fixture.x264 + ["-g", "16", "-bf", "2", "-crf", "10"])
        let spec = JobSpec(container: container, videoCodec: encoder, preset: preset, audio: .none, passFrames: 16)
        let job = try MediaJob(source, spec: spec, folder: folder.path)
        let records = job.results.flatMap { $0.segments.reversed() }
        #expect(records.map(\.frames) == [16, 16, 16])
        let alone = try records.flatMap { try Decoded(folder.path + "/" + $0.name.text).hashes }
        let joined = try Decoded(job.output)
        #expect(joined.hashes == alone)
        #expect(joined.hashes.count == 48)
        let quality = try likeness(of: job.output, toReverseOf: source)
        #expect(quality > 32, "\(encoder): \(quality) dB")
    }

    /// PSNR of the luma over all frames, in dB.
    private func likeness(of output: String, toReverseOf source: String) throws -> Double {
        let log = folder.path + "/psnr.log"
        try ffmpeg(
            "-i", output, "-i", source, "-filter_complex",
            "[0:v]format=yuv420p,setpts=N/TB[a];[1:v]reverse,format=yuv420p,setpts=N/TB[b];[a][b]psnr=stats_file=\(log)",
            "-f", "null", "-")
        let frames = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n")
        let values = frames.compactMap { line in
            line.split(separator: " ").first { $0.hasPrefix("psnr_y:") }.flatMap { Double($0.dropFirst(7)) }
        }
        return values.isEmpty ? 0 : values.reduce(0, +) / Double(values.count)
    }

    /// x264 codes its very first picture 2.9 steps coarser than later key frames: about a quarter fewer bytes.
    @Test(
        "a chunk begins with a key frame as fine as those of one unbroken encode",
        arguments: ["yuv420p", "yuv420p10le"])
    func keyFrames(pixelFormat: String) throws {
        let source = try Fixture.make(
            "s.mp4", in: folder, frames: 96, rate: "30000/1001", size: "640x360", filter: "noise=alls=12:all_seed=3",
            video: Fixture.x264 + ["-pix_fmt", pixelFormat, "-g", "48", "-crf", "10"])
        let spec = JobSpec(container: .mp4, crf: 20, preset: "veryfast", audio: .none, passFrames: 48)
        let job = try MediaJob(source, spec: spec, folder: folder.path)
        let unbroken = folder.path + "/unbroken.mp4"
        try ffmpeg(
            "-i", source, "-vf", "reverse", "-c:v", "libx264", "-preset", "veryfast", "-crf",
            "20", "-threads", "1", "-force_key_frames", "expr:eq(n,48)", unbroken)
        let (made, wanted) = (try keySizes(of: job.output), try keySizes(of: unbroken))
        #expect(made.count == 2)
        #expect(wanted.count == 2)
        let ratio = Double(made.last ?? 0) / Double(wanted.last ?? 1)
        #expect((0.94...1.06).contains(ratio), "\(made) beside \(wanted) bytes")
    }

    /// Bytes of the video's key packets.
    private func keySizes(of file: String) throws -> [Int] {
        try probe(file, "packet=size,flags", streams: "v").split(separator: "\n").filter { $0.contains("K") }
            .compactMap { Int($0.prefix { $0 != "," }) }
    }

    @Test("a job's last passes, by two threads: each frame once, from the last to the first, and always the same bytes")
    func lastPasses() throws {
        func job(in folder: ScratchFolder, _ threads: Int?) throws -> (source: String, job: MediaJob) {
            let source = try Fixture.make(
                "s.mp4", in: folder, frames: 200, rate: "30000/1001", video: Fixture.x264 + ["-g", "24"])
            let spec = JobSpec(
                container: .mp4, videoCodec: "libx264", crf: 0, preset: "veryfast", audio: .none, passFrames: 48,
                threads: threads)
            return (source, try MediaJob(source, spec: spec, folder: folder.path))
        }
        let folders = (ScratchFolder(), ScratchFolder(), ScratchFolder())
        let (source, first) = try job(in: folders.0, nil)
        #expect(first.plan.mostEncoderThreads == 2)
        #expect(try Decoded(first.output).hashes == Decoded(source).hashes.reversed())
        func checksums(_ job: MediaJob) -> [String] { job.records.map(\.checksum) }
        #expect(try checksums(job(in: folders.1, nil).job) == checksums(first))
        // x264 writes its options into a chunk's first packet.
        let single = try checksums(job(in: folders.2, 1).job)
        #expect(zip(single, checksums(first)).map(==) == [true, true, true, false, false])
    }

    @Test("an encoder with a greatest rate takes a source whose rate is only the clock of its timestamps")
    func greatestRate() throws {
        let source = try Fixture.make("s.mp4", in: folder, frames: 30, rate: "600", video: Fixture.x264)
        let spec = JobSpec(container: .mkv, videoCodec: "libsvtav1", preset: "12", audio: .none)
        let job = try MediaJob(source, spec: spec, folder: folder.path)
        #expect(job.index.video.stream.frameRate == Rational(600))
        // Matroska's clock has milliseconds.
        let expected = (0..<30).map { Rational(Int64((Double($0) * 1000 / 600).rounded()), 1000) }
        #expect(try Decoded(job.output).times == expected)
    }

    @Test("full range that neither encoder nor container says is told of")
    func fullRange() throws {
        let source = try Fixture.make(
            "s.mp4", in: folder, frames: 10, filter: "format=yuvj420p",
            video: Fixture.x264 + ["-pix_fmt", "yuvj420p", "-color_range", "pc"])
        func lost(_ container: Container) throws -> [Diagnostic] {
            let choice = try TargetChoice(of: source, JobSpec(container: container, videoCodec: "ffv1"))
            return try choice.video().diagnostics.filter { if case .colourLost = $0 { true } else { false } }
        }
        #expect(try lost(.nut) == [.colourLost(encoder: "ffv1", container: .nut)])
        #expect(try lost(.mkv) == [])
    }

    @Test("MP4: exact timestamps from 0, though frames are reordered and the rate is not round")
    func timestamps() throws {
        let source = try Fixture.make(
            "s.mp4", in: folder, frames: 50, rate: "24000/1001", video: Fixture.x264 + ["-bf", "3", "-g", "20"],
            audio: ["-c:a", "aac"])
        let job = try MediaJob(source, spec: JobSpec(container: .mp4, passFrames: 20), folder: folder.path)
        let after = try Decoded(job.output)
        #expect(after.times == (0..<50).map { Rational(Int64($0) * 1001, 24000) })
    }

    @Test(
        "a codec that the container cannot hold is refused before any work",
        arguments: [(Container.webm, "libx264"), (.ts, "libvpx-vp9"), (.mp4, "huffyuv")])
    func refused(container: Container, encoder: String) throws {
        let source = try Fixture.make("s.mp4", in: folder, frames: 3, video: Fixture.x264)
        let choice = try TargetChoice(of: source, JobSpec(container: container, videoCodec: encoder))
        let failure = #expect(throws: ReelFailure.self) { try choice.video() }
        #expect(failure?.kind == .input)
        #expect(failure?.words.contains("into a .\(container.rawValue) file") == true)
    }

    @Test("aspect ratio, rotation and colour are those of the source")
    func kept() throws {
        let plain = try Fixture.make(
            "plain.mp4", in: folder, frames: 20, filter: "setsar=64/45",
            video: Fixture.x264 + [
                "-colorspace", "bt709", "-color_primaries", "bt709", "-color_trc", "bt709", "-color_range", "tv",
            ])
        let source = folder.path + "/rotated.mp4"
        try ffmpeg("-i", plain, "-c", "copy", "-metadata:s:v", "rotate=90", source)
        let job = try MediaJob(source, spec: JobSpec(container: .mp4), folder: folder.path)
        let entries =
            "stream=sample_aspect_ratio,color_space,color_primaries,color_transfer,color_range:side_data=rotation"
        let facts = { (path: String) in
            try run("ffprobe", "-v", "error", "-select_streams", "v", "-show_entries", entries, "-of", "compact", path)
        }
        let before = try facts(source)
        #expect(before.contains("64:45") && before.contains("rotation=") && before.contains("bt709"))
        #expect(try facts(job.output) == before)
    }

    /// The filters are what ffmpeg itself does with such a file.
    @Test(
        "in a container that cannot have players turn the pictures, they are turned, each value as it was",
        arguments: [("90", "transpose=cclock"), ("180", "hflip,vflip"), ("270", "transpose=clock")])
    func turned(angle: String, filter: String) throws {
        let source = try turned("s.mp4", by: angle, in: folder, video: Fixture.x264)
        let lossless = try MediaJob(source, spec: JobSpec(container: .mkv, lossless: true), folder: folder.path)
        #expect(try Decoded(lossless.output).hashes == Decoded(source, filter: filter).hashes.reversed())
        #expect(lossless.warnings == [])
        let shape = try probe(lossless.output, "stream=width,height,sample_aspect_ratio", streams: "v")
        #expect(shape == (angle == "180" ? "192,108,64:45\n" : "108,192,45:64\n"))

        let webm = try MediaJob(
            source, spec: JobSpec(container: .webm, videoCodec: "libvpx-vp9", preset: "8"), folder: folder.path)
        #expect(webm.warnings.allSatisfy { !$0.contains("rotation") })
        let upright = folder.path + "/upright.mkv"
        try ffmpeg("-noautorotate", "-i", source, "-vf", filter, "-c:v", "ffv1", upright)
        #expect(try likeness(of: webm.output, toReverseOf: upright) > 32)
    }

    @Test("pictures are left as they are, with a warning, where turning them would change values or mix fields")
    func unturned() throws {
        let source = try turned("s.mov", by: "90", in: folder, video: ["-c:v", "prores_ks", "-pix_fmt", "yuv422p10le"])
        let lossless = try MediaJob(source, spec: JobSpec(container: .mkv, lossless: true), folder: folder.path)
        #expect(lossless.warnings.contains { $0.hasPrefix("the rotation is lost") })
        #expect(try Decoded(lossless.output).hashes == Decoded(source).hashes.reversed())

        let interlaced = try turned(
            "i.mp4", by: "90", in: folder, video: Fixture.x264 + ["-flags", "+ilme+ildct", "-x264-params", "tff=1"])
        let job = try MediaJob(interlaced, spec: JobSpec(container: .mkv), folder: folder.path)
        #expect(job.warnings.contains { $0.hasPrefix("the rotation is lost") })
    }

    @Test("packets are not copied by themselves into a container that cannot have players turn the pictures")
    func uncopied() throws {
        let source = try turned("s.mov", by: "90", in: folder, video: ["-c:v", "mjpeg", "-pix_fmt", "yuvj420p"])
        #expect(try MediaJob(source, spec: JobSpec(container: .mov), folder: folder.path).plan.video.isPassthrough)
        let turned = try MediaJob(source, spec: JobSpec(container: .mkv), folder: folder.path)
        #expect(!turned.plan.video.isPassthrough && turned.plan.video.format.width == 108)
        let copied = try MediaJob(source, spec: JobSpec(container: .mkv, videoCodec: "copy"), folder: folder.path)
        #expect(copied.warnings.contains { $0.hasPrefix("the rotation is lost") })
    }

    /// Twelve pictures of 192×108 that players turn by an angle in degrees.
    private func turned(_ name: String, by angle: String, in folder: ScratchFolder, video: [String]) throws -> String {
        let coded = try Fixture.make("coded-" + name, in: folder, frames: 12, filter: "setsar=64/45", video: video)
        let source = folder.path + "/" + name
        try ffmpeg("-i", coded, "-c", "copy", "-metadata:s:v:0", "rotate=\(angle)", source)
        return source
    }

    /// SVT-AV1 takes real-time priority for itself and the calling thread where it may; processes that such a thread
    /// starts have it, too, and two that are busy stop the machine.
    @Test("an encoder takes no priority over other processes")
    func priority() throws {
        let source = try Fixture.make("s.mp4", in: folder, frames: 3, video: Fixture.x264)
        _ = try MediaJob(source, spec: JobSpec(container: .mkv, videoCodec: "libsvtav1"), folder: folder.path)
        #expect(sched_getscheduler(0) == SCHED_OTHER)
    }

    @Test("AAC: as long as the source's sound, without clicks, where the mirror puts it")
    func aac() throws {
        let source = try Fixture.make(
            "s.mp4", in: folder, frames: 96, video: Fixture.x264, audio: ["-c:a", "aac", "-b:a", "256k"])
        let job = try MediaJob(source, spec: JobSpec(container: .mp4, audioCodec: "aac"), folder: folder.path)
        let (before, after) = (try samples(of: source), try samples(of: job.output))
        #expect(abs(before.count - after.count) < 2048)
        // Encoded twice, the wave is still nearly the same, sample for sample, from the end.
        let end = min(before.count, after.count) - 2048
        let trimmed = max(0, before.count - job.plan.soundSamples(rate: 44100))
        let difference = { (lag: Int) in
            (2048..<end).reduce(Float(0)) { $0 + abs(after[$1 + lag][0] - before[before.count - 1 - trimmed - $1][0]) }
                / Float(end - 2048)
        }
        #expect((-8...8).min { difference($0) < difference($1) } == 0)
        #expect(difference(0) < 0.03)
    }

    @Test(
        "audio codecs in their containers",
        arguments: [
            ("aac", Container.mp4), ("libopus", .webm), ("flac", .mkv), ("pcm", .mov), ("opus", .mp4), ("aac", .ts),
            ("aac", .mkv), ("opus", .mkv), ("aac", .mov), ("aac", .nut),
        ]
            as [(String, Container)])
    func audioCodecs(codec: String, container: Container) throws {
        let source = try Fixture.make("s.mkv", in: folder, frames: 48, video: Fixture.x264, audio: ["-c:a", "flac"])
        let spec = JobSpec(
            container: container, videoCodec: container == .webm ? "vp9" : nil, preset: container == .webm ? "8" : nil,
            audioCodec: codec)
        let job = try MediaJob(source, spec: spec, folder: folder.path)
        let rate = codec.contains("opus") ? 48000 : 44100
        let heard = try samples(of: job.output).count
        #expect(abs(heard - 2002 * rate / 1000) < 2048, "\(heard)")
    }

    @Test("every track is kept, with its language")
    func tracks() throws {
        let one = try Fixture.make(
            "one.mkv", in: folder, frames: 48, video: Fixture.x264, audio: ["-c:a", "pcm_s16le"])
        let source = folder.path + "/two.mkv"
        try ffmpeg(
            "-i", one, "-map", "0:v", "-map", "0:a", "-map", "0:a", "-c", "copy", "-c:a:1", "pcm_s16le", "-filter:a:1",
            "volume=0.5", "-metadata:s:a:0", "language=deu", "-metadata:s:a:1", "language=fra", source)
        let job = try MediaJob(source, spec: JobSpec(container: .mkv, lossless: true), folder: folder.path)
        for track in 0..<2 {
            #expect(try samples(of: job.output, track: track) == samples(of: source, track: track).reversed())
        }
        let languages = try probe(job.output, "stream_tags=language", streams: "a")
        #expect(languages.split(separator: "\n") == ["deu", "fra"])
    }
}

extension Plan {
    /// Samples of sound that lie within the video.
    fileprivate func soundSamples(rate: Int) -> Int {
        Int(TimeBase(1, Int64(rate)).ticks(in: clips[0].map.source.seconds(clips[0].map.end), rounding: .nearest))
    }
}
