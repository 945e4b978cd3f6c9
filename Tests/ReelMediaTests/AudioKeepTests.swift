import Foundation
import ReelCore
import ReelTestSupport
import Testing

/// `--audio keep`: the sound forwards, as long as the video.
@Suite("Audio that is kept")
struct AudioKeepTests {
    private let folder = ScratchFolder()

    @Test(
        "packets are copied: the source's samples, where they were",
        arguments: Thoroughness.third(
            of: [
                ("aac.mp4", Container.mp4), ("aac.mp4", .mkv), ("aac.ts", .mp4), ("aac.mp4", .ts), ("opus.mkv", .mkv),
                ("opus.mkv", .mp4),
                ("opus.mkv", .webm), ("mp3.mkv", .mp4), ("vorbis.mkv", .mkv), ("ac3.ts", .mkv), ("eac3.mkv", .mp4),
                ("flac.mkv", .mkv),
                ("alac.mov", .mov), ("aac.mov", .nut),
            ] as [(String, Container)]))
    func copied(name: String, container: Container) throws {
        let codec = String(name.split(separator: ".")[0])
        let encoder = ["opus": "libopus", "mp3": "libmp3lame", "vorbis": "libvorbis"][codec] ?? codec
        let source = try Fixture.sounding(name, in: folder, from: 0.2, seconds: 1.6, audio: ["-c:a", encoder])
        let spec = JobSpec(container: container, videoCodec: container == .webm ? "libvpx" : nil, audio: .keep)
        let job = try MediaJob(source, spec: spec, folder: folder.path)
        #expect(job.plan.audio.map(\.encoder) == ["copy"])
        #expect(job.warnings.isEmpty)
        let (before, after) = (try Sound(source), try Sound(job.output))
        #expect(abs(after.start - before.start) < 0.003, "\(after.start) for \(before.start)")
        #expect(abs(after.end - before.end) < 0.03, "\(after.end) for \(before.end)")
        for moment in [0.4, 1.0, 1.6] {
            let found = try #require(after.finds(before, at: moment, near: moment), "\(moment)")
            #expect(abs(found - moment) < 0.0025, "\(found) for \(moment)")
        }
    }

    @Test(
        "a range: its sound, from its start, as long as it", arguments: [Container.mp4, .mkv, .mov],
        Thoroughness.third(of: ["aac", "libopus", "mp3"]))
    func range(container: Container, codec: String) throws {
        let encoder = codec == "mp3" ? "libmp3lame" : codec
        let source = try Fixture.sounding(
            "s.mkv", in: folder, frames: 100, seconds: 4,
            audio: ["-c:a", encoder] + (codec == "aac" ? ["-aac_pns", "0"] : []))
        let spec = JobSpec(
            container: container, audio: .keep, from: .seconds(Rational(13, 10)), to: .seconds(Rational(27, 10)))
        let copied = !(container == .mov && codec == "libopus")
        let job = try MediaJob(source, spec: spec, folder: folder.path)
        #expect((job.plan.audio[0].isPassthrough) == copied)
        let (before, after) = (try Sound(source), try Sound(job.output))
        let first = job.index.video.frames[job.plan.clips[0].firstFrame].interval.start
        let zero = job.plan.video.format.timeBase.seconds(first - job.index.video.frames[0].interval.start).approximate
        let hides = container != .mkv || codec == "libopus"
        #expect(after.start > (hides ? -0.002 : -0.03) && after.start < 0.002, "\(after.start)")
        #expect(after.end > 1.39 && after.end < 1.44, "\(after.end)")
        guard copied else { return }
        for moment in [0.2, 0.6, 1.2] {
            let found = try #require(after.finds(before, at: moment + zero, near: moment, within: 0.03), "\(moment)")
            #expect(abs(found - moment) < 0.0025, "\(found) for \(moment)")
        }
    }

    @Test(
        "PCM, and what is decoded and encoded, is cut at the sample",
        arguments: [("pcm_s24le", nil), ("aac", "pcm_s16le"), ("pcm_s16le", "alac")] as [(String, String?)])
    func exact(source codec: String, target: String?) throws {
        let source = try Fixture.sounding(
            "s.mov", in: folder, frames: 100, from: 0.4, seconds: 4, audio: ["-c:a", codec])
        let spec = JobSpec(
            container: .mov, audio: .keep, audioCodec: target, from: .seconds(Rational(1)), to: .seconds(Rational(3)))
        let job = try MediaJob(source, spec: spec, folder: folder.path)
        let (before, after) = (try Sound(source), try Sound(job.output))
        #expect(after.samples.count == 96_000)
        let first = Int(((1 - before.start) * 48000).rounded())
        if codec != "aac" { #expect(after.samples == Array(before.samples[first..<first + 96_000])) }
        let late = try MediaJob(
            source, spec: JobSpec(container: .mov, audio: .keep, audioCodec: target), folder: folder.path)
        let sound = try Sound(late.output)
        #expect(abs(sound.start - before.start) < 0.001)
        #expect(abs(sound.end - 4) < 0.001)
    }

    @Test("sound that begins before the first frame is cut there; a codec that the container lacks is encoded")
    func early() throws {
        let plain = try Fixture.sounding("plain.mkv", in: folder, seconds: 2.5, audio: ["-c:a", "libvorbis"])
        let source = folder.path + "/early.mkv"
        try ffmpeg("-itsoffset", "0.5", "-i", plain, "-i", plain, "-map", "0:v", "-map", "1:a", "-c", "copy", source)
        let job = try MediaJob(source, spec: JobSpec(container: .ts, audio: .keep), folder: folder.path)
        #expect(job.plan.audio.map(\.encoder) == ["aac"])
        #expect(job.warnings == ["audio 0: vorbis becomes aac"])
        let (before, after) = (try Sound(source), try Sound(job.output))
        #expect(abs(before.start + 0.5) < 0.01)
        #expect(abs(after.end - 2) < 0.03)
        let found = try #require(after.finds(before, at: 1, near: 1, within: 0.1))
        #expect(abs(found - 1) < 0.0025, "\(found)")
    }

    @Test("with --lossless packets are copied if the container holds them, otherwise kept as PCM")
    func lossless() throws {
        let source = try Fixture.sounding("s.mkv", in: folder, audio: ["-c:a", "libvorbis"])
        let held = try MediaJob(
            source, spec: JobSpec(container: .mkv, lossless: true, audio: .keep), folder: folder.path)
        #expect(held.plan.audio.map(\.encoder) == ["copy"])
        let other = try MediaJob(
            source, spec: JobSpec(container: .mov, lossless: true, audio: .keep), folder: folder.path)
        #expect(other.plan.audio.map(\.encoder) == ["pcm_f32le"])
        #expect(try Sound(other.output).samples.prefix(90_000) == Sound(source).samples.prefix(90_000))
    }
}
