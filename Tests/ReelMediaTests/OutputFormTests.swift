import Foundation
import ReelCore
import ReelMedia
import Testing

/// Options that give the output another form than its source has: pixel format, sample rate, channel layout, size.
@Suite("The form of the output")
struct OutputFormTests {
    private let folder = ScratchFolder()

    @Test(
        "pictures are converted to the pixel format as ffmpeg converts them, in order, in a reversal and in an edit",
        arguments: [("yuv444p", nil), ("yuv420p10le", nil), ("gray", nil), ("yuv422p", Play.pingPong)])
    func pixelFormat(format: String, play: Play?) throws {
        let source = try Fixture.make("a.mp4", in: folder, frames: 9, video: Fixture.x264)
        let spec = JobSpec(
            container: .mkv, videoCodec: "ffv1", edit: play.map { Edit(clips: [EditClip(play: $0)]) },
            pixelFormat: format)
        let job = try MediaJob(source, spec: spec, folder: folder.path)
        #expect(job.plan.video.format.pixelFormat == format)
        #expect(job.warnings == [])
        let made = try Decoded(job.output)
        let wanted = try Decoded(source, filter: "scale=flags=bicubic+accurate_rnd+full_chroma_inp,format=\(format)")
            .hashes
        #expect(Set(wanted).count == 9)
        #expect(made.hashes == (play == nil ? wanted.reversed() : wanted + wanted.reversed().dropFirst().dropLast()))
    }

    @Test("colours keep what they mean where RGB becomes YCbCr, and the other way")
    func model() throws {
        func red(_ path: String, reading: String) throws -> [Int] {
            let pixel = folder.path + "/pixel.raw"
            try ffmpeg("-y", "-i", path, "-vf", "crop=2:2:30:30,\(reading)format=rgb24", "-f", "rawvideo", pixel)
            return try contents(of: pixel).prefix(3).map(Int.init)
        }
        func made(_ source: String, _ format: String) throws -> String {
            let spec = JobSpec(container: .mkv, videoCodec: "ffv1", pixelFormat: format)
            return try MediaJob(source, spec: spec, folder: folder.path).output
        }
        let source = folder.path + "/red.mkv"
        let colour = "color=c=#c03020:r=25:s=64x64:d=0.2"
        try ffmpeg("-f", "lavfi", "-i", colour, "-vf", "format=gbrp", "-c:v", "ffv1", source)
        let brown = try made(source, "yuv420p")
        let back = try made(brown, "bgr0")
        for pixel in [try red(brown, reading: "scale=in_color_matrix=bt601,"), try red(back, reading: "")] {
            #expect(pixel.count == 3)
            for (found, wanted) in zip(pixel, [0xc0, 0x30, 0x20]) { #expect(abs(found - wanted) <= 3, "\(pixel)") }
        }
    }

    @Test("sound gets the rate and the channels asked for, and lasts as long", arguments: [true, false])
    func sound(isEdit: Bool) throws {
        let source = folder.path + "/tone.mkv"
        // Another tone on each channel, and in the first half another than in the second.
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=r=25:s=64x64:d=2", "-f", "lavfi", "-i",
            "aevalsrc=0.4*sin(2*PI*if(lt(t\\,1)\\,500\\,1000)*t)|0.4*sin(2*PI*if(lt(t\\,1)\\,500\\,1000)*t):s=44100:d=2",
            "-c:v", "ffv1", "-c:a", "pcm_s16le", source)
        let spec = JobSpec(
            container: .mkv, videoCodec: "ffv1", audioCodec: "pcm",
            edit: isEdit ? Edit(clips: [EditClip(play: .reverse, times: 2)]) : nil, sampleRate: 32_000,
            channelLayout: "mono")
        let job = try MediaJob(source, spec: spec, folder: folder.path)
        let sound = try Sound(job.output, channels: 1)
        #expect(sound.rate == 32_000)
        #expect(sound.samples.count == (isEdit ? 128_000 : 64_000))
        #expect(job.warnings == [])
        func pitch(_ samples: ArraySlice<[Float]>) -> Double {
            Double(zip(samples, samples.dropFirst()).count { $0[0] < 0 && $1[0] >= 0 }) / Double(samples.count) * 32_000
        }
        #expect(abs(pitch(sound.samples[2_000..<30_000]) - 1000) < 3)
        #expect(abs(pitch(sound.samples[34_000..<62_000]) - 500) < 3)
        let loudest = sound.samples[2_000..<30_000].reduce(Float(0)) { max($0, abs($1[0])) }
        #expect(abs(loudest - 0.4) < 0.02)
    }

    @Test("what an encoder does not take is refused, with what it takes")
    func refusals() throws {
        let source = try Fixture.make("a.mp4", in: folder, frames: 5, video: Fixture.x264, audio: ["-c:a", "aac"])
        func reason(_ spec: JobSpec, of source: String) throws -> FailureReason? {
            let choice = try TargetChoice(of: source, spec)
            return #expect(throws: ReelFailure.self) { _ = (try choice.video(), try choice.audio()) }?.reason
        }
        for format in ["nonsense", "yuyv422", "yuvj420p"] {
            guard
                case .valueUnsupported(.pixelFormat, format, "libx264", let known)? = try reason(
                    JobSpec(container: .mp4, pixelFormat: format), of: source)
            else {
                Issue.record("\(format) was taken")
                continue
            }
            #expect(known.contains("yuv420p") && known.contains("yuv444p10le") && !known.contains("yuvj420p"))
        }
        #expect(
            try reason(JobSpec(container: .mkv, audioCodec: "libopus", sampleRate: 44_100), of: source)
                == .valueUnsupported(option: .sampleRate, value: "44100", encoder: "libopus", known: ["48000"]))
        #expect(
            try reason(JobSpec(container: .mkv, channelLayout: "nonsense"), of: source)
                == .valueUnsupported(
                    option: .channelLayout, value: "nonsense", encoder: nil, known: ["mono", "stereo", "5.1", "7.1"]))
        #expect(
            try reason(JobSpec(container: .mkv, audioCodec: "libmp3lame", channelLayout: "5.1"), of: source)
                == .valueUnsupported(
                    option: .channelLayout, value: "5.1", encoder: "libmp3lame", known: ["mono", "stereo"]))
        #expect(
            try reason(JobSpec(container: .gif, sampleRate: 44_100), of: source)
                == .optionNotOfContainer(option: .sampleRate, container: .gif))
        #expect(
            try reason(JobSpec(container: .mp4, videoCodec: "copy", pixelFormat: "yuv420p"), of: source)
                == .copyWithOption(option: .pixelFormat))
    }

    @Test("values that an encoder does not have are refused with those that it has")
    func settings() throws {
        let source = try Fixture.make(
            "a.mp4", in: folder, frames: 5, video: Fixture.x264, audio: ["-c:a", "aac", "-ac", "2"])
        let index = try Recon(.file(source)).run()
        func reason(_ spec: JobSpec) -> FailureReason? {
            let choice = TargetChoice(indexes: [index], spec: spec)
            return #expect(throws: ReelFailure.self) { _ = (try choice.video(), try choice.audio()) }?.reason
        }
        func refused(_ option: JobSpec.Option, _ value: String, _ encoder: String, _ known: String...) -> FailureReason
        { .valueUnsupported(option: option, value: value, encoder: encoder, known: known) }
        #expect(
            reason(JobSpec(container: .mp4, preset: "foo"))
                == refused(
                    .preset, "foo", "libx264", "ultrafast", "superfast", "veryfast", "faster", "fast", "medium", "slow",
                    "slower", "veryslow", "placebo"))
        #expect(
            reason(JobSpec(container: .mkv, videoCodec: "libsvtav1", preset: "slow"))
                == refused(.preset, "slow", "libsvtav1", "-1 to 13"))
        #expect(reason(JobSpec(container: .mp4, crf: 99)) == refused(.crf, "99", "libx264", "0 to 51"))
        #expect(
            reason(JobSpec(container: .mkv, videoCodec: "libvpx-vp9", crf: 63.5))
                == refused(.crf, "63.5", "libvpx-vp9", "0 to 63"))
        #expect(
            reason(JobSpec(container: .mov, videoCodec: "prores", profile: "high"))
                == refused(.profile, "high", "prores_ks", "proxy", "lt", "standard", "hq", "4444", "4444xq"))
        #expect(
            reason(JobSpec(container: .mkv, videoCodec: "ffv1", profile: "high"))
                == .optionUnsupported(option: .profile, encoder: "ffv1"))
        #expect(
            reason(JobSpec(container: .mp4, profile: "main", pixelFormat: "yuv444p"))
                == refused(.pixelFormat, "yuv444p", "libx264 (main)", "yuv420p"))
        #expect(
            reason(JobSpec(container: .mp4, audioBitrate: 600_000))
                == refused(.audioBitrate, "600000", "aac", "8000 to 529200"))
        #expect(
            reason(JobSpec(container: .mkv, audioCodec: "opus", audioBitrate: 600_000))
                == refused(.audioBitrate, "600000", "libopus", "500 to 512000"))
        #expect(
            reason(JobSpec(container: .mkv, audioCodec: "flac", audioBitrate: 192_000))
                == .optionUnsupported(option: .audioBitrate, encoder: "flac"))
        #expect(
            reason(JobSpec(container: .mov, videoCodec: "copy", profile: "hq")) == .copyWithOption(option: .profile))
    }

    @Test(
        "a profile is what the file says, in a pixel format that it has",
        arguments: [
            ("libx264", Container.mp4, "baseline", "Constrained Baseline", "yuv420p", "avc1"),
            ("libx264", .mp4, "high10", "High 10", "yuv420p10le", "avc1"),
            ("libx264", .mp4, "high422", "High 4:2:2", "yuv422p", "avc1"),
            ("libx265", .mp4, "main10", "Main 10", "yuv420p10le", "hvc1"),
            ("prores", .mov, "Proxy", "Proxy", "yuv422p10le", "apco"),
            ("prores", .mov, "LT", "LT", "yuv422p10le", "apcs"),
            ("prores", .mov, "standard", "Standard", "yuv422p10le", "apcn"),
            ("prores", .mov, "4444", "4444", "yuv444p12le", "ap4h"),
        ])
    func profiles(
        codec: String, container: Container, profile: String, written: String, format: String, tag: String
    ) throws {
        let source = try Fixture.make("a.mp4", in: folder, frames: 9, video: Fixture.x264)
        let spec = JobSpec(container: container, videoCodec: codec, profile: profile, passFrames: 4)
        let job = try MediaJob(source, spec: spec, folder: folder.path)
        let described = try probe(job.output, "stream=profile,codec_tag_string,pix_fmt", streams: "v")
        #expect(described.trimmingCharacters(in: .whitespacesAndNewlines) == "\(written),\(tag),\(format)")
        #expect(try Decoded(job.output).hashes.count == 9)
    }

    @Test("the sound has the bit rate that is asked for")
    func audioBitrate() throws {
        let source = folder.path + "/noise.mkv"
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=r=25:s=64x64:d=8", "-f", "lavfi", "-i",
            "anoisesrc=r=48000:d=8", "-ac", "2", "-c:v", "ffv1", "-c:a", "pcm_s16le", source)
        for (codec, rate) in [("aac", Int64(64_000)), ("aac", 256_000)] {
            let spec = JobSpec(container: .mkv, videoCodec: "ffv1", audioCodec: codec, audioBitrate: rate)
            let job = try MediaJob(source, spec: spec, folder: folder.path)
            let sizes = try probe(job.output, "packet=size", streams: "a")
            let bytes = sizes.split(whereSeparator: { !$0.isNumber }).compactMap { Int64($0) }.reduce(0, +)
            #expect(abs(bytes - rate) < rate / 10, "\(codec) at \(rate): \(bytes) bytes in 8 s")
        }
    }

    @Test("an odd size is named as such, and taken where chroma is not shared")
    func oddSize() throws {
        let source = try Fixture.make("a.mp4", in: folder, frames: 5, video: Fixture.x264)
        let size = PictureSize(width: 321, height: 181)
        let failure = #expect(throws: ReelFailure.self) {
            try MediaJob(source, spec: JobSpec(container: .mp4, size: size), folder: folder.path)
        }
        #expect(failure?.reason == .sizeIndivisible(encoder: "libx264", size: size, pixelFormat: "yuv420p"))
        let job = try MediaJob(
            source, spec: JobSpec(container: .mp4, size: size, pixelFormat: "yuv444p"), folder: folder.path)
        #expect(try Decoded(job.output).hashes.count == 5)
    }

    @Test("the chroma of interlaced pictures is not mixed")
    func interlaced() throws {
        let source = try Fixture.make(
            "f.mkv", in: folder, frames: 5, rate: "25", filter: "setfield=tff",
            video: [
                "-c:v", "mpeg2video", "-pix_fmt", "yuv422p", "-flags", "+ildct+ilme", "-field_order", "tt", "-bf", "0",
            ])
        let choice = try TargetChoice(of: source, JobSpec(container: .mkv, videoCodec: "ffv1", pixelFormat: "yuv420p"))
        let failure = #expect(throws: ReelFailure.self) { _ = try choice.video() }
        #expect(failure?.reason == .interlacedMixed(source: "the video"))
    }
}
