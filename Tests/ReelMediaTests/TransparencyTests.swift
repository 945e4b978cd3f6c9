import Foundation
import ReelCore
import ReelMedia
import ReelWords
import Testing

/// WebM keeps transparency beside the picture, and libavcodec's own decoders of VP8 and VP9 ignore it.
@Suite("Transparency")
struct TransparencyTests {
    private let folder = ScratchFolder()

    /// Hashes of frames with their transparency, as a decoder shows them.
    private func frames(_ path: String, decoder: [String]) throws -> [Substring] {
        try run(
            "ffmpeg", ["-v", "error"] + decoder + ["-i", path, "-an", "-pix_fmt", "yuva420p", "-f", "framemd5", "-"]
        ).split(separator: "\n").filter { !$0.hasPrefix("#") }.map { $0.split(separator: " ").last ?? "" }
    }

    /// A WebM of 30 frames: a disc moves and fades on a ground that becomes more opaque. The colours change as at a cut
    /// every fourth frame.
    private func disc(in folder: ScratchFolder, codec: String) throws -> String {
        let source = folder.path + "/disc.webm"
        try ffmpeg(
            "-f", "lavfi", "-i",
            "testsrc2=s=96x64:r=30000/1001,trim=end_frame=30,format=yuva420p,"
                + "geq=lum=if(gte(mod(N\\,8)\\,4)\\,255-lum(X\\,Y)\\,lum(X\\,Y)):cb=cb(X\\,Y):cr=cr(X\\,Y):"
                + "a=if(lt(hypot(X-24-2*N\\,Y-32)\\,20)\\,255-2*N\\,30+4*N)",
            "-c:v", codec, "-auto-alt-ref", "0", "-g", "8", "-keyint_min", "8", source)
        return source
    }

    /// The opacity of every pixel, frame by frame, as libvpx decodes it.
    private func opacity(of path: String, codec: String, in folder: ScratchFolder) throws -> [ArraySlice<UInt8>] {
        let plane = folder.path + "/opacity"
        try ffmpeg(
            "-y", "-c:v", codec, "-i", path, "-map", "0:v", "-vf", "extractplanes=a",
            "-fps_mode", "passthrough", "-f", "rawvideo", plane)
        let bytes = [UInt8](try contents(of: plane))
        let size = 96 * 64
        return stride(from: 0, to: bytes.count, by: size).map { bytes[$0..<min($0 + size, bytes.count)] }
    }

    /// The mean difference of two frames' opacity, of 255 steps.
    private func distance(_ one: ArraySlice<UInt8>, _ other: ArraySlice<UInt8>) -> Double {
        let sum = zip(one, other).reduce(0) { $0 + Int($1.0.distance(to: $1.1).magnitude) }
        return Double(sum) / Double(max(one.count, 1))
    }

    /// Frames that follow each other differ by 4.6 in the source, and an encoder moves one by less than 1.
    private static let tolerance = 2.0

    /// A source's codec, the encoder that is asked for, and the output's container and encoder.
    static let kept: [(source: String, asked: String?, container: Container, encoder: String)] = [
        ("libvpx-vp9", nil, .webm, "libvpx-vp9"), ("libvpx-vp9", nil, .mkv, "libvpx-vp9"),
        ("libvpx", nil, .webm, "libvpx-vp9"), ("libvpx-vp9", "libvpx", .webm, "libvpx"),
        ("libvpx", "libvpx", .mkv, "libvpx"),
    ]

    @Test("is kept in WebM and Matroska: each frame has its own, and seeking finds it", arguments: kept.indices)
    func reversed(number: Int) throws {
        let (codec, asked, container, encoder) = Self.kept[number]
        let source = try disc(in: folder, codec: codec)
        let spec = JobSpec(container: container, videoCodec: asked, preset: "5", passFrames: 8)
        let job = try MediaJob(source, spec: spec, folder: folder.path)
        #expect(job.plan.video.encoder == encoder && job.plan.video.format.pixelFormat == "yuva420p")
        #expect(!job.warnings.contains { $0.contains("transparency") }, "\(job.warnings)")
        let segments = job.records.count
        #expect(segments > 2)
        let mode = try probe(job.output, "stream_tags=alpha_mode")
        #expect(mode.split(separator: "\n") == ["1"])

        let shown = try opacity(of: source, codec: codec, in: folder)
        #expect(shown.count == 30)
        #expect(zip(shown, shown.dropFirst()).allSatisfy { distance($0, $1) > 2 * Self.tolerance })
        let output = try opacity(of: job.output, codec: encoder, in: folder)
        #expect(output.count == 30)
        for (frame, pair) in zip(output, shown.reversed()).enumerated() {
            #expect(distance(pair.0, pair.1) < Self.tolerance, "frame \(frame)")
        }

        // A key frame of the colours alone would be one at which decoding cannot begin.
        let flags = try probe(job.output, "packet=flags")
        #expect(flags.split(separator: "\n").count { $0.contains("K") } == segments)
        let whole = try frames(job.output, decoder: ["-c:v", encoder])
        let tail = try frames(job.output, decoder: ["-c:v", encoder, "-ss", "0.69"])
        #expect(tail.count == 9 && tail == whole.suffix(9))
    }

    @Test("is in segments that are the same bytes each time, also if an edit shows them again and again")
    func edited() throws {
        let (folder, again) = (ScratchFolder(), ScratchFolder())
        let source = try disc(in: folder, codec: "libvpx-vp9")
        let edit = Edit(clips: [EditClip(play: .pingPong, times: 2), .gap(Rational(1, 4))])
        let spec = JobSpec(container: .webm, preset: "5", edit: edit, passFrames: 8)
        let job = try MediaJob(source, spec: spec, folder: folder.path)
        let second = try MediaJob(source, spec: spec, folder: again.path)
        #expect(second.records.map(\.checksum) == job.records.map(\.checksum))
        #expect(second.assembled.checksum == job.assembled.checksum)

        let shown = try opacity(of: source, codec: "libvpx-vp9", in: folder)
        let loop = shown + shown[1..<29].reversed()
        // The picture of the gap is black and hides all.
        let expected = loop + loop + [ArraySlice(repeating: 255, count: 96 * 64)]
        let output = try opacity(of: job.output, codec: "libvpx-vp9", in: folder)
        #expect(output.count == expected.count)
        for (frame, pair) in zip(output, expected).enumerated() {
            #expect(distance(pair.0, pair.1) < Self.tolerance, "frame \(frame)")
        }
    }

    @Test("is compared when a file is verified")
    func verified() throws {
        let source = try disc(in: folder, codec: "libvpx-vp9")
        let job = try MediaJob(source, spec: JobSpec(container: .webm, preset: "5", passFrames: 8), folder: folder.path)
        var plan = job.plan
        plan.verify = .packets
        let assembler = job.assembler(of: source, plan: plan)
        #expect(try assembler.verify(.file(job.output)) { _ in } == 30)

        // The first packet of a segment's second stream, which has the transparency.
        let first = try #require(job.records.first)
        let packet = folder.path + "/packet"
        try ffmpeg(
            "-i", "\(folder.path)/\(first.name)", "-map", "0:1", "-c", "copy", "-frames:v", "1", "-f", "data", packet)
        var bytes = try contents(of: job.output)
        let place = try #require(bytes.range(of: try contents(of: packet)))
        bytes[place.upperBound - 1] ^= 1
        let changed = folder.path + "/changed.webm"
        try store(bytes, to: changed)
        let failure = #expect(throws: ReelFailure.self) { try assembler.verify(.file(changed)) { _ in } }
        #expect(failure?.reason == .verificationFailed(stream: 0, flaw: .payload))
    }

    @Test("is left out of MP4, which does not store it, with a warning that names the file, not the encoder alone")
    func mp4() throws {
        let source = try disc(in: folder, codec: "libvpx-vp9")
        let job = try MediaJob(
            source, spec: JobSpec(container: .mp4, videoCodec: "libvpx-vp9", preset: "5"), folder: folder.path)
        #expect(
            job.warnings.contains(
                "libvpx-vp9 cannot hold yuva420p in a .mp4 file: pictures become yuv420p, with no transparency"),
            "\(job.warnings)")
        #expect(job.plan.video.format.pixelFormat == "yuv420p")
        #expect(try Decoded(job.output).hashes.count == 30)
    }

    @Test("of VP8 and VP9 is kept without loss", arguments: ["libvpx", "libvpx-vp9"])
    func webm(codec: String) throws {
        let source = folder.path + "/source.webm"
        // Each frame is a bit more transparent than the one before.
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=s=96x64:r=24000/1001:d=1,format=yuva420p," + "fade=out:d=1:alpha=1", "-c:v",
            codec, "-auto-alt-ref", "0", "-g", "8", source)
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
        let source = folder.path + "/source.mkv"
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=s=96x64:r=24000/1001:d=0.5,format=\(format.pixels)", "-c:v", "ffv1", source)
        let job = try MediaJob(source, spec: JobSpec(container: .mov, videoCodec: "prores"), folder: folder.path)
        let tag = try probe(job.output, "stream=codec_tag_string")
        #expect(tag.split(separator: "\n").first.map(String.init) == format.tag)
    }
}
