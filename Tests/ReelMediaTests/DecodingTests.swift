import Foundation
import ReelCore
import ReelMedia
import ReelWords
import Testing

/// Points at which decoding can start, and the treatment of frames that do not decode.
@Suite("Decoding")
struct DecodingTests {
    private let folder = ScratchFolder()

    private func reversed(
        _ source: String, passFrames: Int = 12, onDamage: DamageMode = .repeat, slots: Int = 2
    ) throws -> MediaJob {
        let spec = JobSpec(container: .mkv, lossless: true, passFrames: passFrames, onDamage: onDamage)
        return try MediaJob(source, spec: spec, folder: folder.path, slots: slots)
    }

    @Test(
        "gradual refresh: every pass starts where decoding is clean",
        arguments: ["refresh.ts", "refresh.mkv", "refresh.mp4"])
    func intraRefresh(name: String) throws {
        let source = try Fixture.make(
            name, in: folder, frames: 80, video: Fixture.x264 + ["-x264-params", "intra-refresh=1:keyint=16"])
        let job = try reversed(source)
        #expect(try Decoded(job.output).hashes == Decoded(source).hashes.reversed())
    }

    @Test("one key frame for all: decoded once, chunk after chunk")
    func oneKeyFrame() throws {
        let source = try Fixture.make(
            "one.mp4", in: folder, frames: 600, video: Fixture.x264 + ["-g", "9999", "-sc_threshold", "0"])
        let job = try reversed(source, passFrames: 50, slots: 1)
        #expect(job.plan.passes.count == 1)
        #expect(job.records.map(\.frames).max() == 50)
        #expect(job.framesDecoded == 600)
        #expect(try Decoded(job.output).hashes == Decoded(source).hashes.reversed())
    }

    // MARK: Damage

    /// A video of 60 frames, closed groups of 12, one packet after the other, in which the given packets' NAL units
    /// have an impossible length.
    private func damaged(_ packets: some Sequence<Int>) throws -> String {
        let source = try Fixture.make(
            "damaged.mp4", in: folder, frames: 60, video: Fixture.x264 + ["-g", "12", "-bf", "0", "-sc_threshold", "0"])
        let positions = try probe(source, "packet=pos")
            .split(separator: "\n").compactMap { UInt64($0.split(separator: ",")[0]) }
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: source))
        for packet in packets {
            try file.seek(toOffset: positions[packet])
            try file.write(contentsOf: [0xff, 0xff, 0xff, 0xff])
        }
        try file.close()
        return source
    }

    @Test("where frames do not decode the one before stays, exactly as a decoder shows it, and the log says where")
    func left() throws {
        let source = try damaged([30, 31, 40])
        let job = try reversed(source)
        let (before, after) = (try Decoded(source), try Decoded(job.output))
        #expect(before.hashes.count == 57)
        #expect(after.hashes == before.hashes.reversed())
        // Each stays as long as it did, to the tick of Matroska; the last lasts as long as its packet says.
        #expect(after.gaps.dropFirst().count == 55)
        let off = zip(after.gaps.dropFirst(), before.gaps.dropFirst().reversed()).map { $0 > $1 ? $0 - $1 : $1 - $0 }
        #expect(off.allSatisfy { $0 <= Rational(1, 1000) })
        #expect(
            job.warnings.filter { $0.contains("decode") }.sorted() == [
                "3 packets of the video do not decode, the first at 1.251 s, the last at 1.668 s: the frame before stays",
                "all of the video was decoded to find its frames: its tables and headers do not match what is shown",
            ])
    }

    @Test("a whole group that does not decode shows the frame before it")
    func wholeGroup() throws {
        let source = try damaged(24..<36)
        let job = try reversed(source)
        let (before, after) = (try Decoded(source), try Decoded(job.output))
        #expect(before.hashes.count == 48)
        #expect(after.hashes == before.hashes.reversed())
    }

    @Test("frames at the start that cannot be decoded are left out, with a warning")
    func damagedStart() throws {
        let source = try damaged(0..<12)
        let job = try reversed(source)
        let (before, after) = (try Decoded(source), try Decoded(job.output))
        #expect(before.hashes.count == 48)
        #expect(after.hashes == before.hashes.reversed())
        #expect(
            job.warnings == ["12 frames at the start cannot be decoded and are left out: what they refer to is missing"]
        )
    }

    @Test("--on-damage fail stops, and says when")
    func stops() throws {
        let source = try damaged([30])
        let failure = #expect(throws: ReelFailure.self) { try reversed(source, onDamage: .fail) }
        #expect(failure?.kind == .input)
        #expect(failure?.words.contains("the video does not decode at 1.251 s") == true, "\(failure?.words ?? "")")
    }

    @Test(
        "times that are far off change no order: what a decoder shows next is shown next",
        arguments: [
            "if(eq(N,20),PTS+10000,PTS)", "if(eq(N,40),PTS-1000,PTS)", "if(between(N,20,29),PTS+10000,PTS)",
        ], [12, 60])
    func timesFarOff(times: String, group: Int) throws {
        let plain = try Fixture.make(
            "plain.mkv", in: folder, frames: 60,
            video: Fixture.x264 + ["-g", "\(group)", "-bf", "0", "-sc_threshold", "0"])
        let source = folder.path + "/off.mkv"
        try ffmpeg("-i", plain, "-c", "copy", "-bsf:v", "setts=pts='\(times)':dts=DTS-2000", source)
        let job = try reversed(source, slots: group == 12 ? 2 : 1)
        #expect(try Decoded(job.output).hashes == Decoded(plain).hashes.reversed())
        #expect(job.warnings.contains { $0.hasPrefix("all of the video was decoded") })
    }

    @Test("a truncated file is reversed up to its end", arguments: ["mkv", "ts"])
    func truncated(container: String) throws {
        let source = try Fixture.make("cut." + container, in: folder, frames: 60, video: Fixture.x264 + ["-g", "12"])
        try run("sh", "-c", "truncate -s $(($(stat -c %s \(source)) * 6 / 10)) \(source)")
        let job = try reversed(source)
        let (before, after) = (try Decoded(source), try Decoded(job.output))
        #expect(before.hashes.count > 20 && before.hashes.count < 60)
        #expect(after.hashes.filter(Set(before.hashes).contains) == after.hashes)
        #expect(Array(after.hashes.suffix(20)) == before.hashes.prefix(20).reversed())
    }

    // MARK: Changes midway

    @Test("frames of another size are scaled to the first one's, and none is lost")
    func sizeChange() throws {
        let sizes = ["192x108", "160x90"]
        let parts = try sizes.enumerated().map { place, size in
            try Fixture.make(
                "\(place).ts", in: folder, frames: 36, size: size,
                video: Fixture.x264 + ["-g", "12", "-bf", "2", "-output_ts_offset", place == 0 ? "0" : "1.5015"])
        }
        let source = folder.path + "/two.ts"
        try run("sh", "-c", "cat \(parts[0]) \(parts[1]) > \(source)")
        let job = try reversed(source)
        let after = try Decoded(job.output)
        #expect(after.hashes.count == 72)
        #expect(after.hashes.suffix(36) == Decoded.reversed(try Decoded(parts[0]))[...])
        let scaled = try Decoded(parts[1], filter: "scale=192:108:flags=bicubic+accurate_rnd+full_chroma_inp")
        #expect(after.hashes.prefix(36) == Decoded.reversed(scaled)[...])
        #expect(
            Set(job.warnings) == [
                "the source's clock restarts 1 time: the video goes on without a gap",
                "some frames are of another size: scaled to the first one's, 192x108",
            ])
    }
}

extension Decoded { fileprivate static func reversed(_ decoded: Decoded) -> [String] { decoded.hashes.reversed() } }
