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
                    ["submit"] + sources + ["--wait", "--json", "--to", "0.5", "--lossless", "--container", "mkv"])
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
                let alone = try await fleet.coordinator(["submit", film, "--on-done", "true"])
                #expect(alone.code == 2)
                #expect(alone.error.contains("--on-done needs --wait"))
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
            let source = try fixture.copy(try await Clips.shared.film(), as: "film.mp4")
            try await Fleet.with(fixture, workers: 0) { fleet in
                func listed(_ arguments: [String] = []) async throws -> [Listed] {
                    let outcome = try await fleet.coordinator(["status", "--json"] + arguments)
                    try #require(outcome.code == 0, "\(outcome.error)")
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
                    text.first?.split(separator: " ").joined(separator: " ") == "JOB STATE DONE AGE NAME FILE LABELS")
                #expect(text[1].hasSuffix("Trailer, take 3  film.mp4  project=trailer,take=3"))
                let full = try await fleet.coordinator(["status", one]).output
                #expect(full.contains("\nname      Trailer, take 3\nlabels    project=trailer,take=3\nsubmitted "))
                #expect(full.contains("\noptions   mp4, crf 20\n"))

                #expect(try await listed(["--label", "project=trailer", "--limit", "1"]).map(\.id) == [two])
                #expect(try await listed(["--since", "2001-01-01"]).count == 3)
                #expect(try await listed(["--since", "1h", "--state", "done"]).isEmpty)
                #expect(
                    try await told(["weigh", "--weight", "3", "--all", "--label", "take=3"]) == [
                        "1 job matches", "job \(one) has the new weight",
                    ])
                #expect(try await listed().map(\.weight) == [3, 1, 2])
                #expect(
                    try await told(["pause", "--all", "--label", "project=trailer"]) == [
                        "2 jobs match", "paused job \(one); passes in flight are finished",
                        "paused job \(two); passes in flight are finished",
                    ])
                #expect(try await listed(["--state", "paused"]).map(\.id) == [one, two])
                #expect(try await told(["retry", "--all"]) == ["no job matches"])
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
            let first = try await fixture.run(.coordinator, ["run", "a.mp4", "shots", "--json"] + options)
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
            let again = try await fixture.run(.coordinator, ["run", "a.mp4", "shots", "--skip-existing"] + options)
            #expect(again.code == 0, "\(again.error)")
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
                let again = try await fleet.coordinator(["fetch", "@"])
                #expect(again.code == 5 && again.error.contains("exists"), "\(again.error)")
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
