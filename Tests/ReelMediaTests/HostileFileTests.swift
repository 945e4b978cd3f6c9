import Foundation
import ReelCore
import ReelMedia
import Testing

/// Files that are damaged, or made to break their reader.
@Suite("Hostile files")
struct HostileFileTests {
    private let folder: ScratchFolder

    init() throws {
        Media.prepare()
        folder = try ScratchFolder()
    }

    /// 24 pictures at 24000/1001, some of whose times a bitstream filter changes.
    private func nut(_ name: String, times expression: String) throws -> String {
        let source = try Fixture.make("\(name).mov", in: folder, frames: 24, video: ["-c:v", "mjpeg"])
        let path = "\(folder.path)/\(name).nut"
        let times = expression.replacing(",", with: "\\,")
        try run("ffmpeg", "-v", "error", "-i", source, "-c", "copy", "-bsf:v", "setts=pts=\(times):dts=\(times)", path)
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

    @Test("an audio track whose headers are damaged is left out, with a warning; the video is reversed")
    func damagedAudioHeaders() throws {
        let source = try Fixture.make(
            "s.webm", in: folder, frames: 24, video: ["-c:v", "libvpx", "-deadline", "realtime"],
            audio: ["-c:a", "libvorbis"])
        var bytes = try Data(contentsOf: URL(fileURLWithPath: source))
        // The three bytes before the first header say how long the headers are.
        let header = try #require(bytes.range(of: Data("\u{1}vorbis".utf8))).lowerBound
        for place in header - 3..<header { bytes[place] = 0 }
        try bytes.write(to: URL(fileURLWithPath: source))
        let job = try MediaJob(source, spec: JobSpec(container: .mkv, lossless: true), folder: folder.path)
        #expect(job.plan.audio.isEmpty)
        #expect(job.warnings == ["stream 1 (audio, vorbis) is left out: nothing of it decodes"])
        #expect(try Decoded(job.output).times.count == 24)
    }
}
