import Foundation
import ReelCore
import ReelMedia
import Testing

/// Interlaced video: no line moves, and the flag says that the other field comes first.
@Suite("Fields and telecine")
struct FieldTests {
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
        let text = try run(
            "ffmpeg", "-v", "error", "-nostdin", "-i", path, "-map", "0:v:0", "-vf", "separatefields,setfield=prog",
            "-fps_mode", "passthrough", "-c:v", "rawvideo", "-f", "framehash", "-hash", "murmur3", "-")
        return text.split(separator: "\n").filter { !$0.hasPrefix("#") }.compactMap {
            $0.split(separator: ",").last.map { $0.trimmingCharacters(in: .whitespaces) }
        }
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
        let folder = try ScratchFolder()
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
        let folder = try ScratchFolder()
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
        let folder = try ScratchFolder()
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

        let other = try ScratchFolder()
        let lossy = try MediaJob(source, spec: JobSpec(container: .mp4, videoCodec: "h264"), folder: other.path)
        #expect(
            lossy.warnings.contains(
                "interlaced and progressive frames take turns: libx264 flags all as bottom field first"))
        #expect(Set(try flags(lossy.output).frames) == ["1,0"])
    }

    @Test("MPEG-2 stays MPEG-2, with its rate, profile and aspect", arguments: [Container.ts, .mp4, .mkv])
    func mpeg2(container: Container) throws {
        let folder = try ScratchFolder()
        let woven = try interlaced("woven.ts", in: folder, topFirst: true, video: Self.x264, frames: 40)
        let source = folder.path + "/s.ts"
        try run(
            "ffmpeg",
            ["-v", "error", "-i", woven, "-pix_fmt", "yuv422p", "-aspect", "16:9"] + Self.mpeg2
                + ["-flags", "+ildct+ilme", "-top", "1", source])
        let job = try MediaJob(source, spec: JobSpec(container: container, passFrames: 16), folder: folder.path)
        #expect(job.plan.video.encoder == "mpeg2video")
        let facts = try run(
            "ffprobe", "-v", "error", "-select_streams", "v:0", "-count_frames", "-show_entries",
            "stream=codec_name,profile,pix_fmt,avg_frame_rate,display_aspect_ratio,nb_read_frames", "-of", "csv=p=0",
            job.output)
        #expect(
            first(facts) == "mpeg2video,4:2:2,16:9,yuv422p,30000/1001,40", "\(facts)")
        let frames = try run(
            "ffprobe", "-v", "error", "-select_streams", "v:0", "-show_entries", "frame=repeat_pict", "-of", "csv=p=0",
            job.output)
        #expect(Set(frames.split(separator: "\n").map { $0.prefix(1) }) == ["0"])
    }

    @Test("3:2 pulldown becomes the mirrored durations, without repeats", arguments: [true, false])
    func telecine(lossless: Bool) throws {
        let folder = try ScratchFolder()
        let plain = try Fixture.make(
            "plain.m2v", in: folder, frames: 32, rate: "30000/1001", size: "192x128",
            video: ["-c:v", "mpeg2video", "-q:v", "2", "-g", "8"])
        var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: plain)))
        #expect(Pulldown.apply(to: &bytes) == 32)
        try Data(bytes).write(to: URL(fileURLWithPath: plain))
        let source = folder.path + "/film.mkv"
        try run(
            "ffmpeg", "-v", "error", "-fflags", "+genpts", "-framerate", "30000/1001", "-i", plain, "-c", "copy", source
        )
        let before = try Decoded(source)
        #expect(before.hashes.count == 32)
        #expect(Set(before.gaps).count >= 2)
        let spec = JobSpec(container: .mkv, videoCodec: lossless ? nil : "h264", lossless: lossless, passFrames: 10)
        let job = try MediaJob(source, spec: spec, folder: folder.path)
        let after = try Decoded(job.output)
        #expect(after.times.count == 32)
        #expect(Array(after.gaps.dropFirst()) == before.gaps.reversed().dropLast())
        if lossless { #expect(after.hashes == before.hashes.reversed()) }
        let repeats = try run(
            "ffprobe", "-v", "error", "-select_streams", "v:0", "-show_entries", "frame=repeat_pict", "-of", "csv=p=0",
            job.output)
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
