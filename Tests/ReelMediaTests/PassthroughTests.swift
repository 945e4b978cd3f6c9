import Foundation
import ReelCore
import ReelMedia
import ReelWords
import Testing

/// Sources of whole frames only are put in another order, packet by packet, and nothing is encoded.
@Suite("Stream copy")
struct PassthroughTests {
    private let folder = ScratchFolder()

    static let sources: [(name: String, container: Container, size: String, video: [String])] = [
        ("prores.mov", .mov, "96x64", ["-c:v", "prores_ks", "-profile:v", "2", "-vendor", "apl0"]),
        ("prores.mov", .mkv, "96x64", ["-c:v", "prores_ks", "-profile:v", "4", "-pix_fmt", "yuva444p10le"]),
        ("dnxhr.mov", .mov, "256x144", ["-c:v", "dnxhd", "-profile:v", "dnxhr_lb", "-pix_fmt", "yuv422p"]),
        ("dnxhr.mov", .mkv, "256x144", ["-c:v", "dnxhd", "-profile:v", "dnxhr_lb", "-pix_fmt", "yuv422p"]),
        ("mjpeg.avi", .mov, "96x64", ["-c:v", "mjpeg", "-pix_fmt", "yuvj422p", "-q:v", "4"]),
        ("mjpeg.mov", .mkv, "96x64", ["-c:v", "mjpeg", "-pix_fmt", "yuvj420p", "-huffman", "default"]),
        ("ffv1.mkv", .mkv, "96x64", ["-c:v", "ffv1", "-level", "3", "-g", "1"]),
        ("ffv1.avi", .mov, "96x64", ["-c:v", "ffv1", "-level", "1", "-g", "1", "-pix_fmt", "yuv420p"]),
        ("huffyuv.avi", .mkv, "96x64", ["-c:v", "huffyuv", "-pix_fmt", "yuv422p"]),
        ("ffvhuff.mkv", .nut, "96x64", ["-c:v", "ffvhuff", "-pix_fmt", "yuv420p"]),
        ("raw.nut", .nut, "96x64", ["-c:v", "rawvideo", "-pix_fmt", "yuv420p"]),
        ("raw.avi", .nut, "90x64", ["-c:v", "rawvideo", "-pix_fmt", "uyvy422"]),
        ("idr.mp4", .mp4, "96x64", Fixture.x264 + ["-g", "1"]), ("idr.ts", .mkv, "96x64", Fixture.x264 + ["-g", "1"]),
        ("idr.mp4", .ts, "96x64", Fixture.x264 + ["-g", "1"]),
    ]

    @Test("the same packets, from the last to the first, each as long as it was", arguments: sources.indices)
    func packets(number: Int) throws {
        let (name, container, size, video) = Self.sources[number]
        let holdsPCM = [.mov, .mkv, .nut].contains(container) && !name.hasPrefix("idr")
        let source = try Fixture.make(
            name, in: folder, frames: 300, size: size, video: video, audio: holdsPCM ? ["-c:a", "pcm_s16le"] : nil)
        let job = try MediaJob(source, spec: JobSpec(container: container), folder: folder.path)
        #expect(job.plan.video.encoder == "copy")
        #expect(job.warnings == [])
        #expect(job.framesDecoded == 0)

        let (before, after) = (try packetHashes(of: source), try packetHashes(of: job.output))
        #expect(before.count == 300)
        if ![source, job.output].contains(where: { $0.hasSuffix(".ts") }) { #expect(after == before.reversed()) }
        let (shown, reversed) = (try Decoded(source), try Decoded(job.output))
        #expect(Set(shown.hashes).count == 300)
        #expect(reversed.hashes == shown.hashes.reversed())
        // From a frame's start to its end in the source is from its start to the next one's in the output.
        let tick = [.mkv, .ts].contains(container) ? Rational(1, 1000) : Rational(0)
        for (length, due) in zip(reversed.gaps.dropFirst(), shown.gaps.reversed()) {
            #expect(length - due <= tick && due - length <= tick)
        }
        guard job.plan.audio.count == 1 else { return }
        #expect(job.plan.audio[0].encoder == "pcm_s16le")
        #expect(try samples(of: job.output) == samples(of: source).reversed())
    }

    @Test("a range is a choice of packets; twice reversed is the source")
    func range() throws {
        let source = try Fixture.make("s.mov", in: folder, frames: 60, video: ["-c:v", "prores_ks"])
        let spec = JobSpec(container: .mov, from: .seconds(Rational(10010, 24000)), to: .seconds(Rational(1293, 1000)))
        let part = try MediaJob(source, spec: spec, folder: folder.path)
        let before = try packetHashes(of: source)
        #expect(part.plan.video.isPassthrough)
        #expect(try packetHashes(of: part.output) == before[10..<32].reversed())

        let (once, again) = (ScratchFolder(), ScratchFolder())
        let first = try MediaJob(source, spec: JobSpec(container: .mov), folder: once.path)
        let second = try MediaJob(first.output, spec: JobSpec(container: .mov), folder: again.path)
        #expect(second.plan.video.isPassthrough)
        #expect(try packetHashes(of: second.output) == before)
    }

    @Test("a range of a source of several read blocks is copied without segments")
    func blocks() throws {
        let source = try Fixture.make(
            "raw.nut", in: folder, frames: 80, size: "1280x720", video: ["-c:v", "rawvideo", "-pix_fmt", "yuv420p"])
        let spec = JobSpec(container: .nut, from: .seconds(Rational(1, 2)))
        let job = try MediaJob(source, spec: spec, folder: folder.path)
        #expect(job.plan.passes.isEmpty)
        let first = job.plan.clips[0].firstFrame
        // 1.3 MiB a frame: six blocks of 16 MiB.
        #expect(first == 12 && job.index.video.readBlock(of: first..<80, .backwards) == 68..<80)
        #expect(try packetHashes(of: job.output) == packetHashes(of: source)[first...].reversed())
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(files.sorted() == ["output.nut", "raw.nut"])
        // The room that was found ahead has been given back.
        var status = stat()
        #expect(stat(job.output, &status) == 0 && status.st_size > 80 << 20)
        #expect(status.st_blocks * 512 < status.st_size + 1 << 20)
    }

    @Test("packets larger than a read block are copied")
    func largePackets() throws {
        let source = try Fixture.make(
            "raw.nut", in: folder, frames: 5, size: "3840x2160", video: ["-c:v", "rawvideo", "-pix_fmt", "yuv444p"])
        let job = try MediaJob(source, spec: JobSpec(container: .nut), folder: folder.path)
        #expect(job.index.video.packets.allSatisfy { $0.size == 3 * 3840 * 2160 && $0.size > 16 << 20 })
        let hashes = try packetHashes(of: source)
        #expect(Set(hashes).count == 5)
        #expect(try packetHashes(of: job.output) == hashes.reversed())
    }

    @Test("frames are counted while they are written, packets until they are verified")
    func progress() throws {
        let source = try Fixture.make(
            "s.mov", in: folder, frames: 30, video: ["-c:v", "prores_ks"], audio: ["-c:a", "pcm_s16le"])
        let job = try MediaJob(source, spec: JobSpec(container: .mov), folder: folder.path)
        var heard: [(packets: Int, frames: Int)] = []
        let assembler = job.assembler(of: source)
        let made = try assembler.assemble(to: .file(folder.path + "/again.mov")) {
            heard.append(($0.packets, $0.frames))
        }
        #expect(heard.prefix(made.packets).map(\.packets) == Array(1...made.packets))
        #expect(heard[made.packets - 1].frames == 30 && heard.dropFirst(made.packets).allSatisfy { $0.frames == 30 })
        #expect(heard.count > made.packets + 30)
    }

    @Test("a source that has changed is refused")
    func changed() throws {
        let video = ["-c:v", "mjpeg", "-pix_fmt", "yuvj420p"]
        let source = try Fixture.make("s.mov", in: folder, frames: 40, video: video)
        let job = try MediaJob(source, spec: JobSpec(container: .mov), folder: folder.path)
        let assembler = job.assembler(of: source)
        #expect(try assembler.verify(.file(job.output)) { _ in } == 40)

        for (frames, quality) in [(40, "20"), (30, "4")] {
            try FileManager.default.removeItem(atPath: source)
            _ = try Fixture.make("s.mov", in: folder, frames: frames, video: video + ["-q:v", quality])
            let failure = #expect(throws: ReelFailure.self) {
                try assembler.assemble(to: .file(folder.path + "/again.mov")) { _ in }
            }
            #expect(failure?.kind == .input)
            #expect(failure?.words.contains("submit it again") == true, "\(failure?.words ?? "")")
        }
    }

    @Test("one changed byte of a copied packet is found")
    func changedOutput() throws {
        let source = try Fixture.make("s.mov", in: folder, frames: 40, video: ["-c:v", "prores_ks"])
        let job = try MediaJob(source, spec: JobSpec(container: .mov), folder: folder.path)
        var bytes = try contents(of: job.output)
        bytes[try #require(bytes.range(of: Data("mdat".utf8))).upperBound + 4000] ^= 0x10
        try store(bytes, to: job.output)
        let assembler = job.assembler(of: source)
        let failure = #expect(throws: ReelFailure.self) { try assembler.verify(.file(job.output)) { _ in } }
        #expect(failure?.words.contains("holds other bytes than were encoded") == true)
    }

    @Test("sources that falsely claim to have only key frames are encoded, and refused if copying is asked for")
    func claims() throws {
        // Without a table of sync samples every sample is one (ISO 14496-12 8.6.2).
        let inter = try Fixture.make(
            "inter.mp4", in: folder, frames: 60, video: Fixture.x264 + ["-g", "12", "-bf", "0"])
        var bytes = try contents(of: inter)
        let table = try #require(bytes.range(of: Data("stss".utf8)))
        bytes.replaceSubrange(table, with: Data("free".utf8))
        let liar = folder.path + "/liar.mp4"
        try store(bytes, to: liar)
        try expectEncoding(liar, .mp4, because: "packet 1 at 0.042 s is not an IDR picture", in: folder)

        let ffv1 = try Fixture.make("ffv1.mkv", in: folder, frames: 60, video: ["-c:v", "ffv1", "-g", "12"])
        try expectEncoding(ffv1, .mkv, because: "packet 1 at 0.042 s is not a key frame", in: folder)
    }

    @Test("interlaced sources are encoded: the order of fields lies within each frame")
    func interlaced() throws {
        let prores = try Fixture.make(
            "p.mov", in: folder, frames: 30, filter: "setfield=tff", video: ["-c:v", "prores_ks", "-flags", "+ildct"])
        try expectEncoding(prores, .mov, because: "interlaced", in: folder)
        let jpeg = try Fixture.make(
            "j.mov", in: folder, frames: 30, filter: "setfield=tff", video: ["-c:v", "mjpeg", "-pix_fmt", "yuvj422p"])
        try expectEncoding(jpeg, .mov, because: "interlaced", in: folder)
    }

    @Test("packets are not copied into a container that does not store them exactly")
    func container() throws {
        let source = try Fixture.make(
            "raw.nut", in: folder, frames: 30, video: ["-c:v", "rawvideo", "-pix_fmt", "rgb24"])
        try expectEncoding(source, .mp4, because: "a .mp4 file does not store rawvideo (rgb24) exactly", in: folder)
    }

    @Test("packets are not copied by themselves into a container in which players do not show them")
    func shown() throws {
        let source = try Fixture.make(
            "s.avi", in: folder, frames: 10, video: ["-c:v", "mjpeg", "-pix_fmt", "yuvj420p"])
        #expect(try target(source, JobSpec(container: .mov)).isPassthrough)
        let video = try TargetChoice(of: source, JobSpec(container: .mp4)).video()
        #expect(video.value.encoder == "libx264")
        #expect(video.diagnostics.contains(.videoCodecChanged(container: .mp4, from: "mjpeg", to: "h264")))
        let camera = try Fixture.make(
            "c.avi", in: folder, frames: 10, video: ["-c:v", "mjpeg", "-pix_fmt", "yuvj422p"])
        let job = try MediaJob(camera, spec: JobSpec(container: .mp4), folder: folder.path)
        #expect(job.plan.video.format.pixelFormat == "yuv420p")
        let shown = try probe(job.output, "stream=codec_name,pix_fmt,color_range")
        #expect(shown == "h264,yuvj420p,pc\n")
        #expect(try target(source, JobSpec(container: .mp4, videoCodec: "copy")).isPassthrough)
        #expect(try target(source, JobSpec(container: .mp4, videoCodec: "mjpeg")).encoder == "mjpeg")
    }

    @Test("options that change the pictures turn stream copy off")
    func options() throws {
        let source = try Fixture.make("s.mp4", in: folder, frames: 30, video: Fixture.x264 + ["-g", "1"])
        for spec in [
            JobSpec(container: .mp4, crf: 30), JobSpec(container: .mp4, preset: "ultrafast"),
            JobSpec(container: .mp4, bitrate: .constant(100_000)), JobSpec(container: .mp4, videoCodec: "libx264"),
        ] { #expect(try target(source, spec).encoder == "libx264") }
        #expect(throws: ReelFailure.self) { try target(source, JobSpec(container: .mp4, videoCodec: "copy", crf: 30)) }
    }

    private func target(_ source: String, _ spec: JobSpec) throws -> VideoTarget {
        try TargetChoice(of: source, spec).video().value
    }

    private func expectEncoding(
        _ source: String, _ container: Container, because reason: String, in folder: ScratchFolder,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let target = try target(source, JobSpec(container: container))
        #expect(!target.isPassthrough, sourceLocation: sourceLocation)
        let failure = #expect(throws: ReelFailure.self, sourceLocation: sourceLocation) {
            try self.target(source, JobSpec(container: container, videoCodec: "copy"))
        }
        #expect(failure?.kind == .input, sourceLocation: sourceLocation)
        #expect(failure?.words.contains(reason) == true, "\(failure?.words ?? "")", sourceLocation: sourceLocation)
    }
}
