import Foundation
import ReelCore
import ReelMedia
import ReelWords
import Testing

/// Sources that are decoded as a whole before they are planned. `scripts/differ` found most rows.
@Suite("Decoded as a whole")
struct WholeDecodeTests {
    private let folder = ScratchFolder()

    private func reversed(
        _ source: String, to container: Container = .mkv, audio: AudioMode = .none
    ) throws -> MediaJob {
        let spec = JobSpec(container: container, lossless: true, audio: audio, passFrames: 12)
        return try MediaJob(source, spec: spec, folder: folder.path)
    }

    private func cut(_ source: String, to part: Double) throws {
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: source))
        try file.truncate(atOffset: UInt64(Double(try file.seekToEnd()) * part))
        try file.close()
    }

    @Test("pictures with a palette are recognised after their conversion")
    func palette() throws {
        let source = try Fixture.make("s.avi", in: folder, frames: 20, video: ["-c:v", "zmbv", "-pix_fmt", "pal8"])
        let job = try reversed(source)
        #expect(job.index.video.pictures.count == 20)
        #expect(
            try Decoded(job.output, pixelFormat: "bgra").hashes
                == Decoded(source, pixelFormat: "bgra").hashes.reversed())
    }

    @Test(
        "a file that ends within a picture: all others are exact, and a warning says so",
        arguments: [("mjpeg", "avi"), ("magicyuv", "avi"), ("ljpeg", "avi"), ("libvpx", "nut"), ("mjpeg", "nut")])
    func cutOff(kind: (encoder: String, container: String)) throws {
        let source = try Fixture.make(
            "s.\(kind.container)", in: folder, frames: 40,
            video: ["-c:v", kind.encoder, "-strict", "-2"] + (kind.encoder == "ljpeg" ? ["-pix_fmt", "bgr24"] : []))
        try cut(source, to: 0.7)
        let job = try reversed(source)
        #expect(job.index.video.pictures.count == job.index.video.frames.count)
        let format = kind.encoder == "ljpeg" ? "rgb24" : nil
        let (before, after) = (
            try Decoded(whole: source, pixelFormat: format), try Decoded(job.output, pixelFormat: format)
        )
        #expect(before.hashes.count > 20)
        #expect(after.hashes.count == before.hashes.count)
        #expect(after.hashes.dropFirst() == before.hashes.dropLast().reversed()[...])
        #expect(!job.plan.video.isPassthrough)
        // ProvenKinds has Motion JPEG in AVI, lossless or not, and would have believed its tables.
        let isTold = job.warnings.contains { $0.contains("the file ends in the middle of a packet") }
        #expect(isTold == (kind.container == "avi" && kind.encoder.hasSuffix("jpeg")))
        // The early end of VP8 in NUT goes unnoticed: the decoder does not log it, and the packet is not marked.
        if kind.encoder != "libvpx" { #expect(job.warnings.contains { $0.contains("decoded with errors") }) }
    }

    @Test(
        "what shows only when a pass decodes again",
        arguments: [
            // The parser that begins midway finds packets of other sizes.
            ("s.drc", 49, "15", "192x128", ["-c:v", "vc2", "-strict", "-2"]),
            // The decoder refers to a picture that it never made.
            ("s.nut", 56, "30000/1001", "176x144", ["-c:v", "h261", "-g", "13"]),
        ])
    func again(name: String, count: Int, rate: String, size: String, video: [String]) throws {
        let source = try Fixture.make(name, in: folder, frames: count, rate: rate, size: size, video: video)
        let job = try reversed(source, to: .nut)
        #expect(job.index.video.frames.count == count)
        #expect(try Decoded(job.output).hashes.count == count)
        // Some frames look different each time they are decoded, and a warning says so.
        let isTold = job.results.flatMap(\.warnings).contains { $0.contains("decoded with errors") }
        #expect(isTold == name.hasSuffix("nut"))
        guard name.hasSuffix("drc") else { return }
        #expect(try Decoded(job.output).hashes == Decoded(source).hashes.reversed())
    }

    @Test("a truncated file whose tables list sound beyond its end keeps all frames that are there")
    func soundBehindTheEnd() throws {
        let source = try Fixture.make(
            "s.mov", in: folder, frames: 66, rate: "25",
            video: [
                "-c:v", "mjpeg", "-g", "37", "-movflags", "frag_keyframe+empty_moov+default_base_moof",
                "-frag_duration", "5000000",
            ], audio: ["-c:a", "pcm_s16le"])
        try cut(source, to: 0.6)
        let before = try Decoded(whole: source, pixelFormat: nil)
        #expect(before.hashes.count > 20)
        #expect(try reversed(source).index.video.frames.count == before.hashes.count)
    }

    @Test("a pixel format that changes midway is converted, with a warning")
    func otherFormat() throws {
        let parts = try ["yuvj420p", "yuvj422p"].map { format in
            try Fixture.make(
                "\(format).mjpeg", in: folder, frames: 20, rate: "25", video: ["-c:v", "mjpeg", "-pix_fmt", format])
        }
        let source = folder.path + "/joined.mjpeg"
        try run("sh", "-c", "cat \(parts[0]) \(parts[1]) > \(source)")
        let job = try reversed(source)
        let before = try Decoded(parts[0])
        #expect(try Decoded(job.output).hashes.suffix(20) == before.hashes.reversed()[...])
        #expect(try Decoded(job.output).hashes.count == 40)
        let said = job.results.flatMap(\.warnings)
        #expect(said.contains("some frames have another pixel format than the first, yuvj422p: they become yuv420p"))
    }

    @Test("a missing frame repeats the frame before it only behind damage", arguments: [true, false])
    func missing(isDamaged: Bool) throws {
        let source = try Fixture.make("s.avi", in: folder, frames: 20, video: ["-c:v", "magicyuv"])
        let job = try reversed(source)
        // The same file without its last packet.
        let shorter = folder.path + "/shorter.avi"
        try ffmpeg("-i", source, "-c", "copy", "-frames:v", "19", shorter)
        var index = job.index
        index.video.pictures[12].isDamaged = isDamaged
        let reverser = try job.reverser(of: shorter, index: index)
        var results: [PassResult] = []
        func reverse() throws {
            for case .video(let pass) in job.plan.passes {
                let places = job.plan.places(of: .video(pass: pass), in: folder.path, token: "5407")
                results.append(try reverser.reverse(pass, at: places) { _, _ in })
            }
        }
        guard isDamaged else {
            let failure = #expect(throws: ReelFailure.self) { try reverse() }
            #expect(failure?.reason.code == "decodes-otherwise")
            return
        }
        try reverse()
        let output = folder.path + "/shorter.mkv"
        _ = try job.assembler(of: shorter, results.flatMap(\.segments), index: index).assemble(to: .file(output)) {
            _ in
        }
        let (before, after) = (try Decoded(source).hashes, try Decoded(output).hashes)
        #expect(after == [before[18]] + before[..<19].reversed())
        #expect(results.flatMap(\.warnings).contains { $0.contains("2 frames decoded with errors") })
    }

    @Test("verification names the frame that differs from the source")
    func flawedOutput() throws {
        let source = try Fixture.make("s.avi", in: folder, frames: 20, video: ["-c:v", "magicyuv"])
        let job = try reversed(source)
        func verify(_ index: SourceIndex) throws {
            _ = try job.assembler(of: source, index: index).verify(.file(job.output)) { _ in }
        }
        try verify(job.index)
        var index = job.index
        index.video.pictures[5].hash ^= 1
        #expect(throws: ReelFailure(.verificationFailed(stream: 0, flaw: .framePicture(frame: 14)))) {
            try verify(index)
        }
    }
}
