import Foundation
import ReelCore
import Testing

extension EndToEnd {
    /// Timelines of OpenTimelineIO: rendered, refused, written, and read back.
    @Suite struct TimelineTests {
        private struct PlanJSON: Decodable, Equatable {
            struct Clip: Decodable, Equatable {
                var source: Int?
                var firstFrame: Int
                var endFrame: Int
                var direction: String
                var seconds: Double
            }

            var clips: [Clip]
            var frames: Int
            var seconds: Double
        }

        private func plan(_ fixture: ProcessFixture, _ arguments: [String]) async throws -> String {
            let outcome = try await fixture.run(.coordinator, ["plan", "--json"] + arguments)
            #expect(outcome.code == 0, "\(outcome.error)")
            return outcome.output
        }

        /// An item of a film of 24000/1001 frames a second, whose own clock begins at one hour.
        private func item(_ name: String, _ first: Int, _ frames: Int, effect: String = "") -> String {
            func time(_ value: Int) -> String { #"{"OTIO_SCHEMA":"RationalTime.1","rate":23.98,"value":\#(value).0}"# }
            func range(_ start: Int, _ length: Int) -> String {
                #"{"OTIO_SCHEMA":"TimeRange.1","duration":\#(time(length)),"start_time":\#(time(start))}"#
            }
            let hour = 86_400
            return #"""
                {"OTIO_SCHEMA":"Clip.1","name":"\#(name)","source_range":\#(range(hour + first, frames)),
                "effects":[\#(effect)],"media_reference":{"OTIO_SCHEMA":"ExternalReference.1",
                "target_url":"film.mp4","available_range":\#(range(hour, 120))}}
                """#
        }

        private func timeline(_ items: [String]) -> String {
            #"""
            {"OTIO_SCHEMA":"Timeline.1","tracks":{"OTIO_SCHEMA":"Stack.1","children":[{"OTIO_SCHEMA":"Track.1",
            "kind":"Video","children":[\#(items.joined(separator: ","))]}]}}
            """#
        }

        private func effect(_ scalar: Int) -> String {
            #"{"OTIO_SCHEMA":"LinearTimeWarp.1","effect_name":"","time_scalar":\#(scalar).0}"#
        }

        @Test("a timeline is rendered: forward, back, a gap, and a frame that is held")
        func rendered() async throws {
            let fixture = try ProcessFixture()
            let film = try fixture.copy(try await Clips.shared.film(), as: "film.mp4")
            let gap = #"""
                {"OTIO_SCHEMA":"Gap.1","source_range":{"OTIO_SCHEMA":"TimeRange.1",
                "start_time":{"OTIO_SCHEMA":"RationalTime.1","rate":1.0,"value":0.0},
                "duration":{"OTIO_SCHEMA":"RationalTime.1","rate":24.0,"value":12.0}}}
                """#
            let items = [
                item("forth", 20, 30), item("back", 20, 30, effect: effect(-1)), gap,
                item("held", 60, 12, effect: #"{"OTIO_SCHEMA":"FreezeFrame.1","time_scalar":0.0}"#),
            ]
            let path = fixture.path("cut.otio")
            try timeline(items).write(toFile: path, atomically: false, encoding: .utf8)
            let outcome = try await fixture.run(
                .coordinator, ["run", path, "-o", fixture.path("cut.mkv"), "--lossless"])
            #expect(outcome.code == 0, "\(outcome.error)")
            let source = try await fixture.frames(of: film)
            let made = try await fixture.frames(of: fixture.path("cut.mkv"))
            let forth = source[20..<50].map(\.hash)
            #expect(made.count == 62 && made.prefix(60).map(\.hash) == forth + forth.reversed())
            #expect(made.last?.hash == source[60].hash)
            let frame = Rational(1001, 24_000)
            let ends = [Rational(60) * frame, Rational(60) * frame + Rational(1, 2)]
            let near = zip(made.suffix(2).map(\.start), ends).allSatisfy {
                max($0, $1) - min($0, $1) <= Rational(1, 1000)
            }
            #expect(near, "\(made.suffix(2))")
        }

        @Test("what a timeline has and an edit has not is refused with exit 3, and nothing is left behind")
        func refused() async throws {
            let fixture = try ProcessFixture()
            _ = try fixture.copy(try await Clips.shared.film(), as: "film.mp4")
            let path = fixture.path("cut.otio")
            let dissolve = #"{"OTIO_SCHEMA":"Transition.1","name":"slow","transition_type":"SMPTE_Dissolve"}"#
            try timeline([item("a", 0, 9), dissolve, item("b", 20, 9)])
                .write(toFile: path, atomically: false, encoding: .utf8)
            let output = ["-o", fixture.path("cut.mkv")]
            let outcome = try await fixture.run(.coordinator, ["run", path] + output)
            #expect(outcome.code == 3 && outcome.errorLines.count == 1)
            #expect(outcome.error.contains("tracks.children[0].children[1]: the transition slow cannot be shown"))
            #expect(outcome.error.contains("--lenient") && fixture.names == ["cut.otio", "film.mp4"])
            let lenient = try await fixture.run(.coordinator, ["run", path, "--lenient"] + output)
            #expect(lenient.code == 0 && lenient.error.contains("the transition slow cannot be shown: it is left out"))
            #expect(try await fixture.frames(of: fixture.path("cut.mkv")).count == 18)

            try timeline([item("a", 0, 9, effect: effect(2))]).write(toFile: path, atomically: false, encoding: .utf8)
            let fast = try await fixture.run(.coordinator, ["plan", path, "--lenient"])
            #expect(fast.code == 3 && fast.error.contains("the clip a has the time scalar 2.0"))
            let plain = try await fixture.run(.coordinator, ["plan", fixture.path("film.mp4"), "--lenient"])
            #expect(plain.code == 2)
        }

        private static let edit = """
            { "clips": [
              { "source": "keys.mp4", "from": 1, "to": 2, "play": "ping-pong", "times": 2, "sound": false },
              { "gap": 0.3 },
              { "source": "film.mp4", "from": 1, "to": "3/1", "play": "reverse", "times": 3 },
              { "source": "film.mp4", "from": 2, "play": "freeze", "duration": "1001/1000" },
              { "source": "keys.mp4", "to": "1/60", "play": "ping-pong", "times": 2 } ],
              "turn": "twice", "crossfade": 0.04 }
            """

        /// What is written as timelines: videos with options, and an edit.
        private static let written = [
            ["film.mp4"], ["film.mp4", "--from", "1", "--to", "2.5"],
            ["film.mp4", "--play", "ping-pong", "--times", "2"],
            ["keys.mp4", "--play", "ping-pong", "--turn", "twice", "--from", "3", "--to", "4"],
            ["film.mp4", "--play", "forward", "--times", "3", "--crossfade", "0.1", "--trim", "shared"],
            ["keys.mp4", "film.mp4", "--stitch"], ["edit.json"],
        ]

        /// The files that `written` names, in a folder, and the arguments with their paths.
        private func files(for arguments: [String]) async throws -> (fixture: ProcessFixture, paths: [String]) {
            let fixture = try ProcessFixture()
            _ = try fixture.copy(try await Clips.shared.film(), as: "film.mp4")
            _ = try fixture.copy(try await Clips.shared.allKeys(), as: "keys.mp4")
            try Self.edit.write(toFile: fixture.path("edit.json"), atomically: false, encoding: .utf8)
            let paths = arguments.map { $0.contains(".mp4") || $0.contains(".json") ? fixture.path($0) : $0 }
            return (fixture, paths)
        }

        @Test("an edit that is written as a timeline and read back is the same job", arguments: written)
        func roundTrip(arguments: [String]) async throws {
            let (fixture, paths) = try await files(for: arguments)
            let path = fixture.path("edit.otio")
            let first = try await plan(fixture, paths + ["--otio", path])
            #expect(try await plan(fixture, [path]) == first)

            // A program that does not keep reel's notes keeps the clips.
            let text = try String(contentsOfFile: path, encoding: .utf8).replacing(#""reel":"#, with: #""other":"#)
            let bare = fixture.path("bare.otio")
            try text.write(toFile: bare, atomically: false, encoding: .utf8)
            let again = fixture.path("again.otio")
            let second = try await plan(fixture, [bare, "--otio", again])
            let (wanted, found) = (try decoded(first), try decoded(second))
            #expect(found.frames == wanted.frames && found.seconds == wanted.seconds && found.clips == wanted.clips)
            #expect(try await plan(fixture, [again]) == second)

            // A program that has changed the clips means the changed ones.
            if arguments == ["film.mp4"] {
                let changed = text.replacing(#""other":"#, with: #""reel":"#)
                    .replacing(#""time_scalar":-1"#, with: #""time_scalar":1"#)
                try changed.write(toFile: bare, atomically: false, encoding: .utf8)
                #expect(try decoded(try await plan(fixture, [bare])).clips.map(\.direction) == ["forwards"])
            }
        }

        private func decoded(_ text: String) throws -> PlanJSON {
            try JSONDecoder().decode(PlanJSON.self, from: Data(text.utf8))
        }

        /// A Python that has the official library.
        private static let python = ProcessInfo.processInfo.environment["REEL_PYTHON"]

        @Test(
            "the official library reads what is written, and its tracks last as long as the plan",
            .enabled(if: python != nil, "set REEL_PYTHON to a Python that has opentimelineio"), arguments: written)
        func officialLibrary(arguments: [String]) async throws {
            let python = try #require(Self.python)
            let (fixture, paths) = try await files(for: arguments)
            let path = fixture.path("edit.otio")
            let seconds = try decoded(try await plan(fixture, paths + ["--otio", path])).seconds
            let script = """
                import sys, opentimelineio as otio
                timeline = otio.adapters.read_from_file(sys.argv[1])
                for track in timeline.tracks:
                    print(sum(child.duration().to_seconds() for child in track))
                for clip in timeline.find_clips():
                    shown, there = clip.source_range, clip.available_range()
                    assert there.start_time <= shown.start_time, clip.name
                    assert clip.effects or shown.end_time_exclusive() <= there.end_time_exclusive(), clip.name
                """
            let outcome = try await fixture.run(.at(python), ["-c", script, path])
            let lengths = outcome.output.split(whereSeparator: \.isNewline).compactMap { Double($0) }
            #expect(outcome.code == 0 && !lengths.isEmpty, "\(outcome.error)")
            // An output of one rate for sources of several ends with a whole frame.
            let isOfSeveralRates = arguments == ["edit.json"] || arguments.contains("--stitch")
            for length in lengths { #expect(abs(length - seconds) < (isOfSeveralRates ? 0.5 / 29.9 : 1e-6)) }
        }

        @Test("ranges count whole frames, although the file's start is only known to a microsecond")
        func wholeFrames() async throws {
            let fixture = try ProcessFixture()
            let source = fixture.path("keys.ts")
            // It begins a frame later than it would, at 1.433366666… s, which libavformat says to be 1.433367 s.
            let copy = ["-v", "error", "-i", try await Clips.shared.allKeys(), "-c", "copy"]
            let later = copy + ["-output_ts_offset", "0.03336667", source]
            #expect(try await fixture.run(.ffmpeg, later).code == 0)
            let path = fixture.path("keys.otio")
            let first = try await plan(fixture, [source, "--from", "1", "--to", "2", "--otio", path])
            #expect(try await plan(fixture, [path]) == first)
            let text = try String(contentsOfFile: path, encoding: .utf8)
            #expect(text.matches(of: /"rate":29\.97002997002997,"value":30}/).count == 2)
        }

        @Test("an edit at another speed is not written, nor an existing file replaced")
        func unwritten() async throws {
            let fixture = try ProcessFixture()
            let film = try fixture.copy(try await Clips.shared.film(), as: "film.mp4")
            let path = fixture.path("cut.otio")
            let fast = try await fixture.run(.coordinator, ["plan", film, "--speed", "2", "--otio", path])
            #expect(fast.code == 3 && fast.error.contains("clips[0]: its speed is 2") && fixture.names == ["film.mp4"])
            for (arguments, code) in [([String](), 0), ([], 5), (["--overwrite"], 0), (["--audio", "keep"], 2)] {
                let outcome = try await fixture.run(.coordinator, ["plan", film, "--otio", path] + arguments)
                #expect(outcome.code == code, "\(arguments): \(outcome.error)")
            }
            let other = try await fixture.run(.coordinator, ["plan", film, "--otio", fixture.path("cut.xml")])
            #expect(other.code == 2 && fixture.names == ["cut.otio", "film.mp4"])
        }
    }
}
