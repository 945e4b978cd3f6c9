import Foundation
import ReelCore
import ReelTestSupport
import Testing

extension EndToEnd {
    /// `reel-coordinator run`, when all goes well.
    @Suite struct RunTests {
        private let fixture: ProcessFixture

        init() throws { fixture = try ProcessFixture() }

        @Test("a file on standard input is reversed as any other; a pipe is refused with what to do")
        func standardInput() async throws {
            let source = try fixture.copy(try await Clips.shared.film(), as: "film.mp4")
            let command = "\(Program.folder)/reel-coordinator run /dev/stdin -o"
            let file = try await fixture.run(.at("/bin/sh"), ["-c", "\(command) out.mov --lossless <film.mp4"])
            #expect(file.code == 0, "\(file.error)")
            try await fixture.expectExactlyReversed(source, fixture.path("out.mov"))
            let pipe = try await fixture.run(.at("/bin/sh"), ["-c", "cat film.mp4 | \(command) none.mov"])
            #expect(pipe.code == 3)
            #expect(pipe.error.contains("/dev/stdin is not a regular file"), "\(pipe.error)")
        }

        @Test("a GIF of many pictures takes no more memory than its plan states")
        func memoryOfPictures() async throws {
            let source = fixture.path("gray.mp4")
            let gray = ["-v", "error", "-f", "lavfi", "-i", "color=gray:s=640x360:r=30:d=40", "-preset", "ultrafast"]
            #expect(try await fixture.run(.ffmpeg, gray + [source]).code == 0)
            let outcome = try await fixture.run(.coordinator, ["run", source, "-o", "gray.gif", "--json"])
            #expect(outcome.code == 0, "\(outcome.error)")
            struct Facts: Decodable { let frames, need, peakRSS: Int }
            let line = try #require(outcome.output.split(separator: "\n").last)
            let facts = try JSONDecoder().decode(Facts.self, from: Data(line.utf8))
            // All 1200 at once would be 1.1 GB.
            #expect(facts.frames == 1200 && facts.need < 900 << 20)
            #expect(facts.peakRSS <= facts.need, "\(facts)")
        }

        @Test("windows of unequal lengths take no more memory than the plan states")
        func memoryOfUnequalWindows() async throws {
            let source = fixture.path("gray.mp4")
            let gray = ["-v", "error", "-f", "lavfi", "-i", "color=gray:s=1920x1080:r=24000/1001", "-frames:v", "600"]
            let groups = ["-preset", "ultrafast", "-g", "600", "-force_key_frames", "2.4,9.6,11.2,19.2,20.4", source]
            #expect(try await fixture.run(.ffmpeg, gray + groups).code == 0)
            let outcome = try await fixture.run(
                .coordinator,
                ["run", source, "-o", "out.mkv", "--crf", "30", "--slots", "1", "--pass-frames", "600", "--json"])
            #expect(outcome.code == 0, "\(outcome.error)")
            let view = try JSONDecoder().decode(JobJSON.self, from: Data(outcome.output.utf8))
            #expect(view.frames == 600 && view.passesDone == 1 && view.failures.isEmpty)
            #expect(view.peakRSS <= view.need)
        }

        @Test("a WebP takes no more memory than its plan states", arguments: [[], ["--lossless"]])
        func memoryOfWebP(options: [String]) async throws {
            let source = fixture.path("noise.mkv")
            let noise = ["-v", "error", "-f", "lavfi", "-i", "color=gray:s=1280x720:r=25,noise=alls=100:allf=t"]
            #expect(try await fixture.run(.ffmpeg, noise + ["-frames:v", "6", "-c:v", "ffv1", source]).code == 0)
            let outcome = try await fixture.run(
                .coordinator, ["run", source, "-o", "noise.webp", "--json", "--pass-frames", "3"] + options)
            #expect(outcome.code == 0, "\(outcome.error)")
            struct Facts: Decodable { let frames, need, peakRSS: Int }
            let line = try #require(outcome.output.split(separator: "\n").last)
            let facts = try JSONDecoder().decode(Facts.self, from: Data(line.utf8))
            #expect(facts.frames == 6 && facts.peakRSS <= facts.need, "\(facts)")
        }

        @Test(
            "an output has nearly the size that was asked for, sound and all, and never more",
            arguments: [
                ("mp4", 700_000, ["--preset", "veryfast"]),
                ("mkv", 400_000, ["--preset", "veryfast", "--play", "ping-pong"]),
                ("mp4", 1_000_000, ["--video-codec", "libx265", "--preset", "ultrafast", "--pass-frames", "60"]),
            ])
        func sizes(container: String, most: Int, options: [String]) async throws {
            let source = fixture.path("noise.mp4")
            let inputs = [
                "testsrc2=size=320x180:rate=30000/1001,noise=alls=20:allf=t",
                "anoisesrc=a=0.2:c=pink:r=44100",
            ].flatMap { ["-f", "lavfi", "-i", $0] }
            let made = ["-t", "8.008", "-preset", "ultrafast", "-pix_fmt", "yuv420p", "-c:a", "aac", source]
            #expect(try await fixture.run(.ffmpeg, ["-v", "error"] + inputs + made).code == 0)
            for slots in ["1", "2"] {
                let output = "small\(slots).\(container)"
                let outcome = try await fixture.run(
                    .coordinator,
                    ["run", source, "-o", output, "--max-size", "\(most)", "--slots", slots, "--threads", "1"] + options
                )
                #expect(outcome.code == 0, "\(outcome.error)")
                let bytes = try Data(contentsOf: URL(fileURLWithPath: fixture.path(output)))
                #expect(bytes.count <= most && bytes.count >= most * 95 / 100, "\(bytes.count) of \(most)")
            }
            let again = try await fixture.run(
                .coordinator, ["run", source, "-o", "none.mp4", "--max-size", "5kB", "--slots", "1"])
            #expect(again.code == 2 && again.error.contains("is too small for this"), "\(again.error)")
        }

        @Test(
            "an output that is much larger than its source comes with the way to a smaller one, unless it was asked for"
        )
        func sizesCompared() async throws {
            let source = fixture.path("coarse.mp4")
            let noise = ["-v", "error", "-f", "lavfi", "-i", "testsrc2=size=320x180:rate=25,noise=alls=30:allf=t"]
            #expect(try await fixture.run(.ffmpeg, noise + ["-frames:v", "25", "-crf", "45", source]).code == 0)
            let usual = try await fixture.run(.coordinator, ["run", source, "-o", "usual.mp4"])
            #expect(
                usual.error.contains(
                    /the source has [\d.]+ KiB, and --bitrate source or --max-size make the output smaller\n/),
                "\(usual.error)")
            let asked = try await fixture.run(.coordinator, ["run", source, "-o", "asked.mp4", "--crf", "18"])
            #expect(asked.code == 0 && asked.error.contains(/the source has [\d.]+ KiB\n/), "\(asked.error)")
        }

        @Test("--for makes an output that plays everywhere, whatever the source has, and no other container")
        func purposes() async throws {
            let source = fixture.path("odd.webm")
            let inputs = ["testsrc2=size=321x181:rate=120", "sine=440:r=48000"].flatMap { ["-f", "lavfi", "-i", $0] }
            let coded = [
                "-t", "2", "-c:v", "libvpx-vp9", "-deadline", "realtime", "-pix_fmt", "yuv444p", "-c:a", "libopus",
            ]
            #expect(try await fixture.run(.ffmpeg, ["-v", "error"] + inputs + coded + [source]).code == 0)
            for (purpose, most) in [("web", Int.max), ("discord", 10_000_000)] {
                let outcome = try await fixture.run(
                    .coordinator, ["run", source, "--for", purpose, "--preset", "veryfast", "--suffix", "." + purpose])
                #expect(outcome.code == 0, "\(outcome.error)")
                let made = fixture.path("odd.\(purpose).mp4")
                let facts = try await fixture.run(
                    .ffprobe,
                    [
                        "-v", "error", "-show_entries", "stream=codec_name,profile,width,height,pix_fmt,nb_frames",
                        "-of",
                        "csv=p=0", made,
                    ])
                let lines = facts.output.split(whereSeparator: \.isNewline)
                #expect(
                    lines.first == "h264,High,320,180,yuv420p,120" && lines.last?.hasPrefix("aac,LC,") == true,
                    "\(lines)")
                #expect(try Data(contentsOf: URL(fileURLWithPath: made)).count <= most)
            }
            for (arguments, words) in [
                (
                    ["-o", "out.mkv", "--for", "web"],
                    "a .mkv file has no form for the web and for services; write .mp4"
                ),
                (["--for", "web", "--lossless"], "--for and --lossless exclude each other"),
                (["--for", "discord", "--max-size", "5MB"], "--for and --max-size exclude each other"),
            ] {
                let refused = try await fixture.run(.coordinator, ["run", source] + arguments)
                #expect(refused.code == 2 && refused.error.contains(words), "\(refused.error)")
            }
        }

        @Test("what people type who know other programs is answered by what they mean, before any work")
        func asTyped() async throws {
            _ = try fixture.copy(try await Clips.shared.film(), as: "film.mp4")
            let cases = [
                (["film.mp4", "out.mp4"], "there is no out.mp4; if it is to be the output, name it with -o: -o out"),
                (["film.mp4", "-c:v", "libx264"], "Unknown option '-c:v': here it is --video-codec"),
                (["film.mp4", "-crf", "20"], "Unknown option '-crf': here it is --crf"),
                (["film.mp4", "-ss", "1"], "Unknown option '-ss': here it is --from"),
                (["film.mp4", "--boomerang"], "Unknown option '--boomerang': here it is --play ping-pong"),
                (["film.mp4", "-y"], "Unknown option '-y': here it is --overwrite"),
            ]
            for (arguments, words) in cases {
                let outcome = try await fixture.run(.coordinator, ["run"] + arguments)
                #expect(outcome.code == 2 && outcome.error.contains(words), "\(outcome.error)")
            }
            #expect(fixture.names == ["film.mp4"])
        }

        @Test func losslessIsExact() async throws {
            let source = try fixture.copy(try await Clips.shared.film(), as: "film.mp4")
            let outcome = try await fixture.run(
                .coordinator, ["run", source, "-o", "out.mov", "--lossless", "--pass-frames", "25"])
            #expect(outcome.code == 0, "\(outcome.error)")
            #expect(outcome.output == "")
            #expect(fixture.names == ["film.mp4", "out.mov"])
            #expect(try await fixture.isQuiet())
            try await fixture.expectExactlyReversed(source, fixture.path("out.mov"))

            let before = try await fixture.samples(of: source, channels: 2)
            let after = try await fixture.samples(of: fixture.path("out.mov"), channels: 2)
            #expect(before[0].count > 44100 * 4)
            #expect(after == before.map { $0.reversed() })
        }

        @Test func defaultsKeepContainerAndCodecs() async throws {
            let source = try fixture.copy(try await Clips.shared.film(), as: "My Film.MP4")
            let outcome = try await fixture.run(.coordinator, ["run", "My Film.MP4", "--json"])
            #expect(outcome.code == 0, "\(outcome.error)")
            let output = fixture.path("My Film.reversed.mp4")
            #expect(outcome.error.contains(/: 120 frames in 0:\d\d, [\d.]+ KiB; the source has [\d.]+ KiB\n/))
            #expect(fixture.names == ["My Film.MP4", "My Film.reversed.mp4"])

            let view = try JSONDecoder().decode(JobJSON.self, from: Data(outcome.output.utf8))
            #expect(view.state == "done")
            #expect(view.frames == 120)
            #expect(view.framesDecoded >= 120)
            #expect(view.output == output)
            #expect(view.peakRSS > 1 << 20)

            let order = nearest(
                try await fixture.thumbnails(of: output), among: try await fixture.thumbnails(of: source))
            #expect(order == Array((0..<120).reversed()))
            let times = try await fixture.frames(of: output).map(\.start)
            #expect(times == (0..<120).map { Rational($0 * 1001, 24000) })
            let codecs = try await fixture.run(
                .ffprobe, ["-v", "error", "-show_entries", "stream=codec_name", "-of", "csv=p=0", output])
            #expect(codecs.output == "h264\naac\n")
        }

        @Test("a pass takes no more memory than the plan states, however many packets it reads")
        func memoryIsCapped() async throws {
            // 249 MB of packets, several times what a pass may take; one engine reads them all.
            let source = fixture.path("large.nut")
            let made = try await fixture.run(
                .ffmpeg,
                ["-v", "error", "-f", "lavfi", "-i", "testsrc2=size=640x360:rate=24000/1001", "-frames:v", "720"]
                    + ["-c:v", "rawvideo", "-pix_fmt", "yuv420p", source])
            #expect(made.code == 0, "\(made.error)")
            let outcome = try await fixture.run(
                .coordinator,
                ["run", source, "-o", "out.mkv", "--video-codec", "mjpeg", "--slots", "1", "--pass-frames", "24"]
                    + ["--json"])
            #expect(outcome.code == 0, "\(outcome.error)")
            let view = try JSONDecoder().decode(JobJSON.self, from: Data(outcome.output.utf8))
            #expect(view.passesDone == 30)
            #expect(view.peakRSS < view.need)
        }

        @Test(
            "small pictures beside long sound take no more memory than the plan states", arguments: ["reverse", "keep"])
        func memoryOfSound(audio: String) async throws {
            let source = fixture.path("long.mp4")
            let seconds = Thoroughness.isAll ? 400 : 200
            let made = try await fixture.run(
                .ffmpeg,
                ["-v", "error", "-f", "lavfi", "-i", "testsrc2=size=64x36:rate=2:duration=\(seconds)"]
                    + ["-f", "lavfi", "-i", "sine=r=48000:d=\(seconds)", "-map", "0:v", "-map", "1:a", "-map", "1:a"]
                    + ["-c:v", "libx264", "-preset", "ultrafast", "-c:a", "aac", source])
            #expect(made.code == 0, "\(made.error)")
            let outcome = try await fixture.run(
                .coordinator, ["run", source, "-o", "out.mp4", "--audio", audio, "--slots", "1", "--json"])
            #expect(outcome.code == 0, "\(outcome.error)")
            let view = try JSONDecoder().decode(JobJSON.self, from: Data(outcome.output.utf8))
            #expect(view.peakRSS < view.need)
        }

        @Test("the same plan gives the same bytes, whatever was in memory before")
        func memoryDecidesNothing() async throws {
            let source = try fixture.copy(try await Clips.shared.film(), as: "film.mp4")
            var outputs: Set<Data> = []
            for filling in ["0", "90", "165"] {
                let outcome = try await fixture.run(
                    .coordinator, ["run", source, "-o", "out.mp4", "--overwrite", "--pass-frames", "60"],
                    environment: ["MALLOC_PERTURB_": filling])
                #expect(outcome.code == 0, "\(outcome.error)")
                outputs.insert(try Data(contentsOf: URL(fileURLWithPath: fixture.path("out.mp4"))))
            }
            #expect(outputs.count == 1)
        }

        @Test("a source of whole frames is copied by the assembly alone", arguments: [true, false])
        func packetsAreCopied(hasSound: Bool) async throws {
            let source = fixture.path("source.mov")
            let made = try await fixture.run(
                .ffmpeg,
                ["-v", "error", "-f", "lavfi", "-i", "testsrc2=size=96x64:rate=24000/1001"]
                    + ["-f", "lavfi", "-i", "aevalsrc=0.4*sin(2*PI*t*(220+60*t)):d=3.003:s=32000"]
                    + ["-frames:v", "72", "-c:v", "prores_ks", "-c:a", "pcm_s16le"] + (hasSound ? [] : ["-an"])
                    + [source])
            try #require(made.code == 0, "\(made.error)")
            let outcome = try await fixture.run(.coordinator, ["run", source, "-o", "out.mov", "--json"])
            #expect(outcome.code == 0, "\(outcome.error)")
            let view = try JSONDecoder().decode(JobJSON.self, from: Data(outcome.output.utf8))
            #expect((view.passes, view.passesDone) == (hasSound ? (1, 1) : (0, 0)))
            #expect((view.frames, view.framesDecoded, view.framesEncoded) == (72, 0, 72))
            #expect(fixture.names == ["out.mov", "source.mov"])
            try await fixture.expectExactlyReversed(source, fixture.path("out.mov"))
            guard hasSound else { return }
            let before = try await fixture.samples(of: source, channels: 1)
            #expect(try await fixture.samples(of: fixture.path("out.mov"), channels: 1) == before.map { $0.reversed() })
        }

        /// Without sound nothing is known of the segments when the assembly begins.
        @Test("an encoder that the user names and reel does not list does the job")
        func unlistedEncoder() async throws {
            let source = try fixture.copy(try await Clips.shared.film(), as: "film.mp4")
            let outcome = try await fixture.run(
                .coordinator, ["run", source, "-o", "out.mkv", "--video-codec", "mpeg4", "--to", "1"])
            #expect(outcome.code == 0, "\(outcome.error)")
            let codecs = try await fixture.run(
                .ffprobe,
                ["-v", "error", "-show_entries", "stream=codec_name", "-select_streams", "v", "-of", "csv=p=0"]
                    + [fixture.path("out.mkv")])
            #expect(codecs.output == "mpeg4\n")
        }

        @Test func silentWithReordering() async throws {
            let source = try await Clips.shared.long()
            let outcome = try await fixture.run(
                .coordinator,
                [
                    "run", source, "-o", "out.mkv", "--video-codec", "libx265", "--preset", "ultrafast",
                    "--pass-frames", "100",
                ])
            #expect(outcome.code == 0, "\(outcome.error)")
        }

        @Test func manyThreads() async throws {
            let source = try fixture.copy(try await Clips.shared.film(), as: "film.mp4")
            let outcome = try await fixture.run(
                .coordinator, ["run", source, "-o", "out.nut", "--lossless", "--audio", "none", "--threads", "64"])
            #expect(outcome.code == 0, "\(outcome.error)")
            try await fixture.expectExactlyReversed(source, fixture.path("out.nut"))
        }

        @Test func partOfAFilm() async throws {
            let source = try fixture.copy(try await Clips.shared.film(), as: "film.mp4")
            let outcome = try await fixture.run(
                .coordinator,
                ["run", source, "-o", "out.nut", "--lossless", "--audio", "none"]
                    + ["--from", "1.001", "--to", "00:00:02.002"])
            #expect(outcome.code == 0, "\(outcome.error)")
            let before = try await fixture.frames(of: source)[24..<48]
            let after = try await fixture.frames(of: fixture.path("out.nut"))
            #expect(after.map(\.hash) == before.reversed().map(\.hash))
            #expect(after.map(\.start) == (0..<24).map { Rational($0 * 1001, 24000) })
        }

        @Test func overwritesOnlyWhenAsked() async throws {
            let source = try fixture.copy(try await Clips.shared.film(), as: "film.mp4")
            try Data("precious".utf8).write(to: URL(fileURLWithPath: fixture.path("out.mkv")))
            let command = ["run", source, "-o", "out.mkv", "--lossless", "--audio", "none", "--to", "1"]
            #expect(try await fixture.run(.coordinator, command).code == 5)
            #expect(try Data(contentsOf: URL(fileURLWithPath: fixture.path("out.mkv"))) == Data("precious".utf8))
            let second = try await fixture.run(.coordinator, command + ["--overwrite"])
            #expect(second.code == 0, "\(second.error)")
            #expect(try await fixture.frames(of: fixture.path("out.mkv")).count == 24)
            #expect(fixture.names == ["film.mp4", "out.mkv"])
        }

        @Test func progressIsALineAStepWithoutATerminal() async throws {
            let source = try fixture.copy(try await Clips.shared.film(), as: "film.mp4")
            let outcome = try await fixture.run(.coordinator, ["run", source, "-o", "out.mp4", "--to", "2"])
            let steps = outcome.errorLines.filter { $0.contains(" %, ") }
            #expect(!steps.isEmpty)
            #expect(steps.allSatisfy { $0.hasPrefix("reel-coordinator: ") && $0.contains(" of 48 frames") })
            #expect(!outcome.error.contains("\r"))
            #expect(
                outcome.errorLines.last?.hasPrefix("reel-coordinator: wrote \(fixture.path("out.mp4")): 48 frames in")
                    == true)
        }
    }
}

/// What the tests read of a job's JSON (docs/json.md).
struct JobJSON: Decodable {
    struct Failure: Decodable {
        var index: Int
        var attempts: [String: Int]
        var lastMessage: String
    }

    var id: String
    var state: String
    var frames: Int
    var framesDecoded: Int
    var framesEncoded: Int
    var passes: Int
    var passesDone: Int
    var passesLive: Int
    var need: Int64
    var peakRSS: Int64
    var warnings: [String]
    var failure: String?
    var failures: [Failure]
    var output: String?
}
