import Foundation
import ReelCore
import ReelMedia
import Testing

/// Timestamps that real files have, and how the reversed video keeps them.
@Suite("Timing")
struct TimingTests {
    private let folder = ScratchFolder()

    @Test("recon says after each packet how many it has read")
    func reconProgress() throws {
        let source = try Fixture.make("s.mkv", in: folder, frames: 30, video: Fixture.x264)
        var heard: [Int] = []
        let index = try Recon(.file(source)).run { packets, _ in heard.append(packets) }
        #expect(index.video.packets.count == 30)
        #expect(heard == Array(1...30))
    }

    /// Reverses losslessly, in passes of 12 frames; the result must show the source's frames from the last to the
    /// first.
    private func reversed(
        _ source: String, _ container: Container = .mkv, in folder: ScratchFolder? = nil
    ) throws -> (job: MediaJob, before: Decoded, after: Decoded) {
        let spec = JobSpec(container: container, lossless: true, passFrames: 12)
        let job = try MediaJob(source, spec: spec, folder: (folder ?? self.folder).path)
        let (before, after) = (try Decoded(source), try Decoded(job.output))
        #expect(after.hashes == before.hashes.reversed())
        return (job, before, after)
    }

    /// The greatest difference between a gap and the one it mirrors.
    private func deviation(_ gaps: [Rational], _ others: [Rational]) -> Rational {
        zip(gaps, others).map { $0 < $1 ? $1 - $0 : $0 - $1 }.max() ?? Rational(0)
    }

    @Test("durations mirrored exactly, and back again by a second reversal", arguments: ["mp4", "mkv"])
    func variableFrameRate(container: String) throws {
        let source = try Fixture.variable("vfr." + container, in: folder)
        let (once, before, after) = try reversed(source, .nut)
        // The gap behind output frame k is how long source frame n−1−k is shown.
        #expect(Array(after.gaps.dropFirst()) == before.gaps.reversed().dropLast())
        let (_, _, restored) = try reversed(once.output, .nut, in: ScratchFolder())
        #expect(restored.hashes == before.hashes)
        #expect(restored.gaps == before.gaps)
    }

    @Test("through Matroska, to its own tick")
    func variableFrameRateInMatroska() throws {
        let source = try Fixture.variable("vfr.mp4", in: folder)
        let (once, before, _) = try reversed(source)
        let (_, _, restored) = try reversed(once.output, in: ScratchFolder())
        #expect(restored.hashes == before.hashes)
        #expect(deviation(restored.gaps, before.gaps) <= Rational(1, 1000))
    }

    @Test("containers without presentation times", arguments: ["avi", "h264", "hevc", "m2v", "m4v", "mpg"])
    func withoutTimes(container: String) throws {
        let video =
            switch container {
            case "hevc": ["-c:v", "libx265", "-preset", "ultrafast", "-x265-params", "log-level=error:bframes=3"]
            case "m2v", "mpg": ["-c:v", "mpeg2video", "-bf", "2"]
            case "m4v": ["-c:v", "mpeg4", "-bf", "2"]
            default: Fixture.x264 + ["-bf", "3"]
            }
        let source = try Fixture.make("bare." + container, in: folder, frames: 50, video: video + ["-g", "12"])
        let (job, before, after) = try reversed(source, .mov)
        #expect(before.hashes.count == 50)
        let even: Set<Int64> = container == "mpg" ? [3753, 3754, 3755] : [3754]
        #expect(even.isSuperset(of: after.gaps.map { TimeBase(1, 90000).ticks(in: $0, rounding: .nearest) }))
        if container == "h264" || container == "hevc" {
            #expect(
                job.warnings == ["the video has no timestamps: its frames are shown in order, at the rate it states"])
        } else if container == "avi" {
            #expect(
                job.warnings == [
                    "all of the video was decoded to find its frames: reel is not sure of h264 in avi",
                    "2 of 50 frames have no presentation time: it is derived from their order",
                ])
        }
    }

    @Test("duplicate and backward times are moved apart, and no frame is lost")
    func duplicates() throws {
        let plain = try Fixture.make("plain.nut", in: folder, frames: 30, video: ["-c:v", "mjpeg"])
        let source = folder.path + "/twice.mkv"
        try ffmpeg(
            "-i", plain, "-c", "copy", "-bsf:v",
            "setts=pts='if(eq(mod(N,10),5),PREV_OUTPTS,PTS)':dts='if(eq(mod(N,10),5),PREV_OUTDTS,DTS)'", source)
        let spec = JobSpec(container: .mkv, lossless: true, passFrames: 12)
        let job = try MediaJob(source, spec: spec, folder: folder.path)
        #expect(try Decoded(job.output).hashes == Decoded(plain).hashes.reversed())
        #expect(
            job.warnings == [
                "all of the video was decoded to find its frames: its timestamps contradict each other",
                "3 frames had the presentation time of the frame before or an earlier one: moved behind it",
            ])
    }

    @Test("a large first timestamp and a late video: the output starts at 0", arguments: ["ts", "mkv"])
    func farStart(container: String) throws {
        let source = try Fixture.make(
            "far." + container, in: folder, frames: 40, video: Fixture.x264 + ["-output_ts_offset", "20000"])
        let (_, before, after) = try reversed(source)
        #expect(after.times.first == Rational(0))
        #expect(deviation(after.gaps, before.gaps.reversed()) <= Rational(1, 1000))
    }

    @Test("an edit that starts inside a group shows its visible frames only")
    func editList() throws {
        let whole = try Fixture.make(
            "whole.mp4", in: folder, frames: 96, video: Fixture.x264 + ["-g", "48", "-bf", "2", "-sc_threshold", "0"])
        let source = folder.path + "/cut.mp4"
        try ffmpeg("-ss", "0.7", "-i", whole, "-c", "copy", source)
        let packets = try probe(source, "packet=pts", streams: "v")
        let (_, before, _) = try reversed(source)
        #expect(packets.split(separator: "\n").count == 96)
        #expect(before.hashes.count == 79)
    }

    @Test("a clock of 33 bits wraps within the video")
    func wrap() throws {
        // 2³³ ticks of 90 kHz are 95443.718 s.
        let source = try Fixture.make(
            "wrap.ts", in: folder, frames: 140,
            video: Fixture.x264 + ["-g", "12", "-bf", "2", "-output_ts_offset", "95440"], audio: ["-c:a", "mp2"])
        let (job, before, after) = try reversed(source)
        #expect(before.hashes.count == 140)
        #expect(deviation(after.gaps, before.gaps.reversed()) <= Rational(1, 1000))
        #expect(job.warnings == [])
    }

    @Test("two recordings in one file, whose clock restarts")
    func restart() throws {
        let parts = try ["a", "b"].map { name in
            try Fixture.make(
                name + ".ts", in: folder, frames: 48, filter: name == "a" ? "null" : "negate",
                video: Fixture.x264 + ["-g", "12", "-bf", "2"], audio: ["-c:a", "mp2"])
        }
        let source = folder.path + "/joined.ts"
        try run("sh", "-c", "cat \(parts[0]) \(parts[1]) > \(source)")
        let spec = JobSpec(container: .mkv, lossless: true, passFrames: 12)
        let job = try MediaJob(source, spec: spec, folder: folder.path)
        let expected = try parts.flatMap { try Decoded($0).hashes }
        let after = try Decoded(job.output)
        #expect(after.hashes == expected.reversed())
        #expect((after.gaps.max() ?? Rational(1)) < Rational(50, 1000))
        #expect(
            job.warnings.filter { !$0.hasPrefix("audio 0") } == [
                "the source's clock restarts 1 time: the video goes on without a gap"
            ])
        // The sound goes on, too: without a hole, and as long as both.
        let due = try parts.map { try samples(of: $0).count }.reduce(0, +)
        #expect(try samples(of: job.output).count == due)
    }
}
