import Foundation
import Testing

extension EndToEnd {
    /// Impossible requests are refused with one line and the right code, and leave nothing behind.
    @Suite struct RefusalTests {
        private let fixture: ProcessFixture

        init() throws { fixture = try ProcessFixture() }

        private func expectRefusal(
            _ arguments: [String], code: Int, says words: String..., program: Program = .coordinator,
            environment: [String: String] = [:], sourceLocation: SourceLocation = #_sourceLocation
        ) async throws {
            let before = fixture.names
            let outcome = try await fixture.run(program, arguments, environment: environment)
            #expect(outcome.code == code, "\(outcome.error)", sourceLocation: sourceLocation)
            #expect(outcome.errorLines.count == 1, "\(outcome.error)", sourceLocation: sourceLocation)
            #expect(outcome.output == "", sourceLocation: sourceLocation)
            for word in words {
                #expect(outcome.error.contains(word), "\(outcome.error)", sourceLocation: sourceLocation)
            }
            #expect(fixture.names == before, sourceLocation: sourceLocation)
            #expect(fixture.processes == [], sourceLocation: sourceLocation)
        }

        private func write(_ bytes: Data, as name: String) throws {
            try bytes.write(to: URL(fileURLWithPath: fixture.path(name)))
        }

        /// A PNG file of one pixel.
        private let picture: [UInt8] = [
            0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00, 0x00, 0x0d, 0x49, 0x48, 0x44, 0x52, 0x00, 0x00,
            0x00, 0x01, 0x00, 0x00, 0x00, 0x01, 0x08, 0x00, 0x00, 0x00, 0x00, 0x3a, 0x7e, 0x9b, 0x55, 0x00, 0x00, 0x00,
            0x0a, 0x49, 0x44, 0x41, 0x54, 0x78, 0x9c, 0x63, 0x60, 0x00, 0x00, 0x00, 0x02, 0x00, 0x01, 0x48, 0xaf, 0xa4,
            0x71, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82,
        ]

        @Test func unusableSources() async throws {
            try await expectRefusal(["run", "missing.mp4"], code: 3, says: "missing.mp4")
            try await expectRefusal(["run", "two\nlines.mp4"], code: 3, says: "two\\nlines.mp4", "No such file")
            try await expectRefusal(["submit", "missing.mp4"], code: 3, says: "missing.mp4")
            try await expectRefusal(["plan", "missing.mp4"], code: 3, says: "missing.mp4")
            try FileManager.default.createDirectory(
                atPath: fixture.path("folder.mp4"), withIntermediateDirectories: true)
            try await expectRefusal(["run", "folder.mp4"], code: 3, says: "folder.mp4")
            try write(Data("Dear diary, nothing moved today.\n".utf8), as: "text.mp4")
            try await expectRefusal(["run", "text.mp4"], code: 3, says: "text.mp4")
            try await expectRefusal(["plan", "text.mp4"], code: 3, says: "text.mp4")
            try write(Data(), as: "empty.mkv")
            try await expectRefusal(["run", "empty.mkv"], code: 3, says: "empty.mkv: is empty")
            for url in ["ftp://films/a.mp4", "file:///films/a.mp4"] {
                try await expectRefusal(
                    ["run", url], code: 3, says: "\(url): URLs are not read here; download it first")
            }
            let nowhere = "https://media.invalid/a.mp4"
            try await expectRefusal(
                ["run", nowhere], code: 3, says: "\(nowhere) cannot be read: the name media.invalid has no address")
            try write(Data(picture), as: "still.mp4")
            try await expectRefusal(["run", "still.mp4"], code: 3, says: "still.mp4: is a picture (png), not a video")
        }

        @Test func soundWithoutPicture() async throws {
            let source = try fixture.copy(try await Clips.shared.soundOnly(), as: "sound.mp4")
            try await expectRefusal(["run", source], code: 3, says: "sound.mp4")
        }

        @Test func truncatedWithoutIndex() async throws {
            let whole = try Data(contentsOf: URL(fileURLWithPath: try await Clips.shared.film()))
            try write(whole.prefix(whole.count / 2), as: "cut.mp4")
            try await expectRefusal(["run", "cut.mp4"], code: 3, says: "cut.mp4")
        }

        @Test func impossibleOutputs() async throws {
            let source = try fixture.copy(try await Clips.shared.film(), as: "film.mp4")
            try await expectRefusal(["run", source, "-o", "none/out.mp4"], code: 5, says: "none")
            try write(Data("precious".utf8), as: "out.mp4")
            try await expectRefusal(["run", source, "-o", "out.mp4"], code: 5, says: "out.mp4", "--overwrite")
            try await expectRefusal(["run", source, "-o", "film.mp4", "--overwrite"], code: 5, says: "film.mp4")
            try FileManager.default.createDirectory(atPath: fixture.path("d.mp4"), withIntermediateDirectories: true)
            try await expectRefusal(["run", source, "-o", "d.mp4"], code: 5, says: "d.mp4")
            try await expectRefusal(["run", source, "-o", "/proc/out.mp4"], code: 5, says: "/proc", "-o")
            try await expectRefusal(["run", source, "-o", "out.wmv"], code: 2, says: ".wmv", ".mkv")
        }

        @Test func impossibleCodecs() async throws {
            let source = try fixture.copy(try await Clips.shared.film(), as: "film.mp4")
            try await expectRefusal(["run", source, "-o", "o.mp4", "--video-codec", "h267"], code: 2, says: "h267")
            try await expectRefusal(
                ["run", source, "-o", "o.mp4", "--audio-codec", "shellac"], code: 2, says: "shellac",
                "aac, opus, flac, vorbis, alac, mp3, pcm")
            try await expectRefusal(["run", source, "--preset", "foo"], code: 2, says: "foo", "medium", "--preset")
            try await expectRefusal(["run", source, "--crf", "99"], code: 2, says: "99", "0 to 51", "--crf")
            try await expectRefusal(["run", source, "--profile", "main9"], code: 2, says: "main9", "high422")
            try await expectRefusal(["run", source, "-o", "o.webm", "--video-codec", "libx264"], code: 3, says: "webm")
            try await expectRefusal(["run", source, "-o", "o.mp4", "--lossless"], code: 3, says: "mp4", ".mkv")
        }

        @Test func memoryBelowTheNeed() async throws {
            let source = try fixture.copy(try await Clips.shared.long(), as: "long.mp4")
            try await expectRefusal(["run", source, "--memory", "1MiB"], code: 2, says: "1 MiB")
            try await expectRefusal(["run", source, "--memory-total", "1MiB"], code: 2, says: "64 MiB")
            try await expectRefusal(["run", source, "--memory-total", "70MiB"], code: 2, says: "70 MiB")
            try await expectRefusal(["plan", source, "--memory", "1MiB"], code: 2, says: "1 MiB")
        }

        @Test func boardAndStoreOutOfReach() async throws {
            let source = try fixture.copy(try await Clips.shared.film(), as: "film.mp4")
            let nowhere = "unix://\(fixture.path("no.sock"))"
            let store = ["--store", fixture.path("store")]
            try FileManager.default.createDirectory(atPath: fixture.path("store"), withIntermediateDirectories: true)
            try await expectRefusal(
                ["submit", source, "--redis", nowhere] + store, code: 4, says: "no.sock", "--redis")
            try await expectRefusal(["status", "--redis", nowhere], code: 4, says: "no.sock", "--redis")
            try await expectRefusal(
                ["submit", source, "--redis", "redis://127.0.0.1:1"] + store, code: 4, says: "127.0.0.1:1")
            try await expectRefusal(["submit", source, "--redis", nowhere], code: 4, says: "--store")
            try await expectRefusal(["submit", source, "--store", "/proc/store"], code: 4, says: "/proc/store")
            try await expectRefusal([], code: 4, says: "--store", program: .worker)
            try await expectRefusal(["--store", "/proc/store"], code: 4, says: "/proc/store", program: .worker)
            try await expectRefusal(["--store", "ghost"], code: 4, says: "ghost", "init", program: .worker)
            for command in ["submit", "fetch", "recover", "cancel"] {
                let arguments = command == "recover" ? [] : command == "fetch" ? ["a1", "-o", "o.mp4"] : [source]
                try await expectRefusal([command] + arguments + ["--store", "ghost"], code: 4, says: "ghost", "init")
                try await expectRefusal([command] + arguments + ["--store", ""], code: 2, says: "--store")
            }
            try await expectRefusal(["--store", ""], code: 2, says: "--store", program: .worker)
            let unnamed = try await fixture.run(.worker, [], environment: ["REEL_STORE": ""])
            #expect(unnamed.code == 2 && unnamed.error.contains("REEL_STORE"), "\(unnamed.error)")
            #expect(!fixture.names.contains("ghost") && !fixture.names.contains("jobs"))
            try write(Data(), as: "file")
            try await expectRefusal(["--store", "file"], code: 4, says: "file", program: .worker)
        }

        @Test func wrongUsage() async throws {
            let source = try fixture.copy(try await Clips.shared.film(), as: "film.mp4")
            try await expectRefusal(["run"], code: 2, says: "source")
            try await expectRefusal(["run", source, "--colour", "2"], code: 2, says: "--colour")
            try await expectRefusal(["run", source, "--speed", "17"], code: 2, says: "--speed", "17")
            try await expectRefusal(["run", source, source, "-o", "o.mp4"], code: 2, says: "--output-dir", "--stitch")
            try await expectRefusal(["run", "cut.json", "--stitch"], code: 2, says: "--stitch", "cut.json")
            try await expectRefusal(["run", "cut.json", "--play", "forward"], code: 2, says: "--play")
            try await expectRefusal(["revrese", source], code: 2, says: "revrese")
            try await expectRefusal(["run", source, "--memory", "lots"], code: 2, says: "lots")
            try await expectRefusal(["run", source, "--from", "3", "--to", "2"], code: 2, says: "--to")
            try await expectRefusal(["run", source, "--from", "99"], code: 2, says: "--from")
            try await expectRefusal(["run", source, "--from", "90s"], code: 2, says: "90s", "00:01:30:15", "2715f")
            try await expectRefusal(["run", source, "--to", "1", "--duration", "1"], code: 2, says: "--duration")
            try await expectRefusal(["run", source, "--duration", "0f"], code: 2, says: "--duration must be above 0")
            try await expectRefusal(["run", source, "--from", "00:00:00:77"], code: 2, says: "00:00:00:77", "at most")
            try await expectRefusal(["run", source, "--crf", "abc"], code: 2, says: "abc", "22.5")
            try await expectRefusal(["run", source, "--bitrate", "5Mbit"], code: 2, says: "5Mbit", "800k")
            try await expectRefusal(["run", source, "--audio-bitrate", "loud"], code: 2, says: "loud", "192k")
            try await expectRefusal(["run", source, "--lossless", "--crf", "20"], code: 2, says: "--crf")
            try await expectRefusal(["run", source, "--video-codec", "lib x264;"], code: 2, says: "--video-codec")
            for options in [["--audio", "keep"], ["--timestamps", "source"], ["--crossfade", "1"]] {
                try await expectRefusal(["run", source, "--play", "ping-pong"] + options, code: 2, says: options[0])
            }
            try await expectRefusal(["run", source, "--play", "sideways"], code: 2, says: "ping-pong")
            try await expectRefusal(["run", source, "--soundtrack-from", "1"], code: 2, says: "--soundtrack")
            let mute = ["run", source, "--soundtrack", source, "--audio", "none"]
            try await expectRefusal(mute, code: 2, says: "--audio none and --soundtrack exclude each other")
            try await expectRefusal(["run", source, "--times", "0"], code: 2, says: "--times", "10000")
            try await expectRefusal(["run", source, "--turn", "twice"], code: 2, says: "--play ping-pong")
            try await expectRefusal(["run", source, "--turn", "once"], code: 2, says: "--play ping-pong")
            try await expectRefusal(["run", source, "--play", "forward", "--from", "99"], code: 2, says: "--from")
            try await expectRefusal(
                ["submit", source, "-o", "x.mp4", "--container", "mkv"], code: 2, says: "--container")
            try await expectRefusal(["--slots", "0"], code: 2, says: "--slots", program: .worker)
            try await expectRefusal(["--slots", "1025"], code: 2, says: "1 to 1024", program: .worker)
            try await expectRefusal(["run", source, "--slots", "1000000"], code: 2, says: "1 to 1024")
            try await expectRefusal(["run", source, "--threads", "129"], code: 2, says: "--threads", "1 to 128")
            try await expectRefusal(["status", "--redis", "http://x"], code: 2, says: "http")
        }

        @Test("help of run has the options of nearly everyone; --help-all has all of them")
        func helpIsBrief() async throws {
            for command in ["run", "submit", "plan"] {
                let brief = try await fixture.run(.coordinator, [command, "--help"])
                let all = try await fixture.run(.coordinator, [command, "--help-all"])
                #expect(brief.code == 0 && all.code == 0 && brief.error == "" && all.error == "")
                #expect(brief.output.contains("--play") && all.output.contains("--play"))
                #expect(!brief.output.contains("--pass-frames") && all.output.contains("--pass-frames"))
                #expect(brief.output.contains("more options: --help-all"))
                #expect(all.output.contains("PICTURES AND SOUND:") && !brief.output.contains("PICTURES AND SOUND:"))
            }
        }

        @Test func helpIsNotAnError() async throws {
            let outcome = try await fixture.run(.coordinator, ["--help"])
            #expect(outcome.code == 0)
            #expect(outcome.error == "")
            let commands = outcome.output.split(whereSeparator: \.isNewline).drop { $0 != "SUBCOMMANDS:" }.dropFirst()
                .compactMap { $0.hasPrefix("  ") && !$0.hasPrefix("   ") ? $0.split(separator: " ").first : nil }
            #expect(
                commands == [
                    "run,", "ui", "submit", "plan", "status", "queue", "workers", "wait", "fetch", "verify", "cancel",
                    "retry",
                    "pause", "resume", "weigh", "remove", "drain", "undrain", "recover", "init", "See",
                ])
        }
    }
}
