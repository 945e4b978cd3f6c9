import Foundation
import ReelCore
import ReelMedia
import ReelRandom
import ReelTestSupport
import Testing

/// Layouts, sample rates and bit depths of sound; holes, changes of format, and damage.
@Suite("Audio: formats, holes, damage")
struct AudioFormatTests {
    private let folder = ScratchFolder()

    private func facts(_ path: String) throws -> String {
        let text = try probe(path, "stream=codec_name,sample_rate,channels,channel_layout", streams: "a")
        return text.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    @Test(
        "layouts and rates are kept, an encoder that cannot is replaced",
        arguments: Thoroughness.third(
            of: [
                ("mono", 8000, "pcm_s16le", Container.mp4, "aac,8000,1,mono"),
                ("stereo", 96000, "flac", .mp4, "flac,96000,2,stereo"), ("5.1", 48000, "ac3", .mp4, "aac,48000,6,5.1"),
                ("stereo", 96000, "pcm_s16le", .mp4, "aac,96000,2,stereo"),
                ("7.1", 48000, "pcm_s16le", .mp4, "aac,48000,8,7.1"), ("7.1", 48000, "flac", .mkv, "flac,48000,8,7.1"),
                ("stereo", 37000, "pcm_s16le", .mp4, "flac,37000,2,stereo"),
                ("stereo", 37000, "pcm_s16le", .mov, "pcm_s16le,37000,2,stereo"),
                ("mono", 44100, "libvorbis", .mkv, "vorbis,44100,1,mono"),
                ("stereo", 44100, "pcm_s24le", .mov, "pcm_s24le,44100,2,stereo"),
                ("5.1", 48000, "alac", .mov, "alac,48000,6,5.1"),
            ] as [(String, Int, String, Container, String)]))
    func layouts(layout: String, rate: Int, codec: String, container: Container, wanted: String) throws {
        let source = try Fixture.sounding(
            "s.mkv", in: folder, frames: 25, layout: layout, rate: rate, seconds: 1, audio: ["-c:a", codec])
        let job = try MediaJob(source, spec: JobSpec(container: container), folder: folder.path)
        #expect(try facts(job.output) == wanted, "\(job.warnings)")
        // Channels keep their order: each has a loudness of its own.
        let channels = job.index.audio[0].channels
        let (before, after) = (try Sound(source, channels: channels), try Sound(job.output, channels: channels))
        for channel in 0..<channels where layout != "5.1" || channel != 3 {
            let loud = { (sound: Sound) in
                (sound.samples.reduce(Float(0)) { $0 + $1[channel] * $1[channel] } / Float(sound.samples.count))
                    .squareRoot()
            }
            #expect(abs(loud(before) - loud(after)) < 0.04, "channel \(channel)")
        }
    }

    @Test(
        "24 bits stay 24",
        arguments: [
            (["-c:a", "pcm_s24le"], JobSpec(container: .mkv, lossless: true), "pcm_s24le"),
            (
                ["-c:a", "flac", "-sample_fmt", "s32", "-bits_per_raw_sample", "24"],
                JobSpec(container: .mov, lossless: true), "pcm_s24le"
            ),
            (["-c:a", "flac", "-sample_fmt", "s32", "-bits_per_raw_sample", "24"], JobSpec(container: .mkv), "flac"),
            (["-c:a", "pcm_s32le"], JobSpec(container: .nut, lossless: true), "pcm_s32le"),
            (["-c:a", "pcm_f32le"], JobSpec(container: .mkv, lossless: true), "pcm_f32le"),
            (["-c:a", "pcm_u8"], JobSpec(container: .mkv, lossless: true), "pcm_u8"),
        ])
    func bits(audio: [String], spec: JobSpec, codec: String) throws {
        let source = try Fixture.sounding("s.mkv", in: folder, frames: 25, seconds: 1, audio: audio)
        let job = try MediaJob(source, spec: spec, folder: folder.path)
        #expect(job.plan.audio.map(\.encoder) == [codec])
        let whole = { (path: String, filter: String) in
            try ffmpeg("-i", path, "-map", "0:a", "-af", filter, "-c:a", "pcm_s32le", "-f", "md5", "-")
        }
        #expect(try whole(job.output, "anull") == whole(source, "areverse"))
        #expect(job.warnings.isEmpty)
    }

    @Test("FLAC of 32 bits loses some, and says so")
    func fewerBits() throws {
        let source = try Fixture.sounding("s.mkv", in: folder, frames: 25, seconds: 1, audio: ["-c:a", "pcm_s32le"])
        let job = try MediaJob(source, spec: JobSpec(container: .mkv, audioCodec: "flac"), folder: folder.path)
        #expect(job.warnings == ["audio 0: flac holds 24 bits of a sample: finer steps are lost"])
    }

    @Test("a form of sound that the codec does not take is refused, and changes no codec")
    func untaken() throws {
        let source = try Fixture.sounding("s.mp4", in: folder, rate: 44100, seconds: 0.5, audio: ["-c:a", "aac"])
        func reason(_ spec: JobSpec) throws -> FailureReason? {
            try failureReason { try MediaJob(source, spec: spec, folder: folder.path) }
        }
        let found = try reason(JobSpec(container: .mp4, sampleRate: 12345))
        guard case .valueUnsupported(.sampleRate, "12345", "aac", let known)? = found else {
            Issue.record("\(String(describing: found))")
            return
        }
        #expect(known.contains("44100"))
        // libavutil takes masks and lists of channels for layouts.
        for layout in ["2", "6", "FR+FC", "2 channels (FR+FC)", "9.1"] {
            let wanted = FailureReason.valueUnsupported(
                option: .channelLayout, value: layout, encoder: nil, known: ["mono", "stereo", "5.1", "7.1"])
            #expect(try reason(JobSpec(container: .mp4, channelLayout: layout)) == wanted, "\(layout)")
        }
        let mono = try MediaJob(
            source, spec: JobSpec(container: .mp4, sampleRate: 48000, channelLayout: "mono"), folder: folder.path)
        #expect(mono.plan.audio.map(\.encoder) == ["aac"])
        #expect(mono.plan.audio.map(\.sampleRate) == [48000] && mono.plan.audio.map(\.channelLayout) == ["mono"])
    }

    @Test("an encoder that reel is not tried with is taken, and named", arguments: [("ac3", true), ("flac", false)])
    func untried(codec: String, isNamed: Bool) throws {
        let source = try Fixture.sounding("s.mkv", in: folder, rate: 48000, seconds: 0.5, audio: ["-c:a", "aac"])
        let job = try MediaJob(source, spec: JobSpec(container: .mkv, audioCodec: codec), folder: folder.path)
        #expect(job.plan.diagnostics.contains(.encoderUntried(encoder: codec)) == isNamed)
    }

    /// A video of 4 s with sound, except from 1.5 s to `end`.
    private func holed(_ folder: ScratchFolder, until end: Double) throws -> String {
        let path = folder.path + "/holed.mkv"
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=r=25:s=64x48:d=4", "-f", "lavfi", "-i",
            "aevalsrc=0.8*sin(2000*t)|0.5*sin(3000*t):s=48000:d=4", "-map", "0:v", "-map", "1:a", "-c:v", "libx264",
            "-preset", "ultrafast", "-af", "asetnsamples=n=480,aselect='lt(t,1.499)+gte(t,\(end)-0.001)'", "-c:a",
            "pcm_s16le", path)
        return path
    }

    @Test(
        "a hole stays one, mirrored, in every container",
        arguments: Thoroughness.third(
            of: [
                (Container.mkv, "pcm"), (.mov, "pcm"), (.nut, "pcm"), (.mkv, "flac"), (.mp4, "aac"), (.mkv, "aac"),
                (.webm, "opus"), (.mp4, "opus"), (.mov, "aac"), (.ts, "aac"), (.mkv, "vorbis"), (.mov, "alac"),
            ] as [(Container, String)]))
    func holes(container: Container, codec: String) throws {
        let source = try holed(folder, until: 2.3)
        let spec = JobSpec(container: container, videoCodec: container == .webm ? "libvpx" : nil, audioCodec: codec)
        let job = try MediaJob(source, spec: spec, folder: folder.path)
        #expect(job.results.flatMap(\.warnings) == ["audio 0: a hole stays silent, from 1.500 s to 2.300 s"])
        let sound = try Sound(job.output)
        // From 1.5 s to 2.3 s of 4 s is from 1.7 s to 2.5 s.
        #expect(sound.peak(from: 1.71, to: 2.49) < 0.02)
        #expect(sound.peak(from: 1.66, to: 1.69) > 0.5)
        #expect(sound.peak(from: 2.51, to: 2.54) > 0.5)
        #expect(abs(sound.end - 4) < 0.03)
    }

    @Test(
        "what a container cannot place is encoded otherwise",
        arguments: [
            (Container.webm, "pcm_s16le", 8000, "opus", 48000), (.mp4, "libvorbis", 44100, "aac", 44100),
            (.webm, "pcm_s16le", 44100, "opus", 48000),
        ] as [(Container, String, Int, String, Int)])
    func placed(container: Container, codec: String, rate: Int, due: String, dueRate: Int) throws {
        let source = try Fixture.sounding(
            "s.mkv", in: folder, rate: rate, from: 0.4, seconds: 1.2, audio: ["-c:a", codec])
        let spec = JobSpec(
            container: container, videoCodec: container == .webm ? "libvpx" : nil, audio: .reverse,
            audioCodec: container == .webm ? "opus" : nil)
        let job = try MediaJob(source, spec: spec, folder: folder.path)
        #expect(job.plan.audio.map(\.sampleRate) == [dueRate])
        let streams = try probe(job.output, "stream=codec_name", streams: "a")
        #expect(streams == due + "\n")
        // Sound from 0.4 s to 1.6 s of 2 s lies there in the output, too.
        let sound = try Sound(job.output)
        #expect(sound.peak(from: 0.45, to: 1.55) > 0.5)
        #expect(abs(sound.end - 1.6) < 0.03)
        guard codec == "libvorbis" else { return }
        let again = ScratchFolder()
        let kept = try MediaJob(source, spec: JobSpec(container: .mp4, audio: .keep), folder: again.path)
        #expect(kept.plan.audio.map(\.encoder) == ["aac"])
    }

    @Test("timestamps that jitter by less than 15 ms make no holes")
    func jitter() throws {
        let source = try holed(folder, until: 1.51)
        let job = try MediaJob(source, spec: JobSpec(container: .mkv, lossless: true), folder: folder.path)
        #expect(job.warnings.isEmpty)
        #expect(try Sound(job.output).samples == (try Sound(source).samples.reversed()))
    }

    @Test(
        "a format that changes midway becomes the first, every moment in its place",
        arguments: [("stereo", 48000), ("mono", 32000)])
    func change(layout: String, rate: Int) throws {
        let first = try Fixture.sounding("1.ts", in: folder, layout: "5.1", audio: ["-c:a", "ac3"])
        let second = try Fixture.sounding(
            "2.ts", in: folder, layout: layout, rate: rate, audio: ["-c:a", "ac3"], options: ["-output_ts_offset", "2"])
        let source = folder.path + "/joined.ts"
        let bytes = try contents(of: first) + contents(of: second)
        try store(bytes, to: source)
        let job = try MediaJob(source, spec: JobSpec(container: .mkv, lossless: true), folder: folder.path)
        let said = job.results.flatMap(\.warnings).filter { $0.contains("changes") }
        #expect(said.count == 1)
        let start =
            "audio 0: changes from 5.1(side)"
            + (rate == 48000 ? " to stereo at 1.99" : " at 48000 Hz to mono at 32000 Hz at 1.99")
        #expect(said.first?.hasPrefix(start) == true, "\(said)")
        let sound = try Sound(job.output, channels: 6)
        #expect(abs(sound.end - sound.start - 4.02) < 0.05)
        // The second half comes first, in the front channels alone.
        #expect(sound.peak(from: 0.2, to: 1.8) > 0.3)
        let quiet = sound.samples.prefix(48000).reduce(Float(0)) { max($0, abs($1[4]), abs($1[5])) }
        let loud = sound.samples.suffix(48000).reduce(Float(0)) { max($0, abs($1[4]), abs($1[5])) }
        #expect(quiet < 0.01 && loud > 0.2)
        let tail = try Sound(first, channels: 6).samples.reversed()
        #expect(Array(sound.samples.suffix(90_000)) == Array(tail.suffix(90_000)))
    }

    @Test("packets that do not decode leave a hole, and a warning gives its times")
    func damage() throws {
        let whole = try Fixture.sounding("whole.mkv", in: folder, audio: ["-c:a", "flac"])
        let source = try Fixture.silenced(whole, packets: 7..<10, as: "damaged.mkv")
        let job = try MediaJob(source, spec: JobSpec(container: .mkv, lossless: true), folder: folder.path)
        let packet = Double(4608) / 48000
        #expect(
            job.results.flatMap(\.warnings) == [
                "audio 0: 3 packets do not decode, the first at 0.672 s, the last at 0.864 s: silent there"
            ])
        let (before, after) = (try Sound(whole), try Sound(job.output))
        #expect(after.samples.count == before.samples.count)
        var wanted = before.samples
        for place in Int(7 * packet * 48000)..<Int(10 * packet * 48000) { wanted[place] = [0, 0] }
        #expect(after.samples == wanted.reversed())
    }

    @Test("a track of which nothing decodes is left out, the others are kept")
    func nothing() throws {
        let one = try Fixture.sounding("one.mkv", in: folder, audio: ["-c:a", "flac"])
        let two = folder.path + "/two.mkv"
        try ffmpeg("-i", one, "-map", "0:v", "-map", "0:a", "-map", "0:a", "-c", "copy", two)
        let source = try Fixture.silenced(two, packets: 0..<1000, as: "broken.mkv")
        let job = try MediaJob(source, spec: JobSpec(container: .mkv, lossless: true), folder: folder.path)
        #expect(job.warnings == ["stream 1 (audio, flac) is left out: nothing of it decodes"])
        #expect(job.plan.audio.count == 1)
        #expect(try Sound(job.output).samples == (try Sound(one).samples.reversed()))
    }

    /// FFmpeg has no encoder of SIPR, but any bytes are a block of it. A block's size is that of one of its four rates.
    @Test(
        "SIPR is reversed to the sample",
        arguments: Thoroughness.third(of: [(19, 8000), (20, 16000), (29, 8000), (37, 8000)] as [(UInt16, UInt32)]),
        ["avi", "mp4"])
    func sipr(mode: (block: UInt16, rate: UInt32), form: String) throws {
        var random = SplitMix64(seed: UInt64(mode.block))
        let blocks = Data((0..<1400 * Int(mode.block)).map { _ in UInt8.random(in: 0...255, using: &random) })
        let sound = folder.path + "/sound.wav"
        try Fixture.wave(tag: 0x130, block: mode.block, rate: mode.rate, blocks).write(to: URL(fileURLWithPath: sound))
        let made = folder.path + (form == "avi" ? "/made.avi" : "/made.mov")
        try ffmpeg(
            ["-f", "lavfi", "-i", "testsrc2=r=30000/1001:s=64x48:d=12", "-i", sound, "-map", "0:v"]
                + ["-map", "1:a"] + Fixture.x264 + ["-c:a", "copy", "-shortest", made])
        let source = folder.path + "/source." + form
        var bytes = try contents(of: made)
        if form == "mp4" {
            // FFmpeg writes WAVE's tag as a number, which it does not read, instead of "ms" and the number.
            let handler = try #require(bytes.range(of: Data("soun".utf8)))
            let tag = try #require(bytes.range(of: Data([0x30, 1, 0, 0]), in: handler.upperBound..<bytes.endIndex))
            bytes.replaceSubrange(tag, with: Data("ms".utf8) + Data([1, 0x30]))
        }
        try store(bytes, to: source)
        let spec = JobSpec(container: .mkv, lossless: true, passFrames: 60)
        let job = try MediaJob(source, spec: spec, folder: folder.path)
        #expect(job.index.audio.map(\.codec) == ["sipr"])
        let heard = try samples(of: source, channels: 1)
        #expect(heard.count > 10 * Int(mode.rate))
        #expect(try samples(of: job.output, channels: 1) == Array(heard.reversed()))
    }

    @Test("a track of an unknown codec is left out")
    func unknownCodec() throws {
        let whole = try Fixture.sounding("whole.mkv", in: folder, audio: ["-c:a", "flac"])
        var bytes = try contents(of: whole)
        let codec = try #require(bytes.range(of: Data("A_FLAC".utf8)))
        bytes.replaceSubrange(codec, with: Data("A_FLOC".utf8))
        let source = folder.path + "/unknown.mkv"
        try store(bytes, to: source)
        let job = try MediaJob(source, spec: JobSpec(container: .mkv, lossless: true), folder: folder.path)
        #expect(job.warnings == ["stream 1 (audio, none) is left out: this FFmpeg has no decoder for it"])
    }

    @Test("sound outside the chosen range does not stop the job")
    func outside() throws {
        let source = try Fixture.sounding("s.mkv", in: folder, frames: 100, seconds: 1, audio: ["-c:a", "aac"])
        for audio in [AudioMode.reverse, .keep] {
            let job = try MediaJob(
                source,
                spec: JobSpec(container: .mp4, audio: audio, from: .seconds(Rational(2)), to: .seconds(Rational(3))),
                folder: folder.path)
            #expect(job.warnings == ["audio 0: nothing is heard while the video lasts: the track is left out"])
            #expect(try facts(job.output).isEmpty)
        }
    }
}
