import Foundation
import Testing

extension EndToEnd {
    /// What people and scripts do with jobs: name them, wait for them, fetch them.
    @Suite struct HandsTests {
        private let fixture: ProcessFixture

        init() throws { fixture = try ProcessFixture() }

        private struct ErrorLine: Decodable {
            struct Failure: Decodable {
                var code: String
                var exit: Int32
                var message: String
            }
            var id: String?
            var error: Failure
        }

        private func lines(_ outcome: Outcome) -> [Data] {
            outcome.output.split(whereSeparator: \.isNewline).map { Data($0.utf8) }
        }

        @Test("a batch goes on after a video that is refused, delivers the others and sums up; its JSON is only JSON")
        func batch() async throws {
            let film = try await Clips.shared.film()
            let sources = [
                try fixture.copy(film, as: "a.mp4"), fixture.path("bad.mp4"), try fixture.copy(film, as: "c.mp4"),
            ]
            try Data("no media".utf8).write(to: URL(filePath: sources[1]))
            try await Fleet.with(fixture, workers: 1) { fleet in
                let outcome = try await fleet.coordinator(
                    ["submit"] + sources
                        + ["--wait", "--json", "--to", "0.5", "--lossless", "--container", "mkv", "--pass-frames", "1"])
                #expect(outcome.code == 3)
                #expect(outcome.error.contains("1 of 3 videos failed"), "\(outcome.error)")
                for name in ["a", "c"] {
                    #expect(FileManager.default.fileExists(atPath: fixture.path("\(name).reversed.mkv")))
                }
                for line in lines(outcome) {
                    #expect(throws: Never.self) { try JSONSerialization.jsonObject(with: line) }
                }
                let failures = lines(outcome).compactMap { try? JSONDecoder().decode(ErrorLine.self, from: $0).error }
                #expect(failures.map(\.code) == ["not-media"])
                #expect(failures.map(\.exit) == [3])
                // A job that has ended before it is looked at has no progress.
                let progress = outcome.errorLines.filter { $0.contains(" of 12 frames") }
                #expect(!progress.isEmpty, "\(outcome.error)")
                for line in progress {
                    #expect(line.contains(", 1 of 3, a.mp4") || line.contains(", 3 of 3, c.mp4"), "\(line)")
                }
                let same = [sources[0], try fixture.copy(film, as: "a.mov")]
                let twice = try await fleet.coordinator(
                    ["submit"] + same + ["--to", "0.4", "--lossless", "--container", "nut", "--wait"])
                #expect(twice.code == 2)
                #expect(twice.error.contains("a.reversed.nut would be the output of \(same[0]), too"), "\(twice.error)")
                #expect(FileManager.default.fileExists(atPath: fixture.path("a.reversed.nut")))
            }
        }

        @Test("--on-done hears of each end, and a command that fails changes nothing else")
        func endCommand() async throws {
            let film = try fixture.copy(try await Clips.shared.film(), as: "film.mp4")
            let bad = fixture.path("bad.mp4")
            try Data("no media".utf8).write(to: URL(filePath: bad))
            let command =
                #"echo "$REEL_STATE $REEL_CODE $REEL_SOURCE $REEL_OUTPUT" >>ended; echo said; test -z "$REEL_CODE""#
            let outcome = try await fixture.run(
                .coordinator, ["run", film, bad, "--to", "0.5", "--json", "--on-done", command])
            #expect(outcome.code == 3)
            let ended = try String(contentsOfFile: fixture.path("ended"), encoding: .utf8)
            let results = [film, bad].map { $0.replacing(".mp4", with: ".reversed.mp4") }
            #expect(ended == "done  \(film) \(results[0])\nfailed not-media \(bad) \(results[1])\n")
            #expect(outcome.error.contains("the command of --on-done failed"), "\(outcome.error)")
            for line in lines(outcome) {
                #expect(throws: Never.self) { try JSONSerialization.jsonObject(with: line) }
            }
            try await Fleet.with(fixture, workers: 1) { fleet in
                let submitted = try await fleet.coordinator(
                    [
                        "submit", film, "-o", fixture.path("two.mkv"), "--wait", "--on-done",
                        "echo $REEL_STATE $REEL_JOB >submitted",
                    ])
                #expect(submitted.code == 0, "\(submitted.error)")
                let id = submitted.output.trimmingCharacters(in: .newlines)
                let waited = try await fleet.coordinator(
                    ["wait", "@", "--on-done", "echo $REEL_STATE $REEL_JOB >waited"])
                #expect(waited.code == 0, "\(waited.error)")
                for name in ["submitted", "waited"] {
                    #expect(try String(contentsOfFile: fixture.path(name), encoding: .utf8) == "done \(id)\n")
                }
                let refused = try await fleet.coordinator(
                    ["submit", bad, "--wait", "--on-done", "echo $REEL_STATE $REEL_CODE >refused; exit 3"])
                #expect(refused.code == 3)
                #expect(try String(contentsOfFile: fixture.path("refused"), encoding: .utf8) == "failed not-media\n")
                #expect(
                    refused.error.contains("the command of --on-done failed with exit code 3: echo"), "\(refused.error)"
                )
                let unknown = try await fleet.coordinator(["wait", "zz", "--timeout", "1"])
                #expect(unknown.code == 2 && unknown.error.contains("there is no job zz"), "\(unknown.error)")
                let elsewhere = try await fleet.coordinator(["submit", film, "-o", fixture.path("three.mkv")])
                let first = "fetch writes \(fixture.path("two.mkv")), as the first submission asked"
                #expect(elsewhere.error.contains(first), "\(elsewhere.error)")
                let alone = try await fleet.coordinator(["submit", film, "--on-done", "true"])
                #expect(alone.code == 2)
                #expect(alone.error.contains("--on-done needs --wait"))
            }
        }

        @Test("numbered pictures are refused with the command that makes a video of them, whose reversal has them all")
        func numberedPictures() async throws {
            try FileManager.default.createDirectory(atPath: fixture.path("shots"), withIntermediateDirectories: false)
            let made = try await fixture.run(
                .ffmpeg,
                ["-v", "error", "-f", "lavfi", "-i", "testsrc2=size=320x240", "-frames:v", "7", "shots/shot.%04d.png"])
            try #require(made.code == 0, "\(made.error)")
            let command = "-framerate 24 -i shot.%04d.png -codec copy shot.mkv"
            for path in ["shots", "shots/shot.0001.png"] {
                let refused = try await fixture.run(.coordinator, ["run", path])
                #expect(refused.code == 3 && refused.error.contains("by: ffmpeg \(command)\n"), "\(refused.error)")
            }
            let words = command.replacing("-i ", with: "-i shots/").split(separator: " ").map(String.init)
            #expect(try await fixture.run(.ffmpeg, ["-v", "error"] + words).code == 0)
            let outcome = try await fixture.run(.coordinator, ["run", "shot.mkv", "-o", "back.mkv", "--lossless"])
            #expect(outcome.code == 0, "\(outcome.error)")
            /// The hashes of its pictures, in the pixel format of the numbered ones.
            func pictures(_ name: String) async throws -> [Substring] {
                let shown = try await fixture.run(
                    .ffmpeg, ["-v", "error", "-i", name, "-pix_fmt", "rgb24", "-f", "framemd5", "-"])
                return shown.output.split(separator: "\n").filter { !$0.hasPrefix("#") }.map { $0.suffix(32) }
            }
            let source = try await pictures("shot.mkv")
            #expect(Set(source).count == 7)
            #expect(try await pictures("back.mkv") == source.reversed())
        }

        @Test("what workers refuse fails its job; fetch takes several jobs, and says if one has no result")
        func idsAndResults() async throws {
            let film = try await Clips.shared.film()
            for name in ["a.mp4", "b.mp4"] { _ = try fixture.copy(film, as: name) }
            try Data("no video".utf8).write(to: URL(fileURLWithPath: fixture.path("bad.mp4")))
            try await Fleet.with(fixture, workers: 1) { fleet in
                // One video is read by the submitter itself, and gets no id.
                let alone = try await fleet.coordinator(["submit", "bad.mp4", "--to", "6f"])
                #expect(alone.code == 3 && alone.output == "", "\(alone.error)")
                let outcome = try await fleet.coordinator(["submit", "a.mp4", "bad.mp4", "--to", "6f"])
                #expect(outcome.code == 0, "\(outcome.error)")
                let ids = outcome.output.split(separator: "\n").map(String.init)
                try #require(ids.count == 2)
                let bad = try await fleet.coordinator(["wait", ids[1]])
                #expect(bad.code == 3 && bad.error.contains("bad.mp4: cannot be read as video"), "\(bad.error)")
                let other = try await fleet.submit(["b.mp4", "--to", "8f"])
                #expect(try await fleet.coordinator(["wait", ids[0], other]).code == 0)
                #expect(try await fleet.coordinator(["wait", ids[0], "--timeout", "0"]).code == 0)

                let fetched = try await fleet.coordinator(["fetch", ids[0], other, "-o", "got"])
                #expect(fetched.code == 5 && fetched.error.contains("no folder"), "\(fetched.error)")
                try FileManager.default.createDirectory(atPath: fixture.path("got"), withIntermediateDirectories: false)
                #expect(try await fleet.coordinator(["fetch", ids[0], other, "-o", "got"]).code == 0)
                for (name, frames) in [("a", 6), ("b", 8)] {
                    #expect(try await fixture.frames(of: fixture.path("got/\(name).reversed.mp4")).count == frames)
                }

                // That a file of that name exists is not what is wrong.
                try Data().write(to: URL(fileURLWithPath: fixture.path("a.reversed.mp4")))
                let none = try await fleet.submit(["a.mp4", "--to", "10f"])
                #expect(try await fleet.coordinator(["cancel", none]).code == 0)
                let refused = try await fleet.coordinator(["fetch", none, "--json"])
                let failure = try JSONDecoder().decode(ErrorLine.self, from: try #require(lines(refused).first))
                #expect(failure.error.code == "no-result" && failure.id == none)
            }
        }

        @Test("a job that was paused and cancelled runs when it is submitted again; the board needs no store")
        func pausedAndCancelled() async throws {
            let source = try fixture.copy(try await Clips.shared.film(), as: "film.mp4")
            try await Fleet.with(fixture, workers: 0) { fleet in
                let id = try await fleet.submit([source])
                for command in ["pause", "cancel"] { #expect(try await fleet.coordinator([command, id]).code == 0) }
                let ended = try await fleet.coordinator(["wait", id, "--timeout", "0", "--json"])
                let failure = try JSONDecoder().decode(ErrorLine.self, from: try #require(lines(ended).first))
                #expect(failure.error.code == "job-cancelled")
                #expect(try await fleet.submit([source]) == id)
                #expect(try await fleet.job(id).state == "running")
                let shown = try await fleet.coordinator(["status", id, "--store", "/nowhere"])
                #expect(shown.code == 0, "\(shown.error)")
                let warning = "warning: there is no store at /nowhere; what only the store knows is left out"
                #expect(shown.error.contains(warning), "\(shown.error)")
                #expect(shown.output.contains("\(id), waiting\n"), "\(shown.output)")
            }
        }

        @Test("an edit that cannot be made, and a folder without videos, keep no other video from being reversed")
        func refusedBeforehand() async throws {
            let film = try await Clips.shared.film()
            for name in ["a.mp4", "c.mp4"] { _ = try fixture.copy(film, as: name) }
            try #"{"foo": 1}"#.write(toFile: fixture.path("bad.json"), atomically: true, encoding: .utf8)
            try #"{"clips": [{"source": "a.mp4", "from": 90}]}"#.write(
                toFile: fixture.path("late.json"), atomically: true, encoding: .utf8)
            try FileManager.default.createDirectory(atPath: fixture.path("empty"), withIntermediateDirectories: false)
            let outcome = try await fixture.run(
                .coordinator,
                [
                    "run", "a.mp4", "bad.json", "empty", "late.json", "c.mp4", "c.mp4", "--output-dir", "out/of/reach",
                    "--to", "6f", "--container", "mkv", "--json",
                ])
            // --to does not go with an edit's file.
            #expect(
                outcome.code == 2 && !FileManager.default.fileExists(atPath: fixture.path("out")), "\(outcome.error)")
            let again = try await fixture.run(
                .coordinator,
                [
                    "run", "a.mp4", "bad.json", "empty", "late.json", "c.mp4", "c.mp4", "--output-dir", "out/of/reach",
                    "--container", "mkv", "--json",
                ])
            #expect(again.code == 3)
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: fixture.path("out/of/reach")).sorted() == [
                    "a.reversed.mkv", "c.reversed.mkv",
                ])
            for words in [
                "bad.json: foo: an edit has no such key", "empty is a folder, and no file in it has a video's name",
                "late.json: clips[0]: no frame begins", "c.mp4: skipped, it is named twice", "wrote 2 of 6 videos",
                "3 of 6 videos failed",
            ] {
                #expect(again.error.contains(words), "\(words): \(again.error)")
            }
            #expect(lines(again).count == 6)
            let plan = try await fixture.run(.coordinator, ["plan", "out/of/reach"])
            #expect(
                plan.code == 2 && plan.error.contains("plan takes one video, and out/of/reach has 2"), "\(plan.error)")
        }

        @Test("sound that a moving picture cannot hold is named")
        func soundOfAPicture() async throws {
            let film = try fixture.copy(try await Clips.shared.film(), as: "film.mp4")
            let loud = try await fixture.run(.coordinator, ["run", film, "-o", "a.gif", "--to", "6f"])
            #expect(
                loud.code == 0 && loud.error.contains("sound is left out: a .gif file cannot hold any"), "\(loud.error)"
            )
            let silent = try await fixture.run(
                .coordinator, ["run", film, "-o", "b.gif", "--to", "6f", "--audio", "none"])
            #expect(silent.code == 0 && !silent.error.contains("sound"), "\(silent.error)")
        }

        @Test("a warning of a batch names the video")
        func warningsOfABatch() async throws {
            let film = try await Clips.shared.film()
            try await fixture.run(
                .ffmpeg, ["-v", "error", "-i", film, "-c", "copy", "-metadata", "director=x", fixture.path("d.mkv")])
            _ = try fixture.copy(film, as: "a.mp4")
            let outcome = try await fixture.run(
                .coordinator, ["run", "a.mp4", "d.mkv", "--to", "6f", "--container", "mp4"])
            #expect(outcome.code == 0, "\(outcome.error)")
            #expect(
                outcome.error.contains(
                    "reel-coordinator: warning: d.mkv: tags are left out: a .mp4 file cannot hold director\n"),
                "\(outcome.error)")
        }

        @Test("with --json --progress a run prints its job while it is worked on, and last as it ended")
        func progressLines() async throws {
            struct Line: Decodable {
                var id: String
                var state: String
                var framesEncoded: Int
            }
            _ = try fixture.copy(try await Clips.shared.wide(), as: "wide.mp4")
            let outcome = try await fixture.run(
                .coordinator, ["run", "wide.mp4", "-o", "out.mkv", "--pass-frames", "60", "--json", "--progress"])
            #expect(outcome.code == 0, "\(outcome.error)")
            let told = try lines(outcome).map { try JSONDecoder().decode(Line.self, from: $0) }
            #expect(told.count >= 3, "\(outcome.output)")
            #expect(told.last?.state == "done" && told.dropLast().allSatisfy { $0.state != "done" })
            #expect(told.allSatisfy { $0.framesEncoded <= 270 } && told.last?.framesEncoded == 270)
            #expect(Set(told.map(\.id)).count == 1)
            let alone = try await fixture.run(.coordinator, ["run", "wide.mp4", "--progress"])
            #expect(alone.code == 2 && alone.error.contains("--progress needs --json"))
        }

        @Test(
            "a job whose source is replaced fails, which status --watch says; with the source back, retry --all does it"
        )
        func failedAndTriedAgain() async throws {
            let film = try await Clips.shared.film()
            let source = try fixture.copy(film, as: "film.mp4")
            let files = FileManager.default
            try await Fleet.with(fixture, workers: 0) { fleet in
                let id = try await fleet.submit([source, "--to", "6f"])
                try files.moveItem(atPath: source, toPath: fixture.path("kept.mp4"))
                _ = try fixture.copy(try await Clips.shared.couples(), as: "film.mp4")
                try await fleet.startWorker()
                let watched = try await fleet.coordinator(["status", id, "--watch", "--json"])
                #expect(watched.code == 3)
                #expect(try await fleet.coordinator(["wait", id]).code == 3)
                #expect(lines(watched).count > 1)
                #expect(watched.output.split(separator: "\n").last?.contains(#""state":"failed""#) == true)
                try files.removeItem(atPath: source)
                try files.moveItem(atPath: fixture.path("kept.mp4"), toPath: source)
                let again = try await fleet.coordinator(["retry", "--all", "--json"])
                #expect(again.code == 0, "\(again.error)")
                #expect(again.output == #"{"id":"\#(id)","outcome":"retried"}"# + "\n")
                #expect(try await fleet.coordinator(["wait", id]).code == 0)
            }
        }

        @Test("commands that change something say so as JSON, too, and so do their failures")
        func changes() async throws {
            let source = try fixture.copy(try await Clips.shared.film(), as: "film.mp4")
            try await Fleet.with(fixture, workers: 1) { fleet in
                struct Worker: Decodable { var id: String }
                let host = ProcessInfo.processInfo.hostName
                let isThere = try await eventually { try await fleet.coordinator(["workers", "--check"]).code == 0 }
                #expect(isThere)
                let drained = try await fleet.coordinator(["drain", host, "--json"])
                #expect(drained.output == #"{"name":"\#(host)","outcome":"drained","scope":"host","workers":1}"# + "\n")
                let id = try await fleet.submit([source])
                let weighed = try await fleet.coordinator(["weigh", "@", "nothing", "--weight", "2", "--json"])
                #expect(weighed.code == 2)
                #expect(weighed.output.hasPrefix(#"{"id":"\#(id)","outcome":"weighed","weight":2}"# + "\n"))
                let failure = try JSONDecoder().decode(ErrorLine.self, from: try #require(lines(weighed).last))
                #expect(failure.error.code == "job-unknown" && failure.id == nil)
                let unended = try await fleet.coordinator(["remove", id, "--json"])
                let refused = try JSONDecoder().decode(ErrorLine.self, from: try #require(lines(unended).first))
                #expect(refused.id == id && refused.error.code == "job-not-ended" && lines(unended).count == 1)
                for outcome in ["cancelled", "had-ended"] {
                    let told = try await fleet.coordinator(["cancel", id, "--json"]).output
                    #expect(told.contains(#""outcome":"\#(outcome)""#), "\(told)")
                }
                let undrained = try await fleet.coordinator(["undrain", host, "--json"])
                #expect(undrained.output == #"{"name":"\#(host)","outcome":"undrained","scope":"host"}"# + "\n")
                let workers = try await fleet.coordinator(["workers", "--json"]).output
                let worker = try #require(try JSONDecoder().decode([Worker].self, from: Data(workers.utf8)).first?.id)
                #expect(try await fleet.coordinator(["drain", worker, host]).code == 0)
                let partly = try await fleet.coordinator(["undrain", host])
                #expect(partly.error == "reel-coordinator: host \(host) is drained no more; still drained: \(worker)\n")
                #expect(
                    try await fleet.coordinator(["undrain", worker]).error.contains("worker \(worker) claims again"))
                let store = try await fleet.coordinator(["init", "--json"])
                #expect(store.output.hasPrefix(#"{"id":""#) && lines(store).count == 2, "\(store.output)")
            }
        }

        @Test("what is asked for on the command line is what the job has")
        func options() async throws {
            let source = try fixture.copy(try await Clips.shared.film(), as: "film.mp4")
            try await Fleet.with(fixture, workers: 0) { fleet in
                let asked = [
                    "--tracks", "v,a:0", "--pixel-format", "yuv422p", "--profile", "high422", "--audio-codec", "aac",
                    "--audio-bitrate", "96k", "--sample-rate", "32000", "--channel-layout", "mono", "--from", "12f",
                    "--duration", "00:00:01", "--preset", "slow", "--threads", "1",
                ]
                let id = try await fleet.submit([source, "--container", "mkv"] + asked)
                let outcome = try await fleet.coordinator(["status", id, "--json"])
                let view = try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any]
                let options = try #require(view?["options"] as? [String: Any])
                let told = options.mapValues { "\($0)" }
                for (name, value) in [
                    "pixelFormat": "yuv422p", "profile": "high422", "audioCodec": "aac", "audioBitrate": "96000",
                    "sampleRate": "32000", "channelLayout": "mono", "preset": "slow", "threads": "1",
                    "container": "mkv",
                ] {
                    #expect(told[name] == value, "\(name): \(told)")
                }
                #expect(Set(["tracks", "from", "duration"]).isSubset(of: Set(options.keys)), "\(told)")
                let fingerprints = view?["fingerprints"] as? [[String: Any]]
                let size = try FileManager.default.attributesOfItem(atPath: source)[.size] as? Int
                #expect(fingerprints?.map { $0["bytes"] as? Int } == [size])
                try await fleet.startWorker()
                #expect(try await fleet.coordinator(["wait", id]).code == 0)
                let made = fixture.path("made.mkv")
                #expect(try await fleet.coordinator(["fetch", id, "-o", made]).code == 0)
                let probed = try await fixture.run(
                    .ffprobe,
                    [
                        "-v", "error", "-of", "csv=p=0", "-show_entries",
                        "stream=codec_name,profile,pix_fmt,sample_rate,channels", made,
                    ])
                #expect(probed.output == "h264,High 4:2:2,yuv422p\naac,LC,32000,1\n")
            }
        }

        @Test(
            "-o to AVI and MXF at a constant rate; at another it is refused with the reason", arguments: ["avi", "mxf"])
        func paced(container: String) async throws {
            let film = try await Clips.shared.film()
            let codec = container == "avi" ? ["--lossless"] : ["--video-codec", "mpeg2video"]
            let made = try await fixture.run(
                .coordinator, ["run", film, "-o", "out.\(container)", "--to", "24f"] + codec)
            #expect(made.code == 0, "\(made.error)")
            let frames = try await fixture.frames(of: fixture.path("out.\(container)"))
            #expect(frames.count == 24)
            if container == "avi" {
                let source = try await fixture.frames(of: film).prefix(24).map(\.hash)
                #expect(frames.map(\.hash) == source.reversed())
            }
            try await fixture.run(
                .ffmpeg,
                [
                    "-v", "error", "-i", film, "-an", "-vf", "select=not(eq(n\\,3))", "-fps_mode", "vfr", "-c:v",
                    "libx264", fixture.path("vfr.mp4"),
                ])
            let refused = try await fixture.run(.coordinator, ["run", "vfr.mp4", "-o", "vfr.\(container)"])
            #expect(refused.code == 3, "\(refused.error)")
            #expect(
                refused.error.contains(
                    container == "avi"
                        ? "a .avi file shows every frame equally long"
                        : "a .mxf file cannot have 3400/143 frames a second"), "\(refused.error)")
        }

        @Test("options and environment go before the configuration file, which names the board otherwise")
        func configuration() async throws {
            let file = fixture.path("reel.json")
            try #"{"redis": "redis://127.0.0.1:1"}"#.write(toFile: file, atomically: true, encoding: .utf8)
            func refused(_ arguments: [String], _ environment: [String: String]) async throws -> String {
                let outcome = try await fixture.run(
                    .coordinator, ["status"] + arguments,
                    environment: environment.merging(["REEL_CONFIG": file]) { $1 })
                #expect(outcome.code == 4)
                return outcome.error
            }
            #expect(try await refused([], [:]).contains("127.0.0.1:1:"))
            #expect(try await refused([], ["REEL_REDIS": "redis://127.0.0.1:2"]).contains("127.0.0.1:2:"))
            let both = try await refused(["--redis", "redis://127.0.0.1:3"], ["REEL_REDIS": "redis://127.0.0.1:2"])
            #expect(both.contains("127.0.0.1:3:"))
        }

        @Test("a worker has a slot for each processor that it may use, and is warned of memory that is not there")
        func workersOfAHost() async throws {
            try await Fleet.with(fixture, workers: 1) { fleet in
                // Ends the worker when it has said that, however late the beat is that brings it.
                let script = """
                    taskset -c 0 reel-worker --memory-total 900GiB --log-level "$1" 2>"$2" & worker=$!
                    until grep -qs "workers of this host may take" "$2" || ! kill -0 $worker; do sleep 0.1; done
                    kill $worker; wait $worker; code=$?; cat "$2" >&2; exit $code
                    """
                let told = try await fleet.shell(script, ["info", fixture.path("info.log")], as: "reel-worker")
                #expect(told.code == 0)
                #expect(told.error.contains("works with 1 slot and 900 GiB\n"), "\(told.error)")
                #expect(told.error.contains(" warning reel-worker: --memory-total is 900 GiB, and this machine has "))
                #expect(told.error.contains("the 2 workers of this host may take 9"), "\(told.error)")
                let time = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z (info|warning) reel-worker: .+/
                #expect(told.errorLines.allSatisfy { $0.wholeMatch(of: time) != nil }, "\(told.error)")
                let quiet = try await fleet.shell(script, ["warning", fixture.path("warning.log")], as: "reel-worker")
                #expect(
                    !quiet.error.contains("works with") && quiet.error.contains("--memory-total is"), "\(quiet.error)")
            }
        }

        @Test("a watched job ends the command with the exit code of its end")
        func watchedEnd() async throws {
            let film = try fixture.copy(try await Clips.shared.film(), as: "film.mp4")
            try await Fleet.with(fixture, workers: 0) { fleet in
                let submitted = try await fleet.coordinator(["submit", film])
                let id = submitted.output.trimmingCharacters(in: .newlines)
                #expect(try await fleet.coordinator(["cancel", id]).code == 0)
                let watched = try await fleet.coordinator(["status", id, "--watch"])
                #expect(watched.code == 1)
                #expect(watched.output.contains("cancelled"), "\(watched.output)")
                let waited = try await fleet.coordinator(
                    ["wait", id, "--on-done", "echo $REEL_STATE $REEL_CODE $REEL_JOB >ended"])
                #expect(waited.code == 1)
                let ended = try String(contentsOfFile: fixture.path("ended"), encoding: .utf8)
                #expect(ended == "cancelled job-cancelled \(id)\n")
                #expect(try await fleet.coordinator(["status", id]).code == 0)
            }
        }

        @Test("names and labels tell jobs apart, and choose those that a command changes")
        func labels() async throws {
            struct Listed: Decodable {
                struct Options: Decodable { var crf: Double? }
                var id: String
                var state: String
                var paused: Bool
                var name: String?
                var labels: [String: String]
                var submitter: String?
                var weight: Double
                var options: Options?
            }
            struct Queued: Decodable { var jobs: [Listed] }
            let source = try fixture.copy(try await Clips.shared.film(), as: "film.mp4")
            try await Fleet.with(fixture, workers: 0) { fleet in
                func listed(_ arguments: [String] = []) async throws -> [Listed] {
                    let outcome = try await fleet.coordinator(["status", "--json"] + arguments)
                    #expect(outcome.code == 0, "\(outcome.error)")
                    return try JSONDecoder().decode([Listed].self, from: Data(outcome.output.utf8))
                }
                func told(_ arguments: [String], code: Int32 = 0) async throws -> [String] {
                    let outcome = try await fleet.coordinator(arguments)
                    #expect(outcome.code == code, "\(outcome.error)")
                    return outcome.errorLines.map { String($0.dropFirst("reel-coordinator: ".count)) }
                }
                let trailer = ["--name", "Trailer, take 3", "--label", "project=trailer", "--label", "take=3"]
                let one = try await fleet.submit([source, "--crf", "20"] + trailer)
                let two = try await fleet.submit([source, "--crf", "30", "--label", "project=trailer"])
                let three = try await fleet.submit([source, "--crf", "40", "--weight", "2"])

                let jobs = try await listed()
                #expect(jobs.map(\.id) == [one, two, three])
                #expect(jobs.map(\.name) == ["Trailer, take 3", nil, nil])
                #expect(jobs.map(\.labels) == [["project": "trailer", "take": "3"], ["project": "trailer"], [:]])
                #expect(jobs.map(\.options?.crf) == [20, 30, 40])
                #expect(jobs.map(\.weight) == [1, 1, 2])
                #expect(jobs.allSatisfy { $0.submitter?.contains("@") == true })
                let text = try await fleet.coordinator(["status"]).output.split(separator: "\n").map(String.init)
                #expect(
                    text.first?.split(separator: " ").joined(separator: " ")
                        == "JOB STATE DONE AGE NAME FILE LABELS OPTIONS WEIGHT BY")
                #expect(text[1].contains("Trailer, take 3  film.mp4  project=trailer,take=3  mp4, crf 20 "))
                let queued = try await fleet.coordinator(["queue", "--json"])
                let listing = try JSONDecoder().decode(Queued.self, from: Data(queued.output.utf8))
                #expect(listing.jobs.map(\.options?.crf) == [20, 30, 40])
                let full = try await fleet.coordinator(["status", one]).output
                #expect(full.contains("\nname      Trailer, take 3\nlabels    project=trailer,take=3\nsubmitted "))
                #expect(full.contains("\noptions   mp4, crf 20\n"))

                #expect(try await listed(["--label", "project=trailer", "--limit", "1"]).map(\.id) == [two])
                #expect(try await listed(["--since", "2001-01-01"]).count == 3)
                #expect(try await listed(["--since", "1h", "--state", "done"]).isEmpty)
                #expect(
                    try await told(["weigh", "--weight", "3", "--all", "--label", "take=3"]) == [
                        "1 job matches", "job \(one) has weight 3 from its next pass on",
                    ])
                #expect(try await listed().map(\.weight) == [3, 1, 2])
                #expect(
                    try await told(["pause", "--all", "--label", "project=trailer"]) == [
                        "2 jobs match", "paused job \(one); passes in flight are finished",
                        "paused job \(two); passes in flight are finished",
                    ])
                #expect(try await listed(["--state", "paused"]).map(\.id) == [one, two])
                #expect(try await listed(["--state", "waiting"]).map(\.id) == [three])
                #expect(try await told(["retry", "--all"]) == ["no job matches"])
                #expect(
                    try await told(["resume", "--all", "--label", "take=3"]) == ["1 job matches", "job \(one) goes on"])
                #expect(
                    try await told(["pause", one, "--json"]) == ["paused job \(one); passes in flight are finished"])
                #expect(
                    try await told(["cancel", "--all", "--state", "paused", "--limit", "1"]) == [
                        "1 job matches", "cancelled job \(two)",
                    ])
                #expect(
                    try await told(["cancel", "--all"]) == [
                        "2 jobs match", "cancelled job \(one)", "cancelled job \(three)",
                    ])
                // It is begun anew with the name that it had, since this submission gives none.
                #expect(try await fleet.submit([source, "--crf", "20"]) == one)
                #expect(try await listed(["--label", "take=3"]).map(\.name) == ["Trailer, take 3"])
                #expect(
                    try await told(["remove", "--all"]) == [
                        "2 jobs match", "removed job \(two)", "removed job \(three)",
                    ])
                #expect(try await listed().map(\.id) == [one])
            }
        }

        @Test(
            "what cannot be a name, a label, a moment or a choice is refused with an example",
            arguments: [
                (["submit", "a.mp4", "--name", ""], "--name takes 1 to 100 characters"),
                (["submit", "a.mp4", "--label", "project"], "--label takes NAME=VALUE, as project=trailer"),
                (["submit", "a.mp4", "--label", "a b=c"], "it is a b=c"),
                (["submit", "a.mp4", "--label", "a=b", "--label", "a=c"], "--label a is given twice"),
                (["status", "--since", "tomorrow"], "--since takes a span as 2h or 3d, a day as 2026-11-26"),
                (["status", "--limit", "0"], "--limit must be 1 or more"),
                (["status", "--state", "gone"], "probing"),
                (["status", "@", "--state", "done"], "leave out the job"),
                (["cancel"], "name the jobs, or use --all"),
                (["cancel", ""], "a job's id is empty"), (["remove", "5d0c", ""], "a job's id is empty"),
                (["status", ""], "a job's id is empty"), (["fetch", ""], "a job's id is empty"),
                (["queue", "--state", "done"], "reel-coordinator status shows them"),
                (["submit", "a.mp4", "--retain", "0"], "it takes a time above 0 (7d, 12h, 90m, 45s)"),
                (["cancel", "@", "--all"], "name jobs or use --all, not both"),
                (["cancel", "@", "--label", "a=b"], "use --all"),
                (["weigh", "@", "--weight", "0"], "--weight must be 0.001 to 1000"),
            ])
        func refusals(_ arguments: [String], _ words: String) async throws {
            let outcome = try await fixture.run(.coordinator, arguments)
            #expect(outcome.code == 2)
            #expect(outcome.errorLines.count == 1)
            #expect(outcome.error.contains(words), "\(outcome.error)")
        }

        @Test("run makes several videos with one Redis, goes on after one that fails, skips what is there, and sums up")
        func batchOfRun() async throws {
            let film = try await Clips.shared.film()
            let files = FileManager.default
            try files.createDirectory(atPath: fixture.path("shots"), withIntermediateDirectories: false)
            for name in ["a.mp4", "shots/b.mov", "shots/c.mp4"] { _ = try fixture.copy(film, as: name) }
            try Data("no media".utf8).write(to: URL(filePath: fixture.path("shots/bad.mp4")))
            try Data("no video".utf8).write(to: URL(filePath: fixture.path("shots/notes.txt")))
            let options = ["--output-dir", "out", "--suffix", ".rev", "--to", "6f", "--lossless", "--container", "mkv"]
            let order = ["run", "a.mp4", "shots", "--json"] + options
            let first = try await fixture.run(.coordinator, order)
            #expect(first.code == 3, "\(first.error)")
            #expect(
                try files.contentsOfDirectory(atPath: fixture.path("out")).sorted() == [
                    "a.rev.mkv", "b.rev.mkv", "c.rev.mkv",
                ])
            for words in [
                "2 of 4, b.mov", "shots/bad.mp4: cannot be read as video", "wrote 3 of 4 videos",
                "1 of 4 videos failed",
            ] {
                #expect(first.error.contains(words), "\(first.error)")
            }
            #expect(lines(first).count == 4)
            for line in lines(first) { #expect(throws: Never.self) { try JSONSerialization.jsonObject(with: line) } }
            let source = try await fixture.frames(of: film).prefix(6).map(\.hash)
            for name in ["a", "b", "c"] {
                let made = try await fixture.frames(of: fixture.path("out/\(name).rev.mkv")).map(\.hash)
                #expect(made == source.reversed(), "\(name)")
            }
            try files.removeItem(atPath: fixture.path("out/b.rev.mkv"))
            try files.removeItem(atPath: fixture.path("shots/bad.mp4"))
            let again = try await fixture.run(.coordinator, order + ["--skip-existing"])
            #expect(again.code == 0, "\(again.error)")
            let out = fixture.path("out/a.rev.mkv")
            #expect(
                lines(again).first.map { String(decoding: $0, as: UTF8.self) }
                    == #"{"outcome":"skipped","output":"\#(out)","reason":"exists","source":"a.mp4"}"#)
            #expect(lines(again).count == 3)
            #expect(again.error.contains("a.mp4: skipped, \(fixture.path("out/a.rev.mkv")) exists"), "\(again.error)")
            #expect(again.error.contains("wrote 1 of 3 videos"), "\(again.error)")
            #expect(files.fileExists(atPath: fixture.path("out/b.rev.mkv")))
            #expect(fixture.processes == [])

            // A folder that was reversed before has outputs among its videos.
            let beside = ["run", "shots", "--to", "6f"]
            let once = try await fixture.run(.coordinator, beside)
            #expect(once.code == 0, "\(once.error)")
            let names = try files.contentsOfDirectory(atPath: fixture.path("shots")).sorted()
            #expect(names == ["b.mov", "b.reversed.mov", "c.mp4", "c.reversed.mp4", "notes.txt"])
            let twice = try await fixture.run(.coordinator, beside + ["--overwrite"])
            #expect(twice.code == 0, "\(twice.error)")
            #expect(twice.error.contains("b.reversed.mov: skipped, it is the output of"), "\(twice.error)")
            #expect(try files.contentsOfDirectory(atPath: fixture.path("shots")).sorted() == names)
        }

        @Test("two videos of a run that have one output are told apart before any work")
        func oneOutputTwice() async throws {
            let film = try await Clips.shared.film()
            for name in ["a.mp4", "a.mov"] { _ = try fixture.copy(film, as: name) }
            let outcome = try await fixture.run(
                .coordinator, ["run", "a.mp4", "a.mov", "--to", "6f", "--lossless", "--container", "mkv"])
            #expect(outcome.code == 2)
            #expect(
                outcome.errorLines.first?.contains("a.reversed.mkv would be the output of") == true, "\(outcome.error)")
            #expect(outcome.error.contains("wrote 1 of 2 videos"), "\(outcome.error)")
            for options in [["--suffix", "a/b"], ["-o", "x.mp4"], ["--overwrite", "--skip-existing"]] {
                let refused = try await fixture.run(.coordinator, ["run", "a.mp4", "a.mov"] + options)
                #expect(refused.code == 2 && refused.errorLines.count == 1, "\(refused.error)")
            }
        }

        @Test("-o is remembered for fetch, which waits, and delivers to a file, into a folder or to standard output")
        func fetching() async throws {
            let source = try fixture.copy(try await Clips.shared.film(), as: "film.mp4")
            let wanted = fixture.path("wanted.mkv")
            try await Fleet.with(fixture, workers: 0) { fleet in
                let id = try await fleet.submit([source, "--to", "0.5", "--lossless", "-o", wanted])
                let vain = try await fleet.coordinator(["wait", "@", "--timeout", "1", "--json"])
                #expect(vain.code == 1)
                #expect(vain.error.contains("job \(id) has not ended after 1 s; it goes on"), "\(vain.error)")
                let told = try #require(lines(vain).first)
                #expect(try JSONDecoder().decode(ErrorLine.self, from: told).error.code == "job-unended")
                #expect(lines(vain).count == 1)
                try await fleet.startWorker()
                #expect(try await fleet.coordinator(["wait", String(id.prefix(5)).uppercased()]).code == 0)
                let fetched = try await fleet.coordinator(["fetch", "@", "--wait"])
                #expect(fetched.code == 0, "\(fetched.error)")
                let bytes = try Data(contentsOf: URL(filePath: wanted))
                let folder = fixture.path("out")
                try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
                #expect(try await fleet.coordinator(["fetch", String(id.prefix(6)), "-o", folder]).code == 0)
                #expect(try Data(contentsOf: URL(filePath: folder + "/wanted.mkv")) == bytes)
                let again = try await fleet.coordinator(["fetch", "@", "--json"])
                #expect(again.code == 5 && again.error.contains("exists"), "\(again.error)")
                let refused = try JSONDecoder().decode(ErrorLine.self, from: try #require(lines(again).first))
                #expect(refused.id == id && refused.error.code == "output-exists" && lines(again).count == 1)
                let piped = fixture.path("piped.mkv")
                let pipe = try await fleet.shell(#"reel-coordinator fetch @ -o - | cat >"$1""#, [piped])
                #expect(pipe.code == 0, "\(pipe.error)")
                #expect(try Data(contentsOf: URL(filePath: piped)) == bytes)
                let unknown = try await fleet.coordinator(["status", "nothing"])
                #expect(unknown.code == 2)
            }
        }

        @Test("wrong arguments are an object of JSON, too, and the message names the subcommand's help")
        func usage() async throws {
            let outcome = try await fixture.run(.coordinator, ["status", "--json", "--nope"])
            #expect(outcome.code == 2)
            let told = try #require(lines(outcome).first)
            let failure = try JSONDecoder().decode(ErrorLine.self, from: told).error
            #expect(failure.code == "usage" && failure.exit == 2 && failure.message.contains("--nope"))
            #expect(outcome.error.contains("see reel-coordinator status --help"), "\(outcome.error)")
        }
    }
}
