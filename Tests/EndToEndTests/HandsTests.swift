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
