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
