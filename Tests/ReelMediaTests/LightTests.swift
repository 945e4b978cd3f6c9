import Foundation
import ReelCore
import ReelMedia
import Testing

/// Light and colour metadata for players, as ffprobe reads them from the stream and its first frame.
@Suite("Light and colour")
struct LightTests {
    private let folder = ScratchFolder()

    private static let master =
        "master-display=G(13250,34500)B(7500,3000)R(34000,16000)WP(15635,16450)L(10000000,50):max-cll=1000,400:hdr10=1"
    private static let bt2020 = ["-color_primaries", "bt2020", "-colorspace", "bt2020nc", "-color_range", "tv"]

    private static func hevc(_ parameters: String, transfer: String) -> [String] {
        [
            "-pix_fmt", "yuv420p10le", "-c:v", "libx265", "-preset", "ultrafast", "-x265-params",
            "log-level=error:" + parameters, "-color_trc", transfer,
        ] + bt2020
    }

    /// Side data and colour of a file: "red_x=0.68" and so on, of the stream or of its first frame.
    private func facts(_ path: String, _ part: String) throws -> Set<String> {
        let text = try run(
            "ffprobe", "-v", "error", "-select_streams", "v:0", "-show_" + part, "-read_intervals", "%+#1", "-of",
            "default=nw=1", path)
        let wanted = [
            "red_", "green_", "blue_", "white_", "min_l", "max_l", "max_c", "max_a", "color_", "side_data_type",
            "chroma_l",
        ]
        return Set(
            text.split(separator: "\n").map(String.init).filter { line in wanted.contains { line.hasPrefix($0) } }
                .map(normalised))
    }

    /// "red_x=34000/50000" as its exact value.
    private func normalised(_ line: String) -> String {
        let parts = line.split(separator: "=", maxSplits: 1).map(String.init)
        guard parts.count == 2, let value = Rational(parts[1]), parts[1].contains("/") else { return line }
        return parts[0] + "=" + value.description
    }

    /// Metadata that an output must have exactly.
    private static let light: Set<String> = [
        "side_data_type=Mastering display metadata", "side_data_type=Content light level metadata", "red_x=17/25",
        "red_y=8/25", "green_x=53/200", "green_y=69/100", "blue_x=3/20", "blue_y=3/50", "white_point_x=3127/10000",
        "white_point_y=329/1000", "min_luminance=1/200", "max_luminance=1000/1", "max_content=1000", "max_average=400",
    ]
    private static let pq: Set<String> = [
        "color_primaries=bt2020", "color_transfer=smpte2084", "color_space=bt2020nc", "color_range=tv",
    ]

    @Test(
        "HDR10 stands in the container and, where the codec can say it, in the frames",
        arguments: [
            ("libx265", Container.mp4, "ultrafast", true), ("libx265", .mkv, "ultrafast", true),
            ("libx265", .mov, "ultrafast", true), ("libx265", .ts, "ultrafast", true),
            ("libsvtav1", .mp4, "12", false), ("libsvtav1", .mkv, "12", false), ("libvpx-vp9", .webm, "8", false),
            ("libvpx-vp9", .mp4, "8", false), ("ffv1", .mkv, nil, false), ("libx264", .mov, "ultrafast", false),
        ] as [(String, Container, String?, Bool)])
    func hdr10(encoder: String, container: Container, preset: String?, inFrames: Bool) throws {
        let source = try Fixture.make(
            "s.mp4", in: folder, frames: 12, video: Self.hevc(Self.master, transfer: "smpte2084"))
        let spec = JobSpec(
            container: container, videoCodec: encoder, preset: preset,
            // Otherwise it would have standard range.
            pixelFormat: encoder == "libx264" ? "yuv420p10le" : nil, passFrames: 6)
        let job = try MediaJob(source, spec: spec, folder: folder.path)
        #expect(job.warnings.isEmpty)
        let (stream, frame) = (try facts(job.output, "streams"), try facts(job.output, "frames"))
        #expect(stream.isSuperset(of: Self.pq), "\(stream)")
        // libavformat writes mastering displays of Matroska as binary fractions, exact to 2⁻²³.
        if container == .mp4 || container == .mov { #expect(stream.isSuperset(of: Self.light), "\(stream)") }
        if container != .ts { #expect(stream.contains("side_data_type=Mastering display metadata")) }
        if inFrames { #expect(frame.isSuperset(of: Self.light), "\(frame)") }
        if encoder == "libsvtav1" { #expect(frame.contains("side_data_type=Mastering display metadata")) }
    }

    @Test(
        "H.264 that is named has the standard range, as ffmpeg's filters map it, unless 10 bits are asked for",
        arguments: [("smpte2084", Container.mp4), ("arib-std-b67", .mkv)])
    func standardRange(light: String, container: Container) throws {
        let source = try Fixture.make(
            "s.mp4", in: folder, frames: 12,
            video: Self.hevc(light == "smpte2084" ? Self.master : "bframes=2", transfer: light))
        var spec = JobSpec(container: container, videoCodec: "h264", crf: 0, preset: "ultrafast", passFrames: 6)
        let job = try MediaJob(source, spec: spec, folder: folder.path)
        #expect(job.diagnostics.contains(.highDynamicRangeMapped))
        let chain =
            "scale=flags=bicubic+accurate_rnd+full_chroma_inp+full_chroma_int,format=yuv444p16le,"
            + "zscale=filter=bicubic:transfer=linear:npl=100,format=gbrpf32le,zscale=primaries=709,"
            + "tonemap=tonemap=hable:desat=0:peak=10,zscale=transfer=709:matrix=709:range=limited,format=yuv444p16le,"
            + "scale=flags=bicubic+accurate_rnd+full_chroma_inp+full_chroma_int,format=yuv420p"
        #expect(try Decoded(job.output).hashes == Decoded(source, filter: chain).hashes.reversed())
        let stream = try facts(job.output, "streams")
        let colour: Set = ["color_primaries=bt709", "color_transfer=bt709", "color_space=bt709", "color_range=tv"]
        #expect(stream.isSuperset(of: colour), "\(stream)")
        #expect(!stream.contains { $0.contains("light") || $0.contains("display") }, "\(stream)")
        (spec.crf, spec.profile) = (nil, "high10")
        let high = ScratchFolder()
        let kept = try MediaJob(source, spec: spec, folder: high.path)
        #expect(try facts(kept.output, "streams").contains("color_transfer=\(light)"))
        #expect(kept.plan.video.format.pixelFormat == "yuv420p10le")
    }

    @Test("HDR10 metadata that only the container states is kept, too")
    func fromContainer() throws {
        let coded = try Fixture.make(
            "coded.mp4", in: folder, frames: 12, video: Self.hevc(Self.master, transfer: "smpte2084"))
        let first = try MediaJob(coded, spec: JobSpec(container: .mov, lossless: true), folder: folder.path)
        let again = ScratchFolder()
        let second = try MediaJob(
            first.output, spec: JobSpec(container: .mp4, videoCodec: "hevc", preset: "ultrafast"), folder: again.path)
        #expect(try facts(second.output, "streams").isSuperset(of: Self.light.union(Self.pq)))
        #expect(try facts(second.output, "frames").isSuperset(of: Self.light))
    }

    @Test(
        "HLG stays HLG, in every form that a source states it",
        arguments: ["arib-std-b67", "bt2020-10"], [Container.mp4, .mkv])
    func hlg(stated: String, container: Container) throws {
        let parameters = stated == "bt2020-10" ? "atc-sei=18" : "bframes=2"
        let source = try Fixture.make("s.mp4", in: folder, frames: 12, video: Self.hevc(parameters, transfer: stated))
        let job = try MediaJob(source, spec: JobSpec(container: container, preset: "ultrafast"), folder: folder.path)
        let wanted: Set = ["color_primaries=bt2020", "color_transfer=arib-std-b67", "color_space=bt2020nc"]
        #expect(try facts(job.output, "streams").isSuperset(of: wanted))
        #expect(try facts(job.output, "frames").isSuperset(of: wanted))
    }

    @Test(
        "primaries, transfer, matrix, range and chroma location reach encoder and container",
        arguments: [
            ("libx264", Container.mp4, "ultrafast"), ("libx264", .mkv, "ultrafast"), ("libx265", .mkv, "ultrafast"),
            ("libsvtav1", .mkv, "12"), ("libvpx-vp9", .webm, "8"), ("ffv1", .mkv, nil), ("prores_ks", .mov, nil),
            ("libx264", .ts, "ultrafast"), ("libx265", .mov, "ultrafast"),
        ] as [(String, Container, String?)])
    func colour(encoder: String, container: Container, preset: String?) throws {
        let source = try Fixture.make(
            "s.mkv", in: folder, frames: 12,
            video: Fixture.x264 + [
                "-color_primaries", "smpte170m", "-color_trc", "bt709", "-colorspace", "smpte170m", "-color_range",
                "pc", "-chroma_sample_location", "topleft",
            ])
        let spec = JobSpec(container: container, videoCodec: encoder, preset: preset)
        let output = try MediaJob(source, spec: spec, folder: folder.path).output
        var wanted: Set = ["color_primaries=smpte170m", "color_transfer=bt709", "color_space=smpte170m"]
        // ProRes and AV1 as libavcodec 5.1 writes them have no place for the location, QuickTime none for the range.
        if encoder != "prores_ks" { wanted.insert("color_range=pc") }
        if encoder.hasPrefix("libx26") || container == .mkv { wanted.insert("chroma_location=topleft") }
        let found = try facts(output, "streams").union(try facts(output, "frames"))
        #expect(found.isSuperset(of: wanted), "\(found)")
    }

    @Test("pictures converted from RGB state their matrix, and full range becomes limited range if no stream says it")
    func converted() throws {
        let rgb = try Fixture.make("rgb.mkv", in: folder, frames: 8, video: ["-c:v", "ffv1", "-pix_fmt", "bgr0"])
        let spec = JobSpec(container: .mp4, videoCodec: "libx265", preset: "ultrafast")
        let job = try MediaJob(rgb, spec: spec, folder: folder.path)
        let colour = try facts(job.output, "frames")
        if job.plan.video.format.pixelFormat.hasPrefix("yuv") {
            #expect(colour.contains("color_space=smpte170m") && colour.contains("color_range=tv"))
        } else {
            #expect(colour.contains("color_space=gbr"))
        }
        let other = ScratchFolder()
        let full = try Fixture.make(
            "full.avi", in: other, frames: 8, video: ["-c:v", "mjpeg", "-q:v", "2", "-pix_fmt", "yuvj422p"])
        let prores = try MediaJob(full, spec: JobSpec(container: .mov, videoCodec: "prores"), folder: other.path)
        // 0 to 255 become 16 to 235, in 10 bits.
        let (before, after) = (try luma(full, frame: 7, in: other), try luma(prores.output, frame: 0, in: other))
        let last = before.map { Int($0) }
        let first = stride(from: 0, to: after.count - 1, by: 2).map { Int(after[$0]) | Int(after[$0 + 1]) << 8 }
        #expect(last.count == 192 * 108 && first.count == last.count)
        let difference = zip(last, first).reduce(0.0) { $0 + abs(16 + Double($1.0) * 219 / 255 - Double($1.1) / 4) }
        #expect(difference / Double(max(last.count, 1)) < 1, "\(difference)")
    }

    /// The luma of one frame, as the file has it.
    private func luma(_ path: String, frame: Int, in folder: ScratchFolder) throws -> [UInt8] {
        let raw = folder.path + "/luma"
        try ffmpeg(
            "-y", "-i", path, "-vf", "select=eq(n\\,\(frame)),extractplanes=y", "-frames:v", "1", "-f", "rawvideo", raw)
        return [UInt8](try contents(of: raw))
    }
}
