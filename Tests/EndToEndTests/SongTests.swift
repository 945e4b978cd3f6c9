import Foundation
import Testing

extension EndToEnd {
    /// Files of sound, by the commands.
    @Suite struct SongTests {
        private let fixture: ProcessFixture

        init() throws { fixture = try ProcessFixture() }

        private func song(_ name: String, _ options: [String] = []) async throws -> String {
            let made = try await fixture.run(
                .ffmpeg,
                ["-v", "error", "-f", "lavfi", "-i", "aevalsrc=random(0)-0.5|random(1)-0.5:s=44100:d=3"] + options
                    + ["-metadata", "title=A Song", fixture.path(name)])
            try #require(made.code == 0, "\(made.error)")
            return fixture.path(name)
        }

        /// Samples of 16 bits for two channels.
        private func samples(_ path: String) async throws -> [UInt32] {
            let raw = fixture.path("samples")
            let made = try await fixture.run(
                .ffmpeg, ["-v", "error", "-y", "-i", path, "-f", "s16le", "-c:a", "pcm_s16le", raw])
            try #require(made.code == 0, "\(made.error)")
            let data = try Data(contentsOf: URL(fileURLWithPath: raw))
            return data.withUnsafeBytes { bytes in
                stride(from: 0, to: bytes.count - 3, by: 4).map {
                    bytes.loadUnaligned(fromByteOffset: $0, as: UInt32.self)
                }
            }
        }

        @Test("a song is reversed beside itself, and a farm makes the same bytes")
        func reversed() async throws {
            let source = try await song("song.flac", ["-sample_fmt", "s16"])
            let ran = try await fixture.run(.coordinator, ["run", source])
            #expect(ran.code == 0, "\(ran.error)")
            #expect(ran.error.contains("wrote \(fixture.path("song.reversed.flac")): sound in "), "\(ran.error)")
            let (before, after) = (
                try await samples(source), try await samples(fixture.path("song.reversed.flac"))
            )
            #expect(before.count == 3 * 44_100 && after == before.reversed())
            try await Fleet.with(fixture, workers: 2) { fleet in
                let farmed = try await fleet.coordinator(["submit", source, "--wait", "-o", fixture.path("farm.flac")])
                #expect(farmed.code == 0, "\(farmed.error)")
                let files = FileManager.default
                #expect(
                    files.contentsEqual(atPath: fixture.path("song.reversed.flac"), andPath: fixture.path("farm.flac")))
                let status = try await fleet.coordinator(["status", "@"])
                #expect(status.code == 0 && status.output.contains("done"), "\(status.error)")
            }
        }

        @Test("ranges, loops, other formats, a soundless output, and what a song cannot be")
        func options() async throws {
            let source = try await song("song.wav")
            let all = try await samples(source)
            let cut = try await fixture.run(
                .coordinator, ["run", source, "--from", "1", "--to", "1.5", "--play", "ping-pong", "-o", "cut.wav"])
            #expect(cut.code == 0, "\(cut.error)")
            let forth = Array(all[44_100..<66_150])
            #expect(try await samples(fixture.path("cut.wav")) == forth + forth.reversed())
            for name in ["song.mp3", "song.m4a", "song.ogg", "song.opus"] {
                let made = try await fixture.run(.coordinator, ["run", source, "-o", name])
                #expect(made.code == 0, "\(made.error)")
            }
            let plan = try await fixture.run(.coordinator, ["plan", source])
            #expect(plan.code == 0)
            #expect(plan.output.contains("\nlength   3.000 s\n") && !plan.output.contains("frame"), "\(plan.output)")
            for (options, code, words) in [
                (
                    ["-o", "song.mp4"], 3,
                    "has no video; write .m4a, .mp3, .flac, .wav, .ogg or .opus for its sound alone"
                ),
                (["--from", "10f"], 2, "10f counts frames, and a file of sound has none: give seconds"),
                (["--crf", "20"], 2, "--crf"), (["--audio", "none"], 2, "--audio"),
            ] {
                let refused = try await fixture.run(.coordinator, ["run", source, "--overwrite"] + options)
                #expect(
                    refused.code == code && refused.error.contains(words),
                    "\(options): \(refused.code) \(refused.error)")
            }
        }
    }
}
