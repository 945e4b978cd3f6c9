import ReelCore
import ReelMedia
import Testing

/// WebM keeps transparency beside the picture, and libavcodec's own decoders of VP8 and VP9 ignore it.
@Suite("Transparency")
struct TransparencyTests {
    /// Hashes of frames with their transparency, as a decoder shows them.
    private func frames(_ path: String, decoder: [String]) throws -> [Substring] {
        try run(
            "ffmpeg", ["-v", "error"] + decoder + ["-i", path, "-an", "-pix_fmt", "yuva420p", "-f", "framemd5", "-"]
        )
        .split(separator: "\n").filter { !$0.hasPrefix("#") }
        .map { $0.split(separator: " ").last ?? "" }
    }

    @Test("of VP8 and VP9 is kept without loss", arguments: ["libvpx", "libvpx-vp9"])
    func webm(codec: String) throws {
        let folder = try ScratchFolder()
        let source = folder.path + "/source.webm"
        // Each frame is a bit more transparent than the one before.
        try run(
            "ffmpeg", "-v", "error", "-f", "lavfi", "-i",
            "testsrc2=s=96x64:r=24000/1001:d=1,format=yuva420p,"
                + "fade=out:d=1:alpha=1", "-c:v", codec, "-auto-alt-ref", "0", "-g", "8", source)
        let job = try MediaJob(
            source, spec: JobSpec(container: .mkv, lossless: true, passFrames: 8), folder: folder.path)
        #expect(job.plan.video.encoder == "ffv1" && job.plan.video.format.pixelFormat == "yuva420p")
        let (shown, output) = (try frames(source, decoder: ["-c:v", codec]), try frames(job.output, decoder: []))
        #expect(shown.count == 24 && Set(shown).count == 24)
        #expect(output == shown.reversed())
        // Without its transparency the picture has another hash.
        #expect(try frames(source, decoder: []) != shown)
    }

    @Test(
        "and full colour make ProRes 4444, which is tagged as that",
        arguments: [("yuva444p10le", "ap4h"), ("yuv422p10le", "apch")])
    func proRes(format: (pixels: String, tag: String)) throws {
        let folder = try ScratchFolder()
        let source = folder.path + "/source.mkv"
        try run(
            "ffmpeg", "-v", "error", "-f", "lavfi", "-i",
            "testsrc2=s=96x64:r=24000/1001:d=0.5,format=\(format.pixels)", "-c:v", "ffv1", source)
        let job = try MediaJob(source, spec: JobSpec(container: .mov, videoCodec: "prores"), folder: folder.path)
        let tag = try run(
            "ffprobe", "-v", "error", "-show_entries", "stream=codec_tag_string", "-of", "csv=p=0", job.output)
        #expect(tag.split(separator: "\n").first.map(String.init) == format.tag)
    }
}
