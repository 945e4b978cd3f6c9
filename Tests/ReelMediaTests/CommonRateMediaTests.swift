import Foundation
import ReelCore
import ReelMedia
import Testing

/// Edits of sources of several frame rates, as files of one rate.
@Suite("One rate for several sources, as files")
struct CommonRateMediaTests {
    private let folder = ScratchFolder()

    /// The frames of a source of 25 frames a second, and of one of 30, in a second of an output of each rate.
    private static let slower = (0..<30).map { (2 * $0 + 1) * 25 / 60 }
    private static let faster = (0..<25).map { (2 * $0 + 1) * 30 / 50 }

    @Test(
        "sources of 25 and 30 frames a second become one of 30, or of what is asked for",
        arguments: [nil, 25] as [Int64?])
    func oneRate(asked: Int64?) throws {
        let a = try Fixture.make(
            "a.mp4", in: folder, frames: 25, rate: "25", video: Fixture.x264, audio: ["-c:a", "aac"])
        let b = try Fixture.make(
            "b.mkv", in: folder, frames: 30, rate: "30", video: Fixture.x264, audio: ["-c:a", "aac"])
        let edit = Edit(
            clips: [
                EditClip(source: 0, play: .forward), EditClip(source: 1, play: .reverse),
                EditClip(source: 0, play: .pingPong), .gap(Rational(1, 10)), EditClip(source: 1, play: .forward),
            ], turn: .twice)
        let job = try MediaJob(
            [a, b],
            spec: JobSpec(
                container: .mkv, videoCodec: "ffv1", edit: edit, mostFrames: asked.map { Rational($0) }, passFrames: 7),
            folder: folder.path)
        let (first, second, made) = (try Decoded(a).hashes, try Decoded(b).hashes, try Decoded(job.output))
        let rate = asked ?? 30
        let slow = rate == 30 ? Self.slower.map { first[$0] } : first
        let back = rate == 30 ? second.reversed() : Self.faster.map { second[29 - $0] }
        let gap = Int(rate) / 10
        #expect(made.hashes.count == 5 * Int(rate) + gap)
        let (n, count) = (Int(rate), made.hashes.count)
        #expect(Array(made.hashes[..<n]) == slow && Array(made.hashes[n..<2 * n]) == back)
        #expect(Array(made.hashes[2 * n..<3 * n]) == slow && Array(made.hashes[3 * n..<4 * n]) == slow.reversed())
        #expect(Set(made.hashes[4 * n..<4 * n + gap]).count == 1)
        // The gap of 0.1 s ends in the middle of a frame of 25 a second.
        if rate == 30 { #expect(Array(made.hashes[(count - n)...]) == second) }
        // Matroska rounds to milliseconds, and begins with what AAC puts before the sound.
        let times = made.times.map { ($0 - made.times[0]).approximate }
        let errors = times.enumerated().map { abs($0.element - Double($0.offset) / Double(rate)) }
        #expect(errors.max() ?? 1 <= 0.0011)
        #expect(
            job.diagnostics.contains(.frameRatesUnified(from: [Rational(25), Rational(30)], to: Rational(rate))))
        let stated = try run(
            "ffprobe",
            [
                "-v", "error", "-select_streams", "v", "-show_entries", "stream=avg_frame_rate", "-of", "csv=p=0",
                job.output,
            ])
        #expect(stated.hasPrefix("\(rate)/1"))
        let sound = try run(
            "ffprobe",
            ["-v", "error", "-select_streams", "a", "-show_entries", "packet=pts_time", "-of", "csv=p=0", job.output])
        let last = sound.split(separator: "\n").compactMap { Double($0.prefix { $0 != "," }) }.max() ?? 0
        #expect(last > 5.0 && last < 5.15)
    }

    @Test("packets that are copied are repeated, or left out, and have exact times")
    func oneRateOfCopies() throws {
        let video = ["-c:v", "mjpeg", "-q:v", "3"]
        let a = try Fixture.make("a.mov", in: folder, frames: 25, rate: "25", video: video)
        let b = try Fixture.make("b.mov", in: folder, frames: 30, rate: "30", video: video)
        let edit = Edit(clips: [
            EditClip(source: 0, play: .reverse), EditClip(source: 1, play: .forward, speed: Rational(2)),
        ])
        let job = try MediaJob(
            [a, b], spec: JobSpec(container: .mov, videoCodec: "copy", edit: edit), folder: folder.path)
        #expect(job.plan.video.isPassthrough)
        let (first, second, made) = (try Decoded(a).hashes, try Decoded(b).hashes, try Decoded(job.output))
        #expect(made.hashes == Self.slower.map { first[24 - $0] } + (0..<15).map { second[2 * $0 + 1] })
        #expect(made.times == (0..<45).map { Rational(Int64($0), 30) })
    }
}
