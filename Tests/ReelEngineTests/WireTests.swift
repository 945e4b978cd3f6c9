import Foundation
import ReelCore
import ReelEngine
import ReelTestSupport
import Testing

/// What goes over the wire between programs of one release, but also of two while one is being installed.
@Suite("The wire")
struct WireTests {
    private let job = JobFiles(
        sources: [SourceFiles(source: "/media/one two.mp4", index: "/store/index")], plan: "/store/plan.json")

    private var pass: PassRequest {
        PassRequest(
            job: job, pass: 3, chunks: 4, segments: "/store/segments", token: "7e", finishedChunks: [0, 2],
            scratch: "/tmp")
    }

    private var video: VideoTarget {
        .encode(
            VideoEncoding(
                encoder: "libx264",
                format: OutputFormat(
                    timeBase: TimeBase(1, 30000), width: 1280, height: 720, pixelFormat: "yuv420p",
                    frameRate: Rational(30000, 1001)),
                options: [MediaOption(name: "preset", value: "medium")], bitrate: .constant(2_000_000), threads: 2,
                keyFrameInterval: 250,
                identity: EncoderIdentity(build: "libx264 Lavc59.37.100", extradataHash: "e3b0")))
    }

    private var audio: AudioTarget {
        AudioTarget(
            track: 0, direction: .forwards, encoder: "aac", sampleRate: 48000, channelLayout: "stereo",
            bitrate: 192_000,
            lossless: false)
    }

    @Test("Requests go over the wire as they ever did, and are read back")
    func requests() throws {
        let spec = JobSpec(container: .mkv, videoCodec: "libx264", crf: 20, from: Rational(3, 2))
        let planner = Planner(slots: 4, memory: MemoryRequest(budget: 1 << 30, limit: 2 << 30))
        try compare(
            [
                .recon(ReconRequest(source: job.sources[0].source, index: job.sources[0].index, limit: 1 << 20)),
                .recon(ReconRequest(source: job.sources[0].source, index: job.sources[0].index)),
                .choose(ChooseRequest(index: job.sources[0].index, spec: spec, planner: planner)),
                .reverse(pass), .reverseAudio(pass),
                .assemble(
                    AssembleRequest(
                        job: job, segments: "/store/segments", list: "/tmp/list", output: "/store/out.mkv.part")),
            ] as [EngineRequest], "requests.json")
    }

    @Test("Events go over the wire as they ever did, and are read back")
    func events() throws {
        let diagnostics: [Diagnostic] = [.soundNotHeard(track: 1)]
        try compare(
            [
                .ready(EngineIdentity(version: 5, encoders: ["libx264 Lavc59.37.100"])),
                .progress(EngineProgress(decoded: 7, encoded: 5, firstFrame: 240, endFrame: 480)),
                .result(.recon(ReconResult(indexHash: "e3b0"))),
                .result(.targets(TargetsResult(video: video, audio: [audio], diagnostics: diagnostics))),
                .result(
                    .pass(
                        PassResult(
                            segments: [], statistics: PassStatistics(framesEncoded: 240), diagnostics: diagnostics))),
                .result(
                    .assembly(
                        AssemblyResult(
                            bytes: 1 << 20, checksum: "ab12", packets: 480, peakRSS: 1 << 28, diagnostics: diagnostics))
                ),
                .failure(ReelFailure(.segmentMissing(segment: "v0-240", pass: 2))),
            ] as [EngineEvent], "events.json")
    }

    @Test("The version is that of these files")
    func version() { #expect(Wire.version == 8) }

    /// Compares the lines with a file, which REEL_WRITE_GOLDEN=1 writes anew; and what is read back with them.
    private func compare<Message: Codable>(_ messages: [Message], _ name: String) throws {
        let lines = try Golden.lines(messages)
        let read = try lines.split(separator: "\n").map { try JSONDecoder().decode(Message.self, from: Data($0.utf8)) }
        #expect(try Golden.lines(read) == lines)
        try Golden.expect(lines, is: name)
    }
}
