import Foundation
import ReelCore
import ReelTestSupport
import Testing

/// Every sample once, in its place, encoded without a break.
@Suite("Audio: exactness and place")
struct AudioExactnessTests {
    private let folder = ScratchFolder()

    static let sources: [(name: String, layout: String, audio: [String])] = [
        ("aac.mp4", "stereo", ["-c:a", "aac"]), ("aac.mkv", "stereo", ["-c:a", "aac"]),
        ("opus.webm", "stereo", ["-c:a", "libopus"]), ("opus.mkv", "5.1", ["-c:a", "libopus"]),
        ("mp3.mp4", "stereo", ["-c:a", "libmp3lame"]), ("mp3.avi", "stereo", ["-c:a", "libmp3lame"]),
        ("vorbis.mkv", "stereo", ["-c:a", "libvorbis"]), ("ac3.ts", "5.1", ["-c:a", "ac3"]),
        ("eac3.mp4", "5.1", ["-c:a", "eac3"]), ("flac.mkv", "5.1", ["-c:a", "flac"]),
        ("alac.mov", "stereo", ["-c:a", "alac"]), ("mp2.mpg", "stereo", ["-c:a", "mp2"]),
        ("pcm.mov", "7.1", ["-c:a", "pcm_s24le"]),
    ]

    @Test(
        "exact after priming, pre-skip and padding, channels in their order",
        arguments: Thoroughness.third(of: sources.map(\.name)))
    func exact(name: String) throws {
        let (_, layout, audio) = try #require(Self.sources.first { $0.name == name })
        let video =
            name.hasSuffix("webm")
            ? ["-c:v", "libvpx", "-deadline", "realtime"] : name.hasSuffix("mpg") ? ["-c:v", "mpeg2video"] : []
        let source = try Fixture.sounding(name, in: folder, layout: layout, audio: audio, options: video)
        let job = try MediaJob(source, spec: JobSpec(container: .mkv, lossless: true), folder: folder.path)
        let channels = job.index.audio[0].channels
        let (before, after) = (try Sound(source, channels: channels), try Sound(job.output, channels: channels))
        #expect(before.samples.count >= 95_000)
        #expect(after.samples == before.samples.reversed())
        let end = job.plan.video.format.timeBase.seconds(job.plan.clips[0].map.end).approximate
        let first = job.plan.video.format.timeBase.seconds(job.index.video.frames[0].interval.start).approximate
        let shift = max(0, before.end - (end - first))
        #expect(abs(after.start - (end - first - before.end) - shift * 0) < 0.003 + shift)
    }

    @Test("what reel encodes is exactly as long as the sound", arguments: ["opus", "flac"])
    func length(codec: String) throws {
        let source = try Fixture.sounding("s.mkv", in: folder, seconds: 1.95, audio: ["-c:a", "flac"])
        let job = try MediaJob(source, spec: JobSpec(container: .mkv, audioCodec: codec), folder: folder.path)
        let after = try Sound(job.output)
        #expect(after.samples.count == 93_600)
        #expect(abs(after.start - 0.05) < 0.002)
    }

    @Test(
        "sound lies where the mirror puts it",
        arguments: Thoroughness.third(of: [(1.0, 2.0), (0.2, 4.8), (0.0, 3.3), (-0.5, 4.0)]), [true, false])
    func place(times: (from: Double, seconds: Double), lossless: Bool) throws {
        // The video begins half a second after the file's clock, so that sound can begin before it.
        let plain = try Fixture.sounding(
            "plain.mkv", in: folder, frames: 125, seconds: times.seconds, audio: ["-c:a", "pcm_s16le"])
        let source = folder.path + "/moved.mkv"
        try ffmpeg(
            "-itsoffset", "0.6", "-i", plain, "-itsoffset", "\(0.6 + times.from)", "-i", plain,
            "-map", "0:v", "-map", "1:a", "-c", "copy", source)
        let spec = JobSpec(container: lossless ? .mkv : .mp4, audioCodec: lossless ? nil : "flac")
        let job = try MediaJob(source, spec: spec, folder: folder.path)
        let (before, after) = (try Sound(source), try Sound(job.output))
        #expect(abs(before.start - times.from) < 0.001)
        #expect(after.samples == before.samples.reversed())
        #expect(abs(after.start - (5 - times.from - times.seconds)) < 0.001)
    }

    @Test("sound that outlasts the video moves the video by the fewest ticks, or loses less than a frame")
    func overhang() throws {
        let source = try Fixture.sounding("long.mkv", in: folder, frames: 50, seconds: 2.03, audio: ["-c:a", "flac"])
        let lossless = try MediaJob(source, spec: JobSpec(container: .mkv, lossless: true), folder: folder.path)
        let whole = try Sound(lossless.output)
        #expect(whole.samples == (try Sound(source).samples.reversed()))
        #expect(abs(whole.start + 0.03) < 0.001)
        #expect(lossless.warnings.isEmpty)
        let other = ScratchFolder()
        let lossy = try MediaJob(source, spec: JobSpec(container: .mp4, audioCodec: "flac"), folder: other.path)
        #expect(try Sound(lossy.output).samples == (try Sound(source).samples[..<96_000].reversed()))
        #expect(lossy.warnings.contains("audio 0: outlasts the video by 0.030000 s: that part is cut off"))
        let padded = try Fixture.sounding("padded.mkv", in: other, frames: 50, seconds: 2.023, audio: ["-c:a", "flac"])
        let quiet = try MediaJob(padded, spec: JobSpec(container: .mp4, audioCodec: "flac"), folder: other.path)
        #expect(try Sound(quiet.output).samples == (try Sound(padded).samples[..<96_000].reversed()))
        #expect(!quiet.warnings.contains { $0.contains("outlasts") }, "\(quiet.warnings)")
        let far = try Fixture.sounding("far.mkv", in: other, frames: 50, seconds: 3.5, audio: ["-c:a", "flac"])
        let kept = try MediaJob(far, spec: JobSpec(container: .mp4, audioCodec: "flac"), folder: other.path)
        let sound = try Sound(kept.output)
        #expect(sound.samples == (try Sound(far).samples.reversed()))
        #expect(abs(sound.start + 1.5) < 0.001)
    }

    @Test(
        "encoded once: the wave is that of the source at every sample, without a click",
        arguments: [
            ("aac", Container.mp4, 48000, Float(0.04)), ("vorbis", .mkv, 44100, 0.06), ("ac3", .mkv, 48000, 0.05),
            ("opus", .webm, 48000, 0.12), ("mp3", .mp4, 44100, 0.06),
        ])
    func continuous(codec: String, container: Container, rate: Int, limit: Float) throws {
        let source = try Fixture.sounding(
            "s.mkv", in: folder, frames: 250, rate: rate, seconds: 10, audio: ["-c:a", "flac"])
        let spec = JobSpec(container: container, videoCodec: container == .webm ? "libvpx" : nil, audioCodec: codec)
        let job = try MediaJob(source, spec: spec, folder: folder.path)
        let (before, after) = (try Sound(source), try Sound(job.output))
        // Matroska can only hide the priming of Opus.
        let priming = after.start < 0 ? Int((-after.start * Double(rate)).rounded()) : 0
        let wanted = Array(before.samples.reversed())
        let best = (-40...40).min { a, b in
            after.difference(from: wanted, lag: a - priming, skipping: 20_000 * 10)
                < after.difference(from: wanted, lag: b - priming, skipping: 20_000 * 10)
        }
        let worst = after.difference(from: wanted, lag: (best ?? 0) - priming, skipping: 2000)
        #expect(worst < limit, "\(worst) at a lag of \(best ?? 0), \(priming) samples of priming")
        // Matroska counts in milliseconds.
        #expect(abs(best ?? 99) <= (container == .mp4 ? 1 : rate / 1000))
    }

    @Test("a sample rate that the encoder does not support is converted without a click or a shift")
    func resampled() throws {
        let source = try Fixture.sounding(
            "s.mkv", in: folder, frames: 100, rate: 44100, seconds: 4, audio: ["-c:a", "flac"])
        let job = try MediaJob(source, spec: JobSpec(container: .mp4, audioCodec: "opus"), folder: folder.path)
        #expect(job.warnings.contains("audio 0: 44100 Hz becomes 48000 Hz, for libopus"))
        let reference = folder.path + "/reference.mkv"
        try ffmpeg(
            "-i", source, "-map", "0", "-c:v", "copy", "-af", "areverse,aresample=48000",
            "-c:a", "pcm_f32le", reference)
        let (wanted, after) = (try Sound(reference), try Sound(job.output))
        // MP4 ends within the last packet, which ffmpeg decodes in full.
        #expect((0..<960).contains(after.samples.count - wanted.samples.count))
        #expect(after.difference(from: wanted.samples, skipping: 2000) < 0.12)
    }
}
