import Foundation
import ReelCore
import ReelMedia
import ReelWords
import Testing

/// A warning names everything that a picture loses.
@Suite("Pixel formats")
struct PixelFormatTests {
    private let folder = ScratchFolder()

    /// A source's pixel format and codec, the format that FFV1 has it in, and the one to compare in.
    static let carried: [(source: String, codec: String, name: String, carrier: String, compared: String)] = [
        ("rgb24", "png", "s.mov", "bgr0", "rgb24"), ("pal8", "png", "s.mov", "bgra", "bgra"),
        ("rgb48be", "png", "s.mov", "rgb48le", "rgb48le"), ("rgba64be", "png", "s.mov", "rgba64le", "rgba64le"),
        ("gray16be", "png", "s.mov", "gray16le", "gray16le"), ("monob", "png", "s.mov", "gray", "monob"),
        ("argb", "qtrle", "s.mov", "bgra", "argb"), ("rgb555le", "rawvideo", "s.nut", "bgr0", "rgb24"),
        ("gbrp", "utvideo", "s.avi", "bgr0", "gbrp"), ("gbrap", "utvideo", "s.avi", "bgra", "rgba"),
        ("rgb565le", "rawvideo", "s.nut", "bgr0", "rgb24"), ("bgr8", "rawvideo", "s.nut", "bgr0", "rgb24"),
        ("nv12", "rawvideo", "s.nut", "yuv420p", "nv12"), ("nv21", "rawvideo", "s.nut", "yuv420p", "nv21"),
        ("uyvy422", "rawvideo", "s.nut", "yuv422p", "uyvy422"), ("yuyv422", "rawvideo", "s.nut", "yuv422p", "yuyv422"),
        ("abgr", "rawvideo", "s.nut", "bgra", "abgr"),
        ("yuv422p10be", "rawvideo", "s.nut", "yuv422p10le", "yuv422p10be"),
        ("bgr48le", "rawvideo", "s.nut", "gbrp16le", "bgr48le"),
        ("gray10le", "rawvideo", "s.nut", "gray10le", "gray10le"),
    ]

    @Test("a format that FFV1 does not support is kept in one that holds every value", arguments: carried.indices)
    func carriers(number: Int) throws {
        let (format, codec, name, carrier, compared) = Self.carried[number]
        let source = try Fixture.make(
            name, in: folder, frames: 7, size: "70x36", filter: "format=\(format)",
            video: ["-c:v", codec, "-pix_fmt", format])
        let spec = JobSpec(
            container: .mkv, videoCodec: codec == "rawvideo" ? "ffv1" : nil, lossless: codec != "rawvideo")
        let job = try MediaJob(source, spec: spec, folder: folder.path)
        #expect(job.index.video.stream.pixelFormat == format)
        #expect((job.plan.video.encoder, job.plan.video.format.pixelFormat) == ("ffv1", carrier))
        #expect(job.warnings == [])
        let (before, after) = (
            try Decoded(source, pixelFormat: compared), try Decoded(job.output, pixelFormat: compared)
        )
        #expect(Set(before.hashes).count > 1)
        #expect(after.hashes == before.hashes.reversed())
    }

    @Test("white stays white in an encoder that has formats of full range", arguments: ["rgb24", "argb"])
    func white(format: String) throws {
        let source = try Fixture.make(
            "s.mov", in: folder, frames: 7, size: "70x36", filter: "drawbox=c=white:t=fill,format=\(format)",
            video: ["-c:v", format == "argb" ? "qtrle" : "png", "-pix_fmt", format])
        let spec = JobSpec(container: .mkv, videoCodec: "mjpeg")
        let job = try MediaJob(source, spec: spec, folder: folder.path)
        let (before, after) = (try Decoded(source, pixelFormat: "gray"), try Decoded(job.output, pixelFormat: "gray"))
        #expect(Set(before.hashes).count == 1)
        #expect(after.hashes == before.hashes)
    }

    @Test(
        "full range becomes limited range where decoders take an encoder's pictures for that",
        arguments: ["prores_ks", "mpeg2video", "libvpx"], ["white", "black", "0x808080"])
    func limited(encoder: String, colour: String) throws {
        let source = try Fixture.make(
            "s.mp4", in: folder, frames: 7, size: "64x48",
            filter: "drawbox=c=\(colour):t=fill,scale=out_range=pc,format=yuvj420p",
            video: Fixture.x264 + ["-pix_fmt", "yuvj420p", "-color_range", "pc", "-crf", "4"])
        let job = try MediaJob(source, spec: JobSpec(container: .mkv, videoCodec: encoder), folder: folder.path)
        #expect(job.index.video.stream.hasFullRange)
        #expect(job.warnings.contains { $0.contains("limited range") }, "\(job.warnings)")
        let (before, after) = (try brightness(source, folder), try brightness(job.output, folder))
        #expect(abs(before - after) <= 2, "\(before) became \(after)")
    }

    @Test(
        "grey pictures that state no range keep their brightness, also where decoders give them back as YCbCr",
        arguments: ["libx264", "libx265", "libvpx-vp9", "libsvtav1", "ffv1"], ["white", "black", "0x808080"])
    func grey(encoder: String, colour: String) throws {
        let source = try Fixture.make(
            "s.mkv", in: folder, frames: 7, size: "64x64", filter: "drawbox=c=\(colour):t=fill,format=gray",
            video: ["-c:v", "ffv1", "-pix_fmt", "gray", "-color_range", "0"])
        let spec = JobSpec(
            container: .mkv, videoCodec: encoder,
            preset: ["libsvtav1": "12", "libvpx-vp9": "8", "ffv1": nil][encoder, default: "ultrafast"])
        let job = try MediaJob(source, spec: spec, folder: folder.path)
        #expect(job.index.video.stream.colour.range == nil)
        let (before, after) = (try brightness(source, folder), try brightness(job.output, folder))
        #expect(abs(before - after) <= 2, "\(before) became \(after)")
    }

    /// The mean of the first frame's brightness, in full range.
    private func brightness(_ path: String, _ folder: ScratchFolder) throws -> Int {
        let frame = folder.path + "/frame"
        try ffmpeg("-y", "-i", path, "-frames:v", "1", "-vf", "scale=out_range=pc,format=gray", "-f", "rawvideo", frame)
        let bytes = try contents(of: frame)
        return bytes.reduce(0) { $0 + Int($1) } / max(bytes.count, 1)
    }

    @Test("the brightness of a picture with a palette is that of its colours", arguments: ["zmbv", "tiff"])
    func palette(codec: String) throws {
        let source = try Fixture.make(
            "s.mkv", in: folder, frames: 7, size: "70x36", video: ["-c:v", codec, "-pix_fmt", "pal8"])
        let job = try MediaJob(source, spec: JobSpec(container: .mkv, lossless: true), folder: folder.path)
        #expect(!job.index.video.pictures.isEmpty)
        let (before, after) = (try Decoded(source, pixelFormat: "bgra"), try Decoded(job.output, pixelFormat: "bgra"))
        #expect(after.hashes == before.hashes.reversed())
    }

    @Test(
        "a palette that the container says once is known in every pass",
        arguments: [("smc", "s.mov"), ("bmp", "s.avi")])
    func paletteOnce(codec: String, name: String) throws {
        let source = try Fixture.make(
            name, in: folder, frames: 40, video: ["-c:v", codec, "-pix_fmt", "pal8", "-g", "5"])
        let spec = JobSpec(container: .mkv, lossless: true, passFrames: 12)
        let job = try MediaJob(source, spec: spec, folder: folder.path)
        #expect(job.plan.passes.count > 1)
        let (before, after) = (try Decoded(source, pixelFormat: "bgra"), try Decoded(job.output, pixelFormat: "bgra"))
        #expect(after.hashes == before.hashes.reversed())
    }

    @Test(
        "pictures of a few pixels, and of sizes that slices do not divide",
        arguments: [
            ("1x1", "yuv420p"), ("1x40", "yuv444p10le"), ("2x16", "yuv420p"), ("3x3", "bgra"), ("16x2", "gray"),
            ("43x51", "yuv420p"), ("45x46", "yuv410p"), ("86x94", "yuv410p"), ("163x121", "yuv420p"),
            ("64x64", "yuv420p"),
        ])
    func sizes(size: String, format: String) throws {
        let source = folder.path + "/s.nut"
        try ffmpeg(
            "-f", "lavfi", "-i",
            "nullsrc=s=\(size):r=24000/1001:d=0.3,geq=lum='random(1)*255':cb='random(2)*255':cr='random(3)*255'",
            "-pix_fmt", format, "-c:v", "rawvideo", source)
        let spec = JobSpec(container: .mkv, videoCodec: "ffv1", passFrames: 4)
        let job = try MediaJob(source, spec: spec, folder: folder.path)
        let (before, after) = (try Decoded(source), try Decoded(job.output))
        #expect(before.hashes.count == 8)
        #expect(after.hashes == before.hashes.reversed())
    }

    @Test(
        "as many slices as a large picture needs",
        arguments: [(1920, 1080, "4"), (4096, 2160, "4"), (7680, 4320, "9"), (8192, 4320, "9"), (8190, 4314, "9")])
    func largePictures(width: Int, height: Int, slices: String) throws {
        var index = try Recon(.file(try Fixture.make("s.mp4", in: folder, frames: 3, video: Fixture.x264))).run()
        (index.video.stream.width, index.video.stream.height) = (width, height)
        let choice = TargetChoice(indexes: [index], spec: JobSpec(container: .mkv, lossless: true))
        let options = try choice.video().value.encoding?.options ?? []
        #expect(options.contains(MediaOption(name: "slices", value: slices)), "\(options)")
    }

    @Test("raw video for formats that FFV1 cannot hold, if the container stores it exactly, otherwise a refusal")
    func raw() throws {
        let source = try Fixture.make(
            "s.nut", in: folder, frames: 5, filter: "format=xyz12le", video: ["-c:v", "rawvideo"])
        let job = try MediaJob(source, spec: JobSpec(container: .nut, videoCodec: "rawvideo"), folder: folder.path)
        #expect(job.plan.video.encoder == "rawvideo" && job.plan.video.format.pixelFormat == "xyz12le")
        #expect(try Decoded(job.output).hashes == Decoded(source).hashes.reversed())

        var index = job.index
        index.passthrough = .impossible(why: .interlaced)
        var choice = TargetChoice(indexes: [index], spec: JobSpec(container: .nut, lossless: true))
        #expect(try choice.video().value.encoder == "rawvideo")
        for container in [Container.mkv, .mov] {
            let refusal = "a .\(container.rawValue) file does not store raw xyz12le exactly"
            for spec in [
                JobSpec(container: container, lossless: true), JobSpec(container: container, videoCodec: "rawvideo"),
            ] {
                choice = TargetChoice(indexes: [index], spec: spec)
                let failure = #expect(throws: ReelFailure.self) { try choice.video() }
                #expect(failure?.kind == .input)
                #expect(failure?.words.contains(refusal) == true, "\(failure?.words ?? "")")
            }
        }
    }

    @Test(
        "a warning names what an encoder cannot hold",
        arguments: [
            ("yuva444p", "libx264", "yuv444p", "no transparency"),
            ("yuv422p10le", "libsvtav1", "yuv420p10le", "fewer chroma samples"),
            ("yuv444p12le", "libx264", "yuv444p10le", "fewer bits"),
        ])
    func losses(format: String, encoder: String, chosen: String, lost: String) throws {
        let source = try Fixture.make(
            "s.mkv", in: folder, frames: 3, video: ["-c:v", "ffv1", "-g", "9", "-pix_fmt", format])
        let video = try TargetChoice(of: source, JobSpec(container: .mkv, videoCodec: encoder)).video()
        #expect(video.value.format.pixelFormat == chosen)
        #expect(
            video.diagnostics.map(\.words) == [
                "\(encoder) cannot hold \(format): pictures become \(chosen), with \(lost)"
            ])
    }

    /// A source's format, an encoder of VP8 or VP9, a container, the format that is chosen, and what is lost.
    static let beside: [(source: String, encoder: String, container: Container, chosen: String, lost: String?)] = [
        ("yuva420p", "libvpx-vp9", .webm, "yuva420p", nil), ("yuva420p", "libvpx", .mkv, "yuva420p", nil),
        ("yuva420p", "libvpx-vp9", .mp4, "yuv420p", "no transparency"),
        ("yuva444p", "libvpx-vp9", .mkv, "yuva420p", "fewer chroma samples"),
        ("yuva444p", "libvpx-vp9", .mp4, "yuv444p", "no transparency"),
        ("yuva444p10le", "libvpx-vp9", .webm, "yuva420p", "fewer chroma samples, fewer bits"),
        ("bgra", "libvpx-vp9", .webm, "yuva420p", "fewer chroma samples, another colour model"),
        ("yuv420p", "libvpx-vp9", .webm, "yuv420p", nil),
    ]

    @Test("transparency is kept in VP8 and VP9 if the container stores it", arguments: beside.indices)
    func transparency(number: Int) throws {
        let (format, encoder, container, chosen, lost) = Self.beside[number]
        let source = try Fixture.make(
            "s.mkv", in: folder, frames: 3, video: ["-c:v", "ffv1", "-g", "9", "-pix_fmt", format])
        let index = try Recon(.file(source)).run()
        var choice = TargetChoice(indexes: [index], spec: JobSpec(container: container, videoCodec: encoder))
        let video = try choice.video()
        #expect(video.value.format.pixelFormat == chosen)
        let place = container == .mp4 ? " in a .mp4 file" : ""
        let said = lost.map { "\(encoder) cannot hold \(format)\(place): pictures become \(chosen), with \($0)" }
        #expect(video.diagnostics.map(\.words) == [said].compactMap(\.self))

        let spec = JobSpec(container: container, videoCodec: encoder, pixelFormat: "yuva420p")
        choice = TargetChoice(indexes: [index], spec: spec)
        guard container == .mp4 else {
            #expect(try choice.video().value.format.pixelFormat == "yuva420p")
            return
        }
        #expect(throws: ReelFailure.self) { try choice.video() }
    }

    @Test("pictures in RGB become H.264 that players show, said in a warning, unless another format is asked for")
    func forPlayers() throws {
        func make(
            _ format: String, _ codec: String, _ name: String, _ size: String, filter: String = "null"
        ) throws -> SourceIndex {
            let source = try Fixture.make(
                name, in: folder, frames: 3, size: size, filter: filter, video: ["-c:v", codec, "-pix_fmt", format])
            return try Recon(.file(source)).run()
        }
        func choose(_ index: SourceIndex, _ spec: JobSpec) throws -> (format: String, warnings: [String]) {
            let video = try TargetChoice(indexes: [index], spec: spec).video()
            return (video.value.format.pixelFormat, video.diagnostics.map(\.words))
        }
        let screen = try make("rgb24", "png", "screen.mov", "70x36")
        let said =
            "rgb24 becomes yuv420p, which all players show: YCbCr with fewer chroma samples; yuv444p keeps all of them, "
            + "but few players show it"
        for container in [Container.mp4, .mov] {
            let (format, warnings) = try choose(screen, JobSpec(container: container, videoCodec: "libx264"))
            #expect(format == "yuv420p" && warnings == [said], "\(warnings)")
        }
        let gif = try choose(try make("bgr8", "gif", "a.gif", "70x36"), JobSpec(container: .mp4))
        #expect(gif.format == "yuv420p")
        #expect(gif.warnings.contains { $0.contains("fewer chroma samples, without transparency") }, "\(gif.warnings)")
        let asked = try choose(screen, JobSpec(container: .mp4, videoCodec: "libx264", pixelFormat: "yuv444p"))
        #expect(asked.format == "yuv444p" && asked.warnings == [])
        let whole = try choose(screen, JobSpec(container: .mkv, videoCodec: "libx264"))
        #expect(whole.format == "yuv444p")
        // A format with shared chroma has no pictures of an odd size.
        let odd = try choose(
            try make("rgb24", "png", "odd.mov", "72x36", filter: "format=rgb24,crop=71:36:0:0"),
            JobSpec(container: .mp4, videoCodec: "libx264"))
        #expect(odd.format == "yuv444p")
    }
}
