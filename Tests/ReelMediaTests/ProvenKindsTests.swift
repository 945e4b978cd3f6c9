import Foundation
import ReelCore
import ReelMedia
import Testing

/// Each kind of source that is planned without being decoded: tables and headers must give the same frames as decoding
/// all of it.
@Suite("Proven kinds")
struct ProvenKindsTests {
    /// How such sources are made. Pictures are shown in another order than they are decoded wherever the encoder can.
    private static let encoders: [String: [String]] = [
        "h264": Fixture.x264 + ["-bf", "3", "-g", "12"],
        "hevc": ["-c:v", "libx265", "-preset", "ultrafast", "-x265-params", "log-level=none:bframes=3:keyint=12"],
        "av1": ["-c:v", "libaom-av1", "-cpu-used", "8", "-lag-in-frames", "16", "-g", "12", "-strict", "-2"],
        "vp8": ["-c:v", "libvpx", "-auto-alt-ref", "1", "-lag-in-frames", "16", "-deadline", "good", "-g", "12"],
        "vp9": ["-c:v", "libvpx-vp9", "-auto-alt-ref", "1", "-lag-in-frames", "16", "-cpu-used", "8", "-g", "12"],
        "mpeg4": ["-c:v", "mpeg4", "-bf", "2", "-g", "12"],
        "mpeg2video": ["-c:v", "mpeg2video", "-bf", "2", "-g", "12", "-b:v", "2M"],
        "mjpeg": ["-c:v", "mjpeg", "-pix_fmt", "yuvj420p"], "prores": ["-c:v", "prores_ks"],
        "dnxhd": ["-c:v", "dnxhd", "-profile:v", "dnxhr_sq", "-pix_fmt", "yuv422p"],
        "ffv1": ["-c:v", "ffv1", "-g", "12"], "rawvideo": ["-c:v", "rawvideo", "-pix_fmt", "yuyv422"],
        "v210": ["-c:v", "v210"], "huffyuv": ["-c:v", "huffyuv"], "ffvhuff": ["-c:v", "ffvhuff"],
        "utvideo": ["-c:v", "utvideo"], "png": ["-c:v", "png"], "qtrle": ["-c:v", "qtrle"],
        "dvvideo": ["-c:v", "dvvideo", "-pix_fmt", "yuv420p"],
    ]

    /// Options by container, for containers that need another encoder or pixel format.
    private static let others: [ProvenKind: [String]] = [
        ProvenKind(format: "yuv4mpegpipe", codec: "rawvideo"): ["-pix_fmt", "yuv420p"]
    ]

    /// File names for which libavformat writes such containers.
    private static let endings = [
        "mov,mp4,m4a,3gp,3g2,mj2": "mov", "matroska,webm": "mkv", "mpegts": "ts", "mpeg": "mpg", "mxf": "mxf",
        "avi": "avi", "flv": "flv", "h264": "h264", "hevc": "hevc", "ivf": "ivf", "yuv4mpegpipe": "y4m", "nut": "nut",
    ]

    @Test("give the same frames by tables and headers as by decoding", arguments: ProvenKinds.all)
    func proven(kind: ProvenKind) throws {
        let folder = ScratchFolder()
        let video = try #require(Self.others[kind] ?? Self.encoders[kind.codec])
        // QuickTime's own form knows neither.
        let needsMP4 = kind.format.hasPrefix("mov") && ["vp9", "av1"].contains(kind.codec)
        let ending = needsMP4 ? "mp4" : try #require(Self.endings[kind.format])
        // These containers hold no other codec.
        let isDV = kind.codec == "dvvideo"
        // Their encoders are slow.
        let isSlow = ["av1", "vp8", "vp9"].contains(kind.codec)
        let size = isDV ? "720x576" : isSlow ? "160x128" : "320x256"
        let rate = isDV || ending == "mxf" ? "25" : "24000/1001"
        let source = try Fixture.make("source.\(ending)", in: folder, frames: 40, rate: rate, size: size, video: video)
        let (told, shown) = (try Recon(.file(source)).run(), try Recon(.file(source), decoding: .disproved).run())
        #expect(told.format == kind.format)
        #expect(told.video.stream.codec == kind.codec)
        #expect(told.video.pictures.isEmpty)
        #expect(told.video.frames.count == 40)
        #expect(told.video.frames.map(\.interval) == shown.video.frames.map(\.interval))
        // Several passes, each of which compares what it decodes.
        let job = try MediaJob(
            source, spec: JobSpec(container: .mkv, lossless: true, passFrames: 12), folder: folder.path)
        #expect(job.index.video.pictures.isEmpty)
        // The range in a format's name is a tag beside it, too; the fourth byte of a pixel means nothing.
        let (own, held) = (
            told.video.stream.pixelFormat.replacing("yuvj", with: "yuv"), job.plan.video.format.pixelFormat
        )
        let format = held == own ? nil : held == "bgr0" ? "rgb24" : held
        #expect(
            try Decoded(job.output, pixelFormat: format).hashes
                == Decoded(source, pixelFormat: format).hashes.reversed())
    }

    @Test("docs/reports/corpus.md lists them")
    func listed() throws {
        let page = URL(fileURLWithPath: #filePath).appendingPathComponent("../../../docs/reports/corpus.md")
            .standardized
        let text = try String(contentsOf: page, encoding: .utf8)
        let rows = Dictionary(grouping: ProvenKinds.all, by: \.format)
            .map { "| \($0.key) | \($0.value.map(\.codec).sorted().joined(separator: ", ")) |" }
        for row in rows { #expect(text.contains(row + "\n"), "\(row)") }
    }
}
