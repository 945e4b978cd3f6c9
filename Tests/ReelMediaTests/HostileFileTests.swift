import Foundation
import ReelCore
import ReelMedia
import Testing

/// Files that are damaged, or made to break their reader.
@Suite("Hostile files")
struct HostileFileTests {
    private let folder = ScratchFolder()

    init() { Media.prepare() }

    /// 24 pictures at 24000/1001, some of whose times a bitstream filter changes.
    private func nut(_ name: String, times expression: String) throws -> String {
        let source = try Fixture.make("\(name).mov", in: folder, frames: 24, video: ["-c:v", "mjpeg"])
        let path = "\(folder.path)/\(name).nut"
        let times = expression.replacing(",", with: "\\,")
        try ffmpeg("-i", source, "-c", "copy", "-bsf:v", "setts=pts=\(times):dts=\(times)", path)
        return path
    }

    @Test("a timestamp out of range is repaired, with a warning", arguments: ["4e18", "9.2e18"])
    func absurdTime(_ time: String) throws {
        let source = try nut("absurd", times: "if(eq(N,23),\(time),PTS)")
        let index = try Recon(.file(source)).run()
        #expect(index.video.frames.count == 24)
        #expect(index.video.end.ticks.magnitude <= UInt64(Timestamp.bound))
        #expect(index.diagnostics.dropFirst() == [.timesDerived(missing: 1, frames: 24)])
        #expect(try SourceIndex(decoding: index.encoded()) == index)
        let job = try MediaJob(source, spec: JobSpec(container: .mkv, lossless: true), folder: folder.path)
        #expect(try Decoded(job.output).hashes == Decoded(source).hashes.reversed())
    }

    @Test("a picture that lasts longer than MP4 can say is refused before any work; Matroska holds it")
    func endlessPicture() throws {
        let source = try nut("endless", times: "if(gte(N,12),PTS+3000000000,PTS)")
        let failure = #expect(throws: ReelFailure.self) {
            try MediaJob(source, spec: JobSpec(container: .mp4, videoCodec: "libx264"), folder: folder.path)
        }
        guard case .pictureTooLong(_, let length, .mp4, _) = failure?.reason else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(length > Rational(50_000))
        let job = try MediaJob(source, spec: JobSpec(container: .mkv, lossless: true), folder: folder.path)
        #expect(try Decoded(job.output).hashes == Decoded(source).hashes.reversed())
    }

    @Test("an audio track whose headers are damaged is left out, with a warning; the video is reversed")
    func damagedAudioHeaders() throws {
        let source = try Fixture.make(
            "s.webm", in: folder, frames: 24, video: ["-c:v", "libvpx", "-deadline", "realtime"],
            audio: ["-c:a", "libvorbis"])
        var bytes = try contents(of: source)
        // The three bytes before the first header say how long the headers are.
        let header = try #require(bytes.range(of: Data("\u{1}vorbis".utf8))).lowerBound
        for place in header - 3..<header { bytes[place] = 0 }
        try store(bytes, to: source)
        let job = try MediaJob(source, spec: JobSpec(container: .mkv, lossless: true), folder: folder.path)
        #expect(job.plan.audio.isEmpty)
        #expect(job.warnings == ["stream 1 (audio, vorbis) is left out: nothing of it decodes"])
        #expect(try Decoded(job.output).times.count == 24)
    }

    /// Without it the track's duration is unknown, and its edit list hides most frames.
    @Test("a track without a media header shows what ffmpeg shows of it")
    func missingMediaHeader() throws {
        let source = try Fixture.make(
            "s.mp4", in: folder, frames: 24, video: ["-c:v", "libx264", "-bf", "2", "-pix_fmt", "yuv420p"])
        var bytes = try contents(of: source)
        let header = try #require(bytes.range(of: Data("mdhd".utf8)))
        bytes.replaceSubrange(header, with: Data("mdhl".utf8))
        try store(bytes, to: source)
        let shown = try Decoded(source).hashes
        let job = try MediaJob(source, spec: JobSpec(container: .mkv, lossless: true), folder: folder.path)
        #expect(try Decoded(job.output).hashes == shown.reversed())
        #expect(!shown.isEmpty)
    }

    /// An AAC packet that says that it has 21 channels, of no known layout, of which one follows.
    private static let manyChannels: [UInt8] = {
        var bits = ""
        func add(_ value: Int, _ width: Int) {
            let digits = String(value, radix: 2)
            bits += String(repeating: "0", count: width - digits.count) + digits
        }
        // program_config_element of ISO/IEC 14496-3: a single channel and ten pairs in front.
        for (value, width) in [(5, 3), (0, 4), (1, 2), (5, 4), (11, 4), (0, 4), (0, 4), (0, 2), (0, 3), (0, 4), (0, 3)]
        { add(value, width) }
        for element in 0..<11 { add(element == 0 ? 0 : 16 + element - 1, 5) }
        while bits.count % 8 != 0 { bits += "0" }
        add(0, 8)
        // single_channel_element without any band, then the end.
        for (value, width) in [(0, 3), (0, 4), (100, 8), (0, 1), (0, 2), (0, 1), (0, 6), (0, 1), (0, 3), (7, 3)] {
            add(value, width)
        }
        while bits.count % 8 != 0 { bits += "0" }
        return stride(from: 0, to: bits.count, by: 8).map { place in
            UInt8(bits.dropFirst(place).prefix(8), radix: 2) ?? 0
        }
    }()

    @Test("sound in a format that cannot be converted is silent, with a warning; the rest is reversed")
    func unconvertibleSound() throws {
        let source = try Fixture.make(
            "s.mov", in: folder, frames: 48, video: ["-c:v", "mjpeg"], audio: ["-c:a", "aac", "-b:a", "128k"])
        let places = try probe(source, "packet=pos", streams: "a")
        let place = try #require(places.split(whereSeparator: \.isNewline).dropFirst(8).first.flatMap { Int($0) })
        var bytes = try contents(of: source)
        bytes.replaceSubrange(place..<place + Self.manyChannels.count, with: Self.manyChannels)
        try store(bytes, to: source)
        let job = try MediaJob(source, spec: JobSpec(container: .mkv, lossless: true), folder: folder.path)
        #expect(try Decoded(job.output).times.count == 48)
        #expect(job.warnings.contains { $0.contains("silent") || $0.contains("silence") }, "\(job.warnings)")
    }
}
