import Foundation
import ReelCore
import ReelMedia
import Testing

/// Counts what recon reads of a file: if the container has a table of its packets, recon reads next to nothing of their
/// payload, and the index is the same.
@Suite("Recon's reading")
struct ReconReadingTests {
    private let folder = ScratchFolder()

    /// Frames of noise, which take room, `loops` times one after the other.
    private func source(
        _ name: String, in folder: ScratchFolder, frames: Int = 300, loops: Int = 10, size: String = "320x180",
        filter: String = "null", video: [String], audio: [String]? = ["-c:a", "aac"], muxing: [String] = []
    ) throws -> String {
        let once = try Fixture.make(
            "once-" + name, in: folder, frames: frames, rate: "30000/1001", size: size,
            filter: "noise=alls=40:allf=t," + filter, video: video, audio: audio)
        let path = folder.path + "/" + name
        try ffmpeg(["-stream_loop", "\(loops - 1)", "-i", once, "-map", "0", "-c", "copy"] + muxing + [path])
        return path
    }

    /// The index of a file, and the share of it that was read for that.
    private func look(_ path: String, payload: Bool) throws -> (index: SourceIndex, share: Double) {
        let recon = try Recon(.file(path), payload: payload)
        let index = try recon.run()
        return (index, Double(recon.bytesRead) / Double(index.fileSize))
    }

    struct Case: CustomTestStringConvertible, Sendable {
        let name: String
        let video: [String]
        var muxing: [String] = []
        var filter = "null"
        var size = "320x180"
        var audio: [String]? = ["-c:a", "aac"]
        var loops = 10
        var testDescription: String { "\(name) \(video) \(muxing)" }
    }

    private static let x264 = Fixture.x264 + ["-qp", "18", "-bf", "3", "-g", "50"]
    private static let x265 = [
        "-c:v", "libx265", "-preset", "ultrafast", "-x265-params",
        "log-level=error:qp=18:bframes=3:keyint=50:open-gop=1",
    ]

    @Test(
        "at most 2 % of a file with a sample table is read, and the index is the same",
        arguments: [
            Case(name: "a.mp4", video: x264), Case(name: "a.mp4", video: x264, muxing: ["-movflags", "+faststart"]),
            // More than one piece of the table of composition offsets.
            Case(name: "a.mp4", video: x264, loops: 40),
            Case(name: "a.mov", video: x264 + ["-x264-params", "open-gop=1"], audio: ["-c:a", "pcm_s16le"]),
            Case(name: "a.mp4", video: x264, muxing: ["-output_ts_offset", "3.337"]),
            Case(name: "a.mp4", video: x264, audio: ["-c:a", "ac3"]),
            Case(
                name: "a.mp4", video: x264 + ["-flags", "+ildct+ilme", "-field_order", "tt"], filter: "setfield=tff",
                size: "640x360"), Case(name: "a.mp4", video: x265 + ["-tag:v", "hvc1"]),
            Case(name: "a.mov", video: ["-c:v", "mpeg2video", "-q:v", "2", "-bf", "2"], size: "640x360"),
            Case(
                name: "a.mp4",
                video: ["-c:v", "libvpx-vp9", "-deadline", "realtime", "-cpu-used", "8", "-b:v", "9M"]),
            Case(
                name: "a.mov", video: ["-c:v", "prores_ks", "-profile:v", "0"], audio: nil, loops: 20),
        ])
    func table(_ source: Case) throws {
        let path = try self.source(
            source.name, in: folder, loops: source.loops, size: source.size, filter: source.filter,
            video: source.video, audio: source.audio, muxing: source.muxing)
        let (listed, share) = try look(path, payload: false)
        let (read, whole) = try look(path, payload: true)
        #expect(share <= 0.02)
        #expect(whole > 0.9)
        #expect(listed == read)
        #expect(listed.video.frames.count == 300 * source.loops)
    }

    @Test("an edit list that begins within a group of pictures hides the same packets")
    func editList() throws {
        let whole = try source("whole.mp4", in: folder, video: Self.x264)
        let path = folder.path + "/cut.mp4"
        try ffmpeg(["-ss", "1", "-i", whole, "-map", "0", "-c", "copy", path])
        let (listed, share) = try look(path, payload: false)
        #expect(share <= 0.02)
        #expect(listed == (try look(path, payload: true).index))
        #expect(listed.video.packets.contains { $0.flags.contains(.discarded) })
    }

    @Test("an edit list does not make the last frame longer", arguments: ["libx264", "libvpx-vp9"])
    func lastFrame(encoder: String) throws {
        let whole = try Fixture.make(
            "whole.mp4", in: folder, frames: 90,
            video: ["-c:v", encoder, "-g", "30"] + (encoder == "libx264" ? ["-bf", "0"] : ["-cpu-used", "8"]))
        let path = folder.path + "/cut.mp4"
        try ffmpeg(["-ss", "0.6", "-i", whole, "-c", "copy", path])
        let track = try Recon(.file(path)).run().video
        #expect((track.packets.first?.dts ?? Timestamp(0)) < Timestamp(0))
        let lengths = Set(track.frames.map { track.stream.timeBase.seconds($0.interval.duration) })
        #expect(lengths == [Rational(1001, 24000)])
    }

    @Test("a table that gives too few packets a presentation time is not believed")
    func shortTable() throws {
        let path = try source("s.mp4", in: folder, loops: 4, video: Self.x264)
        var bytes = try contents(of: path)
        let box = try #require(bytes.range(of: Data("ctts".utf8), options: .backwards))
        // Kind, version and flags, the number of entries.
        let count = box.upperBound + 4..<box.upperBound + 8
        let entries = bytes[count].reduce(0) { $0 << 8 | Int($1) }
        try #require(entries > 200)
        bytes.replaceSubrange(count, with: (0..<4).map { UInt8(truncatingIfNeeded: (entries / 2) >> (24 - 8 * $0)) })
        try store(bytes, to: path)
        let (listed, _) = try look(path, payload: false)
        #expect(listed == (try look(path, payload: true).index))
        #expect(listed.video.packets.count == 1200)
        // The times that are left contradict each other: what a decoder shows counts.
        #expect(listed.video.frames.count == 1200 && listed.video.pictures.count == 1200)
    }

    @Test("sound that begins after the last key frame takes no packet twice")
    func lateSound() throws {
        let whole = try source("whole.mp4", in: folder, video: Self.x264)
        let path = folder.path + "/late.mp4"
        try ffmpeg([
            "-i", whole, "-itsoffset", "98", "-f", "lavfi", "-t", "2", "-i",
            "sine=r=48000", "-map", "0:v", "-map", "1:a", "-c:v", "copy", "-c:a", "aac", path,
        ])
        let (listed, _) = try look(path, payload: false)
        #expect(listed == (try look(path, payload: true).index))
        #expect(listed.audio.first.map { $0.timeBase.seconds($0.span.start) > Rational(97) } ?? false)
    }

    @Test("a truncated file ends with its bytes")
    func cutOff() throws {
        let path = try source("s.mp4", in: folder, video: Self.x264, muxing: ["-movflags", "+faststart"])
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        try file.truncate(atOffset: try file.seekToEnd() * 2 / 3)
        let (listed, share) = try look(path, payload: false)
        let (read, _) = try look(path, payload: true)
        #expect(share <= 0.02)
        #expect(listed == read)
        #expect((1500..<2500).contains(listed.video.frames.count))
    }

    @Test("a file whose tables do not tell enough is read from start to end, once", arguments: ["mp4", "mkv", "ts"])
    func sequential(ending: String) throws {
        let path = try source(
            "s." + ending, in: folder, loops: 3, video: Self.x264,
            muxing: ending == "mp4" ? ["-movflags", "+frag_keyframe+empty_moov"] : [])
        let (index, share) = try look(path, payload: false)
        #expect(index.video.frames.count >= 898)
        // The sound of a fragment lies behind its pictures: bytes read ahead for one are read again for the other.
        #expect((0.9...1.4).contains(share))
        #expect(index == (try look(path, payload: true).index))
    }

    @Test("parameter sets in the middle of a file can announce interlaced frames")
    func becomesInterlaced() throws {
        let parts = try [("first.ts", [], "null"), ("second.ts", ["-flags", "+ildct+ilme"], "setfield=tff")].map {
            try source($0.0, in: folder, loops: 5, filter: $0.2, video: Self.x264 + $0.1, audio: nil)
        }
        let path = folder.path + "/both.mp4"
        try run("sh", "-c", "cat \(parts[0]) \(parts[1]) | ffmpeg -v error -i - -c copy \(path)")
        let (listed, share) = try look(path, payload: false)
        #expect(share <= 0.02)
        #expect(listed == (try look(path, payload: true).index))
        #expect(listed.video.stream.fieldOrder == .topFirst && listed.video.stream.fieldsVary)
    }

    private static let corpus = ProcessInfo.processInfo.environment["REEL_CORPUS"]

    @Test("frames of two packets, each a field, are found by their first bytes", .enabled(if: corpus != nil))
    func fields() throws {
        let source = (Self.corpus ?? "") + "/sony_a7m3_avchd_paff_opengop.mts"
        let path = folder.path + "/s.mp4"
        try ffmpeg(["-i", source, "-map", "0:v", "-c", "copy", path])
        let (listed, _) = try look(path, payload: false)
        #expect(listed == (try look(path, payload: true).index))
        #expect(listed.video.frames.count < listed.video.packets.count)
    }
}
