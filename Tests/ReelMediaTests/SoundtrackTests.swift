import Foundation
import ReelCore
import ReelMedia
import Testing

/// Edits whose clips are seen, and another source is heard.
@Suite("Soundtracks")
struct SoundtrackTests {
    private let folder = ScratchFolder()

    /// Two tones that rise, for this many seconds, in a file without video.
    private func music(_ name: String, seconds: Int, _ options: String...) throws -> String {
        let path = folder.path + "/" + name
        try ffmpeg(
            ["-f", "lavfi", "-i", "aevalsrc=sin(500*t*(1+t))|0.5*sin(700*t*(1+t)):s=48000:d=\(seconds)"]
                + options + [path])
        return path
    }

    private func job(
        _ sources: [String], _ clips: [EditClip], _ soundtrack: Soundtrack, container: Container = .mkv,
        lossless: Bool = true
    ) throws -> MediaJob {
        let edit = Edit(clips: clips, soundtrack: soundtrack)
        return try MediaJob(
            sources, spec: JobSpec(container: container, lossless: lossless, edit: edit), folder: folder.path)
    }

    @Test("the soundtrack runs forwards from its moment on, sample by sample, and fades out in the last half second")
    func exact() throws {
        let video = try Fixture.make(
            "a.mp4", in: folder, frames: 60, rate: "30000/1001", video: Fixture.x264, audio: ["-c:a", "aac"])
        let music = try music("m.wav", seconds: 5, "-c:a", "pcm_s16le")
        let job = try job(
            [video, music], [EditClip(play: .reverse), EditClip(play: .forward, speed: Rational(2))],
            Soundtrack(source: 1, from: Rational(1, 4)))
        let (heard, all) = (try samples(of: job.output), try samples(of: music))
        // 60 frames and 60 of half the time: 3.003 s.
        #expect(heard.count == 144_144 && job.plan.audio.count == 1)
        let fade = 144_144 - 24_000
        #expect(Array(heard[..<fade]) == Array(all[12_000..<12_000 + fade]))
        for place in stride(from: fade, to: 144_144, by: 97) {
            let share = 1 - (Float(place - fade) + 0.5) / 24_000
            for channel in 0..<2 {
                #expect(abs(heard[place][channel] - all[12_000 + place][channel] * share) < 2.0 / 32_768)
            }
        }
        let frames = try Decoded(video).hashes
        #expect(try Decoded(job.output).hashes == frames.reversed() + frames)
        #expect(job.diagnostics.isEmpty, "\(job.warnings)")
    }

    @Test(
        "a soundtrack that is too short is followed by silence, and one that is compressed or has a cover is heard, too"
    ) func short() throws {
        let video = try Fixture.make("a.mp4", in: folder, frames: 75, rate: "25", video: Fixture.x264)
        let cover = folder.path + "/cover.png"
        try ffmpeg("-f", "lavfi", "-i", "testsrc2=s=64x64", "-frames:v", "1", cover)
        let plain = try music("plain.mp3", seconds: 1, "-c:a", "libmp3lame")
        let music = folder.path + "/m.mp3"
        try ffmpeg(
            "-i", plain, "-i", cover, "-map", "0", "-map", "1", "-c", "copy", "-disposition:v", "attached_pic", music)
        let job = try job([video, music], [EditClip(play: .reverse)], Soundtrack(source: 1))
        let heard = try samples(of: job.output)
        #expect(heard.count == 144_000)
        #expect(heard[..<44_000].contains { abs($0[0]) > 0.5 })
        #expect(heard[52_000...].allSatisfy { $0 == [0, 0] })
    }

    @Test("a clip's own sound may run forwards beside pictures that run backwards")
    func ownSound() throws {
        let video = try Fixture.make(
            "a.mov", in: folder, frames: 50, rate: "25", video: Fixture.x264, audio: ["-c:a", "pcm_s16le"])
        let job = try job([video], [EditClip(play: .reverse)], Soundtrack(source: 0))
        let (heard, all) = (try samples(of: job.output), try samples(of: video))
        #expect(heard.count == 88_200 && Array(heard[..<66_150]) == Array(all[..<66_150]))
    }

    @Test("a file without sound is refused, and so is a soundtrack for a picture")
    func refused() throws {
        let video = try Fixture.make("a.mp4", in: folder, frames: 10, rate: "25", video: Fixture.x264)
        let silent = try Fixture.make("b.mp4", in: folder, frames: 5, rate: "25", video: Fixture.x264)
        let failure = #expect(throws: ReelFailure.self) {
            try job([video, silent], [EditClip(play: .reverse)], Soundtrack(source: 1))
        }
        #expect(failure?.reason == .noSound(path: silent))
        let music = try music("m.wav", seconds: 1)
        let other = #expect(throws: ReelFailure.self) {
            try job(
                [video, music], [EditClip(play: .reverse)], Soundtrack(source: 1), container: .gif, lossless: false)
        }
        #expect(other?.reason == .optionNotOfContainer(option: .soundtrack, container: .gif))
    }
}
