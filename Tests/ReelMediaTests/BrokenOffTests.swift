import Foundation
import ReelCore
import ReelMedia
import Testing

/// Recordings that broke off: their bytes end anywhere.
@Suite("Recordings that broke off")
struct BrokenOffTests {
    private let folder = ScratchFolder()

    /// A source without the end of its bytes.
    private func cut(_ path: String, to share: Double) throws -> String {
        let bytes = try contents(of: path)
        let name = folder.path + "/cut-" + URL(fileURLWithPath: path).lastPathComponent
        try store(bytes.prefix(Int(Double(bytes.count) * share)), to: name)
        return name
    }

    @Test(
        "a header that states the whole duration says nothing about the last frame that is there",
        arguments: ["a.mkv", "a.webm"], [0.31, 0.62, 0.93])
    func statedDuration(name: String, share: Double) throws {
        let video =
            name.hasSuffix("webm")
            ? ["-c:v", "libvpx", "-b:v", "1M", "-deadline", "realtime"] : Fixture.x264 + ["-bf", "2"]
        let whole = try Fixture.make(name, in: folder, frames: 150, video: video)
        let source = try cut(whole, to: share)
        let index = try Recon(.file(source)).run()
        let frames = index.video.frames
        #expect(frames.count < 150)
        let usual = try #require(frames.dropLast().last?.interval.duration)
        let last = try #require(frames.last?.interval.duration)
        #expect(abs(last.count - usual.count) <= 1, "\(last) after \(usual)")
        // Of the whole file the end counts.
        let end = try Recon(.file(whole)).run().video
        #expect(abs(try #require(end.frames.last?.interval.duration).count - usual.count) <= 1)
    }

    @Test("a track's length that mkvmerge states is counted from its first frame, libavformat's end is not")
    func statedLength() throws {
        let source = try Fixture.make(
            "late.mkv", in: folder, frames: 30, rate: "25", filter: "settb=1/1000,setpts=PTS+16",
            video: Fixture.x264 + ["-enc_time_base", "1/1000", "-fflags", "+bitexact"])
        let last = { (path: String) in try Recon(.file(path)).run().video.frames.last?.interval }
        let expected = Interval(start: Timestamp(1176), duration: Ticks(40))
        #expect(try last(source) == expected)

        // As mkvmerge would have written it.
        var bytes = try contents(of: source)
        for (before, after) in [("Lavf", "lm12"), ("00:00:01.216000000", "00:00:01.200000000")] {
            while let place = bytes.range(of: Data(before.utf8)) {
                bytes.replaceSubrange(place, with: Data(after.utf8))
            }
        }
        let merged = folder.path + "/merged.mkv"
        try store(bytes, to: merged)
        #expect(try last(merged) == expected)
    }

    @Test(
        "a last picture that is half there is found damaged each time, by however many threads it is decoded",
        arguments: ["ts", "h264"])
    func halfPicture(container: String) throws {
        let whole = try Fixture.make(
            "whole.\(container)", in: folder, frames: 40, rate: "25", video: Fixture.x264 + ["-bf", "2", "-g", "12"])
        let last = try #require(try Recon(.file(whole)).run().video.packets.last { $0.flags.contains(.key) })
        let source = folder.path + "/half.\(container)"
        try store(contents(of: whole).prefix(Int(last.position) + Int(last.size) / 2), to: source)
        let spec = JobSpec(container: .mkv, lossless: true)
        // The last frame comes from another thread than the one that decodes it, mostly before that one marks it as
        // damaged.
        for _ in 0..<8 {
            let failure = #expect(throws: ReelFailure.self) { try MediaJob([source], nil, spec, folder.path) }
            #expect(failure?.reason.disprovesPlan == true, "\(String(describing: failure))")
        }
        let job = try MediaJob(source, spec: spec, folder: folder.path)
        #expect(try Decoded(job.output).hashes == Decoded(whole: source).hashes.reversed())
        #expect(job.index.video.pictures.last?.isDamaged == true)
    }

    @Test("a last field that is half there is named, although the decoder does not mark it")
    func halfField() throws {
        let whole = try FieldPictures.make("whole.ts", in: folder, frames: 10)
        let last = try #require(try Recon(.file(whole)).run().video.packets.last)
        let source = folder.path + "/half.ts"
        // The packet is both fields.
        try store(contents(of: whole).prefix(Int(last.position) + Int(last.size) * 3 / 4), to: source)
        let spec = JobSpec(container: .mkv, lossless: true)
        let failure = #expect(throws: ReelFailure.self) { try MediaJob([source], nil, spec, folder.path) }
        #expect(failure?.reason.disprovesPlan == true, "\(String(describing: failure))")
        let job = try MediaJob(source, spec: spec, folder: folder.path)
        #expect(job.index.video.pictures.map(\.isDamaged) == Array(repeating: false, count: 9) + [true])
        #expect(job.warnings.contains { $0.hasPrefix("1 frame decoded with errors") }, "\(job.warnings)")
        // What is missing of the last frame is left to chance.
        let (before, after) = (try Decoded(whole: source), try Decoded(job.output))
        #expect(Array(after.hashes.dropFirst()) == before.hashes.dropLast().reversed())

        #expect(try MediaJob(whole, spec: spec, folder: folder.path).index.video.pictures.isEmpty)
    }

    @Test("a track that its description calls encrypted is refused as that", arguments: [false, true])
    func encrypted(isFragmented: Bool) throws {
        let source = try Fixture.make(
            "cenc.mp4", in: folder, frames: 30,
            video: Fixture.x264 + [
                "-encryption_scheme", "cenc-aes-ctr", "-encryption_key", "76a6c65c5ea762046bd749a2e632ccbb",
                "-encryption_kid", "a7e61c373e219033c21091fa607bf3b8",
            ] + (isFragmented ? ["-movflags", "frag_keyframe+empty_moov"] : []), audio: ["-c:a", "aac"])
        let refusal = #expect(throws: ReelFailure.self) { try Recon(.file(source)) }
        #expect(refusal?.reason == .encrypted(path: source))
        #expect(refusal?.kind == .input)
    }

    @Test("a part of a Matroska file that is gone is named, though what follows is read", arguments: ["mkv", "webm"])
    func hole(container: String) throws {
        let video = container == "mkv" ? Fixture.x264 + ["-g", "12"] : ["-c:v", "libvpx", "-g", "12", "-b:v", "1M"]
        let whole = try Fixture.make("whole.\(container)", in: folder, frames: 150, video: video)
        var bytes = try contents(of: whole)
        let hole = bytes.count / 2..<bytes.count / 2 + bytes.count / 8
        bytes.replaceSubrange(hole, with: Data(count: hole.count))
        let source = folder.path + "/hole.\(container)"
        try store(bytes, to: source)
        // Errors are counted from then on.
        Media.prepare()
        let damage = try Recon(.file(source)).run().diagnostics.compactMap {
            if case .fileDamaged(let offset) = $0 { offset } else { nil }
        }
        #expect(damage.count == 1 && damage.allSatisfy { $0 >= hole.lowerBound }, "\(damage), \(hole)")
        #expect(try Recon(.file(whole)).run().diagnostics == [])
    }

    @Test("an animated WebP that this FFmpeg shows nothing of is not called damaged")
    func animatedWebP() throws {
        let source = try Fixture.make("s.mp4", in: folder, frames: 5, video: Fixture.x264)
        let made = try MediaJob(source, spec: JobSpec(container: .webp), folder: folder.path).output
        let refusal = #expect(throws: ReelFailure.self) { try Recon(.file(made)) }
        #expect(refusal?.reason == .noDecoder(path: made, stream: 0, codec: "animated WebP"))
    }
}
