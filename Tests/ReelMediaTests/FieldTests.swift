import Foundation
import ReelCore
import ReelMedia
import ReelRandom
import Testing

/// Interlaced video: no line moves, and the flag says that the other field comes first.
@Suite("Fields and telecine")
struct FieldTests {
    private let folder = ScratchFolder()

    /// 60 interlaced frames of 120 fields that all differ, woven of twice as many pictures.
    private func interlaced(
        _ name: String, in folder: ScratchFolder, topFirst: Bool, video: [String], frames: Int = 60
    ) throws -> String {
        let mode = topFirst ? "interleave_top" : "interleave_bottom"
        let order = topFirst ? "tff" : "bff"
        return try Fixture.make(
            name, in: folder, frames: frames * 2, rate: "60000/1001", size: "192x128",
            filter: "tinterlace=\(mode),setfield=\(order)",
            video: video + ["-flags", "+ildct+ilme", "-field_order", topFirst ? "tt" : "bb"])
    }

    /// A hash of every field in the order of time, as a player takes them apart.
    private func fields(_ path: String) throws -> [String] {
        try Decoded(path, filter: "separatefields,setfield=prog").hashes
    }

    /// field_order of the stream, and (interlaced, top first) of every frame.
    private func flags(_ path: String) throws -> (stream: String, frames: [String]) {
        let show = { (entries: String) in
            try run(
                "ffprobe", "-v", "error", "-select_streams", "v:0", "-show_entries", entries, "-of", "csv=p=0:nk=1",
                path)
        }
        let frames = try show("frame=interlaced_frame,top_field_first").split(separator: "\n")
        return (
            // Of transport streams ffprobe lists the programme's streams, too.
            first(try show("stream=field_order")),
            frames.map { $0.split(separator: ",").prefix(2).joined(separator: ",") }
        )
    }

    /// The first line that ffprobe printed, without the comma that it adds for side data.
    private func first(_ text: String) -> String {
        let line = text.split(separator: "\n").first ?? ""
        return String(line.hasSuffix(",") ? line.dropLast() : line)
    }

    private static let x264 = Fixture.x264 + ["-g", "15", "-bf", "2"]
    private static let mpeg2 = ["-c:v", "mpeg2video", "-q:v", "2", "-g", "12", "-bf", "2", "-r", "30000/1001"]

    @Test(
        "120 of 120 fields in reversed order, bit for bit",
        arguments: [
            ("a.mp4", true, Container.mkv), ("a.ts", false, .mkv), ("a.mpg", true, .mkv), ("a.mov", false, .mov),
            ("a.mpg", false, .nut),
        ])
    func lossless(name: String, topFirst: Bool, container: Container) throws {
        let video = name.hasSuffix("mpg") ? Self.mpeg2 : Self.x264
        let source = try interlaced(name, in: folder, topFirst: topFirst, video: video)
        let spec = JobSpec(container: container, lossless: true, passFrames: 20)
        let job = try MediaJob(source, spec: spec, folder: folder.path)
        let (before, after) = (try fields(source), try fields(job.output))
        #expect(before.count == 120 && Set(before).count == 120)
        #expect(after == before.reversed())
        let found = try flags(job.output)
        #expect(found.frames == Array(repeating: topFirst ? "1,0" : "1,1", count: 60))
        if container != .nut { #expect(found.stream == (topFirst ? "bb" : "tt")) }
    }

    @Test(
        "the encoder and the container name the other field",
        arguments: [
            ("libx264", Container.mp4, "ultrafast"), ("libx264", .mkv, "ultrafast"), ("libx264", .ts, "ultrafast"),
            ("mpeg2video", .mp4, nil), ("mpeg2video", .ts, nil), ("mpeg2video", .mkv, nil), ("prores_ks", .mov, nil),
            ("mjpeg", .mov, nil), ("libx265", .mkv, "ultrafast"), ("libx265", .mp4, "ultrafast"),
        ] as [(String, Container, String?)], [true, false])
    func lossy(target: (encoder: String, container: Container, preset: String?), topFirst: Bool) throws {
        let source = try interlaced("s.ts", in: folder, topFirst: topFirst, video: Self.x264, frames: 24)
        let spec = JobSpec(
            container: target.container, videoCodec: target.encoder, preset: target.preset, passFrames: 8)
        let job = try MediaJob(source, spec: spec, folder: folder.path)
        let found = try flags(job.output)
        let saysSo = ["libx264", "mpeg2video", "prores_ks"].contains(target.encoder)
        #expect(found.stream == (topFirst ? "bb" : "tt"))
        #expect(found.frames.count == 24)
        if saysSo { #expect(Set(found.frames) == [topFirst ? "1,0" : "1,1"]) }
        let line =
            "the video is interlaced, \(topFirst ? "bottom" : "top") field first: only the container says so, since "
            + "\(target.encoder) cannot"
        #expect(job.warnings == (saysSo ? [] : [line]))
    }

    @Test("frames that vary keep their own flags, and the container states no order")
    func mixed() throws {
        let first = try interlaced("first.ts", in: folder, topFirst: true, video: Self.mpeg2, frames: 24)
        let second = try Fixture.make(
            "second.ts", in: folder, frames: 24, rate: "30000/1001", size: "192x128",
            video: Self.mpeg2 + ["-output_ts_offset", "0.8008"])
        let source = folder.path + "/both.ts"
        try run("sh", "-c", "cat \(first) \(second) > \(source)")
        let lossless = try MediaJob(
            source, spec: JobSpec(container: .mkv, lossless: true, passFrames: 10), folder: folder.path)
        #expect(lossless.index.video.stream.fieldsVary)
        #expect(lossless.index.video.stream.fieldOrder == .topFirst)
        let (before, after) = (try flags(source), try flags(lossless.output))
        #expect(before.frames == Array(repeating: "1,1", count: 24) + Array(repeating: "0,0", count: 24))
        #expect(after.frames.map { $0.first == "1" } == before.frames.reversed().map { $0.first == "1" })
        #expect(Set(after.frames.filter { $0.first == "1" }) == ["1,0"])
        #expect(!["tt", "bb", "tb", "bt"].contains(after.stream))

        let other = ScratchFolder()
        let lossy = try MediaJob(source, spec: JobSpec(container: .mp4, videoCodec: "h264"), folder: other.path)
        #expect(
            lossy.warnings.contains(
                "interlaced and progressive frames take turns: libx264 flags all as bottom field first"))
        #expect(Set(try flags(lossy.output).frames) == ["1,0"])
    }

    @Test("MPEG-2 stays MPEG-2, with its rate, profile and aspect", arguments: [Container.ts, .mp4, .mkv])
    func mpeg2(container: Container) throws {
        let woven = try interlaced("woven.ts", in: folder, topFirst: true, video: Self.x264, frames: 40)
        let source = folder.path + "/s.ts"
        try ffmpeg(
            ["-i", woven, "-pix_fmt", "yuv422p", "-aspect", "16:9"] + Self.mpeg2
                + ["-flags", "+ildct+ilme", "-top", "1", source])
        let job = try MediaJob(source, spec: JobSpec(container: container, passFrames: 16), folder: folder.path)
        #expect(job.plan.video.encoder == "mpeg2video")
        let facts = try run(
            "ffprobe", "-v", "error", "-select_streams", "v:0", "-count_frames", "-show_entries",
            "stream=codec_name,profile,pix_fmt,avg_frame_rate,display_aspect_ratio,nb_read_frames", "-of", "csv=p=0",
            job.output)
        #expect(first(facts) == "mpeg2video,4:2:2,16:9,yuv422p,30000/1001,40", "\(facts)")
        let frames = try probe(job.output, "frame=repeat_pict", streams: "v:0")
        #expect(Set(frames.split(separator: "\n").map { $0.prefix(1) }) == ["0"])
    }

    @Test("3:2 pulldown becomes the mirrored durations, without repeats", arguments: [true, false])
    func telecine(lossless: Bool) throws {
        let plain = try Fixture.make(
            "plain.m2v", in: folder, frames: 32, rate: "30000/1001", size: "192x128",
            video: ["-c:v", "mpeg2video", "-q:v", "2", "-g", "8"])
        var bytes = [UInt8](try contents(of: plain))
        #expect(Pulldown.apply(to: &bytes) == 32)
        try store(Data(bytes), to: plain)
        let source = folder.path + "/film.mkv"
        try ffmpeg("-fflags", "+genpts", "-framerate", "30000/1001", "-i", plain, "-c", "copy", source)
        let before = try Decoded(source)
        #expect(before.hashes.count == 32)
        #expect(Set(before.gaps).count >= 2)
        let spec = JobSpec(container: .mkv, videoCodec: lossless ? nil : "h264", lossless: lossless, passFrames: 10)
        let job = try MediaJob(source, spec: spec, folder: folder.path)
        let after = try Decoded(job.output)
        #expect(after.times.count == 32)
        #expect(Array(after.gaps.dropFirst()) == before.gaps.reversed().dropLast())
        if lossless { #expect(after.hashes == before.hashes.reversed()) }
        let repeats = try probe(job.output, "frame=repeat_pict", streams: "v:0")
        #expect(Set(repeats.split(separator: "\n").map { $0.prefix(1) }) == ["0"])
    }
}

/// Sets the flags of soft telecine in an MPEG-2 elementary stream without B-frames (ISO 13818-2 6.3.10).
private enum Pulldown {
    /// Returns how many pictures it changed.
    static func apply(to bytes: inout [UInt8]) -> Int {
        // Top first or not, and whether its first field repeats: film's four frames in ten fields.
        let pattern: [(top: Bool, repeats: Bool)] = [(true, true), (false, false), (false, true), (true, false)]
        var pictures = 0
        for place in bytes.indices.dropLast(9) where bytes[place..<place + 4].elementsEqual([0, 0, 1, 0xB5]) {
            switch bytes[place + 4] >> 4 {
            case 1: bytes[place + 5] &= ~0x08  // The sequence is not progressive: it has fields.
            case 8:
                let flags = pattern[pictures % 4]
                bytes[place + 7] = bytes[place + 7] & ~0x82 | (flags.top ? 0x80 : 0) | (flags.repeats ? 0x02 : 0)
                bytes[place + 8] |= 0x80  // Both fields of the frame are of one moment.
                pictures += 1
            default: break
            }
        }
        return pictures
    }
}

/// MPEG-2 whose frames are two field pictures each, which FFmpeg does not encode: blocks of random brightness and
/// colour.
enum FieldPictures {
    private static let (width, height) = (352, 288)

    /// Writes the frames, each a group of its own, into a transport stream at 25 frames per second.
    static func make(_ name: String, in folder: ScratchFolder, frames: Int) throws -> String {
        var random = SplitMix64(seed: 5)
        var bytes: [UInt8] = []
        for frame in 0..<frames {
            bytes += header(frame)
            for structure in [1, 2] { bytes += field(structure, &random) }
        }
        let (stream, path) = (folder.path + "/fields.m2v", folder.path + "/" + name)
        try store(Data(bytes), to: stream)
        try run(
            "ffmpeg", "-v", "quiet", "-nostdin", "-y", "-f", "mpegvideo", "-framerate", "25", "-i", stream, "-c",
            "copy", "-bsf:v", "setts=pts=N*3600:dts=N*3600", "-f", "mpegts", path)
        return path
    }

    /// ISO 13818-2 6.2.2.1, 6.2.2.3 and 6.2.2.6: the headers of a sequence and of a group of pictures.
    private static func header(_ frame: Int) -> [UInt8] {
        var sequence = Bits()
        sequence.add([(width, 12), (height, 12), (1, 4), (3, 4), (5000, 18), (1, 1), (112, 10), (0, 3)])
        var fields = Bits()
        fields.add([(1, 4), (0x48, 8), (0, 1), (1, 2), (0, 16), (1, 1), (0, 16)])
        var group = Bits()
        group.add([(1 << 12 | frame, 25), (1, 1), (0, 6)])
        return [0, 0, 1, 0xb3] + sequence.bytes + [0, 0, 1, 0xb5] + fields.bytes + [0, 0, 1, 0xb8] + group.bytes
    }

    /// 6.2.3 to 6.2.6: an intra field of this picture_structure. Each block has its mean alone.
    private static func field(_ structure: Int, _ random: inout SplitMix64) -> [UInt8] {
        var picture = Bits()
        picture.add([(0, 10), (1, 3), (0xffff, 16), (0, 3)])
        var coding = Bits()
        coding.add([(8, 4), (0xffff, 16), (0, 2), (structure, 2), (0, 16)])
        var bytes: [UInt8] = [0, 0, 1, 0] + picture.bytes + [0, 0, 1, 0xb5] + coding.bytes
        for row in 1...UInt8(height / 32) {
            var slice = Bits()
            slice.add([(2, 5), (0, 1)])
            var means = [128, 128, 128]
            for _ in 0..<width / 16 {
                slice.add([(0b11, 2)])
                for component in [0, 0, 0, 0, 1, 2] {
                    let mean = Int.random(in: 40..<210, using: &random)
                    slice.add(difference: mean - means[component], isColour: component > 0)
                    slice.add([(0b10, 2)])
                    means[component] = mean
                }
            }
            bytes += [0, 0, 1, row] + slice.bytes
        }
        return bytes
    }

    private struct Bits {
        private(set) var bytes: [UInt8] = []
        private var free = 0

        mutating func add(_ fields: [(value: Int, length: Int)]) {
            for field in fields {
                for place in (0..<field.length).reversed() {
                    if free == 0 { (bytes, free) = (bytes + [0], 8) }
                    free -= 1
                    bytes[bytes.count - 1] |= UInt8(field.value >> place & 1) << UInt8(free)
                }
            }
        }

        /// Tables B.12 and B.13: the size of the difference of a mean to the one before, and the difference.
        mutating func add(difference: Int, isColour: Bool) {
            let codes =
                isColour
                ? [(0, 2), (1, 2), (2, 2), (6, 3), (14, 4), (30, 5), (62, 6), (126, 7), (254, 8)]
                : [(4, 3), (0, 2), (1, 2), (5, 3), (6, 3), (14, 4), (30, 5), (62, 6), (126, 7)]
            let size = Int.bitWidth - abs(difference).leadingZeroBitCount
            add([codes[size], (difference > 0 ? difference : difference + 1 << size - 1, size)])
        }
    }
}
