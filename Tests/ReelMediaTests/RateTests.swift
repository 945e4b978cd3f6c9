import Foundation
import ReelCore
import ReelMedia
import ReelWords
import Testing

@Suite("The source's own rate")
struct RateTests {
    /// Three parts of 96 frames: a test pattern, one under noise, and the pattern again.
    private func source(in folder: ScratchFolder) throws -> String {
        try Fixture.make(
            "s.mp4", in: folder, frames: 288, size: "320x180",
            filter: "noise=alls=20:allf=t:enable='between(n,96,191)'",
            video: Fixture.x264 + ["-g", "96", "-keyint_min", "96", "-sc_threshold", "0", "-crf", "12"])
    }

    @Test(
        "every chunk gets about the bits that its frames had",
        arguments: [
            ("libx264", Container.mp4, 0.7...1.4), ("libx265", .mp4, 0.7...1.4), ("libvpx-vp9", .webm, 0.5...1.4),
            // Its coarsest quantiser still takes more than this pattern had.
            ("mpeg2video", .ts, 0.7...4),
        ])
    func follows(encoder: String, container: Container, range: ClosedRange<Double>) throws {
        let folder = ScratchFolder()
        let preset = encoder == "libx265" ? "veryfast" : encoder == "libvpx-vp9" ? "6" : nil
        let spec = JobSpec(
            container: container, videoCodec: encoder, preset: preset, bitrate: .source, audio: .none, passFrames: 96)
        let job = try MediaJob(try source(in: folder), spec: spec, folder: folder.path)
        let track = job.index.video
        let had = [192..<288, 96..<192, 0..<96].map { frames in
            track.frames[frames].reduce(0) { $0 + Int(track.packets[Int($1.packet)].size) }
        }
        let has = job.records.map(\.bytes)
        #expect(has.count == 3 && had[1] > 3 * had[0])
        for (had, has) in zip(had, has) {
            #expect(range.contains(Double(has) / Double(had)), "\(encoder): \(has) bytes of \(had)")
        }
        #expect(try Decoded(job.output).hashes.count == 288)
    }

    /// Noise of which ffmpeg has kept little, in two groups.
    private func coarseSource(in folder: ScratchFolder) throws -> String {
        try Fixture.make(
            "c.mp4", in: folder, frames: 160, rate: "30000/1001", size: "320x180", filter: "noise=alls=30:allf=t",
            video: ["-c:v", "libx264", "-g", "80", "-keyint_min", "80", "-sc_threshold", "0", "-crf", "36"])
    }

    @Test(
        "without an option, a chunk has about the bits that its frames had where the usual quality would have many more",
        arguments: [
            ("libx264", Container.mp4), ("libx265", .mp4), ("libvpx-vp9", .webm), ("libsvtav1", .mkv),
        ])
    func becomesCoarser(encoder: String, container: Container) throws {
        let folder = ScratchFolder()
        let preset = ["libx265": "veryfast", "libvpx-vp9": "6", "libsvtav1": "10"][encoder]
        var spec = JobSpec(
            container: container, videoCodec: encoder, preset: preset, audio: .none, passFrames: 80)
        let source = try coarseSource(in: folder)
        let job = try MediaJob(source, spec: spec, folder: folder.path)
        let track = job.index.video
        let had = [80..<160, 0..<80].map { frames in
            track.frames[frames].reduce(0) { $0 + Int(track.packets[Int($1.packet)].size) }
        }
        #expect(job.records.count == 2)
        for (had, has) in zip(had, job.records.map(\.bytes)) {
            // A segment has a few bytes beside its packets.
            #expect((0.5...1.5).contains(Double(has) / Double(had)), "\(encoder): \(has) bytes of \(had)")
        }
        #expect(try Decoded(job.output).hashes.count == 160)
        spec.crf = try #require(job.plan.video.encoding?.quality)
        let usual = ScratchFolder()
        let fixed = try MediaJob(source, spec: spec, folder: usual.path)
        #expect(fixed.plan.video.encoding?.coarsest == nil)
        for (had, has) in zip(had, fixed.records.map(\.bytes)) { #expect(Double(has) > 1.5 * Double(had)) }
    }

    @Test("a chunk of a source that has more bits keeps the usual quality")
    func staysFine() throws {
        let (folder, other) = (ScratchFolder(), ScratchFolder())
        let source = try source(in: folder)
        var spec = JobSpec(container: .mp4, preset: "fast", audio: .none, passFrames: 96)
        let job = try MediaJob(source, spec: spec, folder: folder.path)
        spec.crf = try #require(job.plan.video.encoding?.quality)
        let fixed = try MediaJob(source, spec: spec, folder: other.path)
        #expect(try Decoded(job.output).hashes == Decoded(fixed.output).hashes)
    }

    @Test(
        "pictures that have hardly any bits keep to the source's rate, and to a size",
        arguments: ["libx264", "libx265"])
    func hardlyAny(encoder: String) throws {
        let folder = ScratchFolder()
        let source = folder.path + "/black.mp4"
        try ffmpeg(
            [
                "-f", "lavfi", "-i", "color=black:s=64x36:r=25:d=8", "-c:v", "libx264", "-x264-params", "keyint=200",
                source,
            ])
        let size = Int64(try contents(of: source).count)
        for (bitrate, most) in [(VideoRate.source, nil), (nil, size)] as [(VideoRate?, Int64?)] {
            let spec = JobSpec(container: .mp4, videoCodec: encoder, bitrate: bitrate, mostBytes: most, audio: .none)
            do {
                let job = try MediaJob(source, spec: spec, folder: folder.path)
                #expect(try Decoded(job.output).hashes.count == 200)
                #expect(job.assembled.bytes <= most ?? .max)
            } catch let failure as ReelFailure {
                // The encoder's own text takes more than the source has.
                guard most != nil, case .sizeUnreachable = failure.reason else { throw failure }
            }
        }
    }

    @Test("a rate that is higher than SVT-AV1 takes, for pictures that are shown for a moment, is not asked for")
    func tooHigh() throws {
        let folder = ScratchFolder()
        let source = folder.path + "/moment.mkv"
        try ffmpeg(
            [
                "-f", "lavfi", "-i", "testsrc2=s=640x360:r=1000:d=0.002,noise=alls=90", "-c:v", "libx264", "-qp", "1",
                source,
            ])
        for (bitrate, most) in [(VideoRate.source, nil), (nil, 200_000)] as [(VideoRate?, Int64?)] {
            let spec = JobSpec(
                container: .mkv, videoCodec: "libsvtav1", preset: "10", bitrate: bitrate, mostBytes: most, audio: .none)
            let job = try MediaJob(source, spec: spec, folder: folder.path)
            #expect(job.index.video.packets.reduce(0) { $0 + Int($1.size) } * 8 > 100_000_000 / 500)
            #expect(try Decoded(job.output).hashes.count == 2)
            #expect(job.assembled.bytes <= most ?? .max)
        }
    }

    @Test("an encoder that writes the rate into its parameters is refused: its segments would not join")
    func refused() throws {
        let folder = ScratchFolder()
        let spec = JobSpec(container: .nut, videoCodec: "wmv2", bitrate: .source)
        let choice = try TargetChoice(of: try source(in: folder), spec)
        let failure = #expect(throws: ReelFailure.self) { try choice.video() }
        #expect(failure?.kind == .usage)
        #expect(failure?.words.hasPrefix("wmv2 writes the bit rate into its parameters") == true)
    }
}
