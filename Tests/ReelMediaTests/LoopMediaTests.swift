import Crypto
import Foundation
import ReelCore
import ReelMedia
import Testing

/// A Python that has Pillow, which decodes animated WebP; nil if there is none.
private let python = ProcessInfo.processInfo.environment["REEL_PYTHON"]

/// Moving pictures that loop, as files. The sources have at most 64 colours and are encoded without loss, so that a
/// palette holds them all and every frame must come out exactly.
@Suite("Moving pictures that loop")
struct LoopMediaTests {
    private let folder: ScratchFolder

    private static let fewColours = "format=gbrp,lutrgb=r='bitand(val,192)':g='bitand(val,192)':b='bitand(val,192)'"
    private static let lossless = ["-c:v", "libx264rgb", "-qp", "0", "-g", "12"]

    init() throws { folder = ScratchFolder() }

    private func source(_ name: String, frames: Int, rate: String, size: String = "192x108") throws -> String {
        try Fixture.make(
            name, in: folder, frames: frames, rate: rate, size: size, filter: Self.fewColours, video: Self.lossless)
    }

    private func job(
        _ source: String, _ container: Container, play: Play? = nil, size: PictureSize? = nil,
        mostFrames: Rational? = nil, loop: LoopOptions? = nil, lossless: Bool = false
    ) throws -> MediaJob {
        let edit = play.map { Edit(clips: [EditClip(play: $0)]) }
        let spec = JobSpec(
            container: container, lossless: lossless, edit: edit, size: size, mostFrames: mostFrames, loop: loop,
            passFrames: 9)
        return try MediaJob([source], spec: spec, folder: folder.path)
    }

    @Test(
        "a loop shows 2n - 2 frames, each as in the source, for times that do not drift",
        arguments: [Container.gif, .apng])
    func pingPong(container: Container) throws {
        let source = try source("a.mp4", frames: 40, rate: "30000/1001")
        let made = try job(
            source, container, play: .pingPong, loop: LoopOptions(dither: container == .gif ? Dither.none : nil))
        let frames = try Decoded(source, pixelFormat: "rgb24").hashes
        let shown = try Decoded(made.output, pixelFormat: "rgb24")
        #expect(shown.hashes == frames + frames[1..<39].reversed())
        let clock = try #require(container.traits.loops?.clock)
        for (place, time) in shown.times.enumerated() {
            let exact = Rational(Int64(place) * 1001, 30_000)
            #expect(time == clock.seconds(Timestamp(clock.ticks(in: exact, rounding: .nearest))))
        }
    }

    /// The pictures of a WebP file as an independent decoder shows them, how long each lasts in milliseconds, and how
    /// often all are played.
    private func webP(_ path: String) throws -> (hashes: [String], delays: [Int], loop: Int) {
        let script = """
            import sys, hashlib
            from PIL import Image
            image = Image.open(sys.argv[1])
            for number in range(image.n_frames):
                image.seek(number)
                data = image.convert("RGB").tobytes()
                print(hashlib.sha256(data).hexdigest(), image.info["duration"], image.info["loop"])
            """
        let lines = try run(python ?? "", "-c", script, path).split(whereSeparator: \.isNewline)
            .map { $0.split(separator: " ") }
        return (lines.map { String($0[0]) }, lines.compactMap { Int($0[1]) }, Int(lines.first?[2] ?? "") ?? -1)
    }

    /// Hashes of raw pictures that ffmpeg decodes.
    private func raw(_ path: String, format: String, bytes: Int) throws -> [String] {
        let file = folder.path + "/frames.raw"
        try ffmpeg("-y", "-i", path, "-f", "rawvideo", "-pix_fmt", format, file)
        let data = try contents(of: file)
        return stride(from: 0, to: data.count, by: bytes).map { start in
            SHA256.hash(data: data[start..<start + bytes]).map { String(format: "%02x", $0) }.joined()
        }
    }

    @Test(
        "WebP shows the same, with the delays of a clock of milliseconds",
        .enabled(if: python != nil, "set REEL_PYTHON to a Python that has Pillow"))
    func webP() throws {
        let source = try source("a.mp4", frames: 40, rate: "30000/1001", size: "162x90")
        let frames = try raw(source, format: "rgb24", bytes: 162 * 90 * 3)
        let order = Array(0..<40) + (1..<39).reversed()
        let exact = try job(source, .webp, play: .pingPong, loop: LoopOptions(plays: 3), lossless: true)
        let shown = try webP(exact.output)
        #expect(shown.hashes == order.map { frames[$0] })
        #expect(shown.loop == 3)
        var end = 0
        for (place, delay) in shown.delays.enumerated() {
            end += delay
            #expect(abs(Double(end) - Double((place + 1) * 1001) / 30) <= 0.5)
        }
    }

    @Test(
        "a lossy WebP of an odd size shows every frame in its turn, near the source's colours",
        .enabled(if: python != nil, "set REEL_PYTHON to a Python that has Pillow"))
    func lossyWebP() throws {
        let source = try Fixture.make(
            "odd.mkv", in: folder, frames: 40, rate: "30000/1001", size: "320x180",
            filter: "scale=321:181,setsar=1,format=gbrp", video: ["-c:v", "ffv1"])
        let bytes = 321 * 181 * 3
        let file = folder.path + "/frames.raw"
        try ffmpeg("-y", "-i", source, "-f", "rawvideo", "-pix_fmt", "rgb24", file)
        #expect(try contents(of: file).count == 40 * bytes)
        // Every frame of the source beside every picture of the output: the mean difference of their samples.
        let script = """
            import sys
            from PIL import Image, ImageChops, ImageStat
            image, data = Image.open(sys.argv[1]), open(sys.argv[2], "rb").read()
            sources = [Image.frombytes("RGB", image.size, data[n:n + \(bytes)]) for n in range(0, len(data), \(bytes))]
            for number in range(image.n_frames):
                image.seek(number)
                shown = image.convert("RGB")
                print(image.info["duration"], image.info["loop"],
                    *(int(100 * sum(ImageStat.Stat(ImageChops.difference(shown, one)).mean) / 3) for one in sources))
            """
        let output = try job(source, .webp).output
        let rows = try run(python ?? "", "-c", script, output, file).split(whereSeparator: \.isNewline)
            .map { $0.split(separator: " ").compactMap { Int($0) } }
        #expect(rows.count == 40)
        for (place, row) in rows.enumerated() {
            let differences = row.dropFirst(2)
            let nearest = try #require(differences.min())
            #expect(Array(differences).firstIndex(of: nearest) == 39 - place)
            #expect(nearest < 600)
            #expect((33...34).contains(row[0]) && row[1] == 0)
        }
    }

    @Test(
        "of a WebP, only the part of a picture that changes is coded, transparent or not",
        arguments: [true, false], ["gbrp", "gbrap"])
    func changedParts(lossless: Bool, format: String) throws {
        let source = folder.path + "/clock.mkv"
        // A field of noise that stands still, half of it transparent, in which a box moves every second frame.
        try ffmpeg(
            "-f", "lavfi", "-i",
            "nullsrc=s=160x90:r=25,format=gbrap,geq=r=random(1)*255:g=128:b=9:a='if(gt(X,80),255,0)',loop=-1:1",
            "-f", "lavfi", "-i", "testsrc2=s=15x11:r=25", "-filter_complex",
            "[0]format=\(format)[a];[1]format=gbrap[b];[a][b]overlay=x='20+9*floor(n/2)':y=41:format=gbrp",
            "-frames:v", "12", "-c:v", "ffv1", "-pix_fmt", format, source)
        let made = try job(source, .webp, lossless: lossless)
        // The place that the box leaves and the one to which it comes; colours of pairs of pixels reach beyond them.
        let parts = try pictureSizes(of: made.output)
        #expect(parts.count == 12 && parts[0] == PictureSize(width: 160, height: 90))
        #expect(parts.dropFirst().allSatisfy { $0.width <= 28 && $0.height <= 18 }, "\(parts)")
        guard lossless, format == "gbrp", python != nil else { return }
        let frames = try raw(source, format: "rgb24", bytes: 160 * 90 * 3)
        let shown = try webP(made.output)
        #expect(shown.hashes == frames.reversed() && shown.delays == Array(repeating: 40, count: 12))
    }

    @Test("a WebP has a picture for each of several frames that are the same")
    func equalFrames() throws {
        let still = folder.path + "/still.mkv"
        try ffmpeg("-f", "lavfi", "-i", "smptebars=s=64x48:r=10", "-frames:v", "5", "-c:v", "ffv1", still)
        let all = PictureSize(width: 64, height: 48)
        let none = PictureSize(width: 1, height: 1)
        #expect(try pictureSizes(of: try job(still, .webp).output) == [all, none, none, none, none])
    }

    /// The size of each picture of a WebP file, in the order of the file.
    private func pictureSizes(of path: String) throws -> [PictureSize] {
        let bytes = [UInt8](try contents(of: path))
        return try pictureChunks(of: path).map { chunk in
            let size = (0..<2).map { side in
                (0..<3).reversed().reduce(0) { $0 << 8 | Int(bytes[chunk.lowerBound + 14 + 3 * side + $1]) }
            }
            return PictureSize(width: size[0] + 1, height: size[1] + 1)
        }
    }

    /// The chunks of the pictures of a WebP file.
    private func pictureChunks(of path: String) throws -> [Range<Int>] {
        let bytes = [UInt8](try contents(of: path))
        var chunks: [Range<Int>] = []
        var place = 44
        while place < bytes.count {
            #expect(bytes[place..<place + 4].elementsEqual("ANMF".utf8))
            let length = (0..<4).reversed().reduce(0) { $0 << 8 | Int(bytes[place + 4 + $1]) }
            chunks.append(place..<place + 8 + length)
            place = chunks[chunks.count - 1].upperBound
        }
        return chunks
    }

    @Test("of a WebP, any byte that is changed is found", arguments: [true, false])
    func everyByteOfWebP(lossless: Bool) throws {
        let source = try source("tiny.mp4", frames: 3, rate: "25", size: "32x24")
        let made = try job(source, .webp, lossless: lossless)
        let assembler = made.assembler(of: source)
        let bytes = [UInt8](try contents(of: made.output))
        let heads = try pictureChunks(of: made.output).flatMap { $0.prefix(32) }
        let changed = folder.path + "/changed.webp"
        for place in Array(0..<44) + heads + stride(from: 44, to: bytes.count, by: 23) {
            var wrong = bytes
            wrong[place] ^= 1
            try store(Data(wrong), to: changed)
            #expect(throws: ReelFailure.self, "\(place)") { try assembler.verify(.file(changed)) { _ in } }
        }
        try store(Data(bytes + [0]), to: changed)
        #expect(throws: ReelFailure.self) { try assembler.verify(.file(changed)) { _ in } }
    }

    @Test(
        "where WebP is transparent, the picture before does not show through",
        .enabled(if: python != nil, "set REEL_PYTHON to a Python that has Pillow"))
    func transparentWebP() throws {
        let source = folder.path + "/t.mov"
        try ffmpeg(
            "-f", "lavfi", "-i", "color=c=red:s=64x48:r=25:d=0.4,format=rgba", "-vf",
            "geq=r=255:g=0:b=0:a='if(between(X,N*6,N*6+8),255,0)'", "-c:v", "png", source)
        let script = """
            import sys
            from PIL import Image
            image = Image.open(sys.argv[1])
            for number in range(image.n_frames):
                image.seek(number)
                alpha = image.convert("RGBA").getchannel("A")
                print(min(x for x in range(64) if alpha.getpixel((x, 5)) > 0), sum(1 for x in alpha.getdata() if x))
            """
        for lossless in [true, false] {
            let output = try job(source, .webp, lossless: lossless).output
            let columns = try run(python ?? "", "-c", script, output).split(whereSeparator: \.isNewline).map(
                String.init)
            let wanted = (0..<10).reversed().map { "\($0 * 6) \(min(9, 64 - $0 * 6) * 48)" }
            #expect(columns == wanted, "lossless \(lossless)")
        }
    }

    @Test("a WebP file in which two pictures have changed places, one is missing or one byte differs is found")
    func verifiedWebP() throws {
        let source = try source("a.mp4", frames: 12, rate: "25")
        let made = try job(source, .webp)
        let assembler = made.assembler(of: source)
        #expect(try assembler.verify(.file(made.output)) { _ in } == 12)
        let bytes = [UInt8](try contents(of: made.output))
        let chunks = try pictureChunks(of: made.output)
        #expect(chunks.count == 12)
        var swapped = Array(bytes[..<chunks[3].lowerBound])
        for chunk in [chunks[4], chunks[3]] + chunks[5...] { swapped += bytes[chunk] }
        var (flipped, slower) = (bytes, bytes)
        flipped[bytes.count - 40] ^= 1
        slower[chunks[5].lowerBound + 8 + 12] += 1
        let (short, cut) = (Array(bytes[..<chunks[11].lowerBound]), Array(bytes.dropLast(9)))
        let changes = ["swapped": swapped, "flipped": flipped, "slower": slower, "short": short, "cut": cut]
        for (name, wrong) in changes {
            let changed = folder.path + "/\(name).webp"
            try store(Data(wrong), to: changed)
            #expect(throws: ReelFailure.self, "\(name)") { try assembler.verify(.file(changed)) { _ in } }
        }
    }

    @Test("a single picture is a still WebP")
    func singleWebP() throws {
        let source = try source("one.mp4", frames: 1, rate: "25")
        let made = try job(source, .webp, lossless: true)
        let bytes = [UInt8](try contents(of: made.output))
        #expect(bytes[12..<16].elementsEqual("VP8L".utf8))
        #expect(try Decoded(made.output, pixelFormat: "rgb24").hashes == Decoded(source, pixelFormat: "rgb24").hashes)
    }

    @Test("of more than 30 frames a second, every second is shown, of a reversal too")
    func thinned() throws {
        let source = try source("fast.mp4", frames: 41, rate: "60000/1001")
        let frames = try Decoded(source, pixelFormat: "rgb24").hashes
        let kept = stride(from: 0, to: 41, by: 2).map { frames[$0] }
        let loop = try job(source, .gif, play: .pingPong, loop: LoopOptions(dither: Dither.none))
        #expect(try Decoded(loop.output, pixelFormat: "rgb24").hashes == kept + kept[1..<20].reversed())
        let reversed = try job(source, .gif, loop: LoopOptions(dither: Dither.none))
        #expect(try Decoded(reversed.output, pixelFormat: "rgb24").hashes == kept.reversed())
        let slower = try job(source, .gif, mostFrames: Rational(10), loop: LoopOptions(dither: Dither.none))
        #expect(
            try Decoded(slower.output, pixelFormat: "rgb24").hashes
                == stride(from: 0, to: 41, by: 6).map { frames[$0] }.reversed())
    }

    @Test("a GIF has at most 640 pixels on its longer side, upright and without sound; --size decides otherwise")
    func sizes() throws {
        let wide = try source("wide.mp4", frames: 6, rate: "25", size: "1280x720")
        let format = try job(wide, .gif).plan.video.format
        #expect(format.width == 640 && format.height == 360)
        let tall = try job(try source("tall.mp4", frames: 6, rate: "25", size: "360x1280"), .gif).plan.video.format
        #expect(tall.width == 180 && tall.height == 640)
        let small = try job(wide, .gif, size: PictureSize(width: 100, height: 100))
        let probe = try probe(small.output, "stream=width,height,codec_type")
        #expect(probe.trimmingCharacters(in: .newlines) == "video,100,100")
    }

    @Test(
        "HDR is mapped to the standard range as ffmpeg's filters do it, also in sizes that its chroma does not divide",
        arguments: ["smpte2084", "arib-std-b67"], ["192x108", "191x107"])
    func highDynamicRange(_ light: String, _ size: String) throws {
        let source = try Fixture.make(
            "hdr.mkv", in: folder, frames: 5, rate: "25", size: size, filter: "format=yuv420p10le",
            video: ["-c:v", "ffv1", "-color_trc", light, "-color_primaries", "bt2020", "-colorspace", "bt2020nc"]
                + ["-color_range", "tv"])
        let made = try job(source, .apng)
        let chain =
            "scale=flags=bicubic+accurate_rnd+full_chroma_inp+full_chroma_int,format=yuv444p16le,"
            + "zscale=filter=bicubic:transfer=linear:npl=100,format=gbrpf32le,zscale=primaries=709,"
            + "tonemap=tonemap=hable:desat=0:peak=10,zscale=transfer=709:matrix=gbr:range=full,format=gbrp"
        let wanted = try Decoded(source, pixelFormat: "rgb24", filter: chain).hashes
        #expect(try Decoded(made.output, pixelFormat: "rgb24").hashes == wanted.reversed())
        #expect(try Decoded(source, pixelFormat: "rgb24").hashes != wanted)
        #expect(made.plan.video.format.toneMapping == .hable && made.diagnostics.contains(.highDynamicRangeMapped))
    }

    @Test("options that the container does not have are refused")
    func refusals() throws {
        let source = try source("a.mp4", frames: 6, rate: "25")
        func reason(_ spec: JobSpec) throws -> FailureReason? {
            let choice = try TargetChoice(of: source, spec)
            return #expect(throws: ReelFailure.self) { _ = try choice.video() }?.reason
        }
        #expect(
            try reason(JobSpec(container: .mp4, loop: LoopOptions(plays: 2)))
                == .optionNotOfContainer(option: .loop, container: .mp4))
        #expect(
            try reason(JobSpec(container: .apng, loop: LoopOptions(colours: 2)))
                == .optionNotOfContainer(option: .colors, container: .apng))
        #expect(
            try reason(JobSpec(container: .webp, loop: LoopOptions(dither: .bayer)))
                == .optionNotOfContainer(option: .dither, container: .webp))
        #expect(try reason(JobSpec(container: .gif, crf: 20)) == .optionNotOfContainer(option: .crf, container: .gif))
        #expect(try reason(JobSpec(container: .webp, crf: 20)) == .optionNotOfContainer(option: .crf, container: .webp))
        #expect(try reason(JobSpec(container: .gif, lossless: true)) == .losslessNotHeld(container: .gif))
        _ = try TargetChoice(of: source, JobSpec(container: .apng, lossless: true)).video()
        let wide = PictureSize(width: 16_384, height: 16)
        #expect(
            try reason(JobSpec(container: .webp, size: wide))
                == .sizeTooLarge(container: .webp, size: wide, most: 16_383))
    }

    @Test("one changed byte is found")
    func verified() throws {
        let source = try source("a.mp4", frames: 12, rate: "25")
        let made = try job(source, .gif)
        var bytes = try contents(of: made.output)
        bytes[bytes.count / 2] ^= 0x10
        let changed = folder.path + "/changed.gif"
        try store(bytes, to: changed)
        let assembler = made.assembler(of: source)
        #expect(try assembler.verify(.file(made.output)) { _ in } == 12)
        #expect(throws: ReelFailure.self) { try assembler.verify(.file(changed)) { _ in } }
    }
}
