import Foundation
import Subprocess
import Testing

extension EndToEnd {
    /// Many short videos with one command.
    @Suite struct ListTests {
        private let fixture: ProcessFixture

        init() throws { fixture = try ProcessFixture() }

        /// Writes small files that differ, and returns their names. Only an engine would notice that they are no media.
        private func files(_ count: Int) throws -> [String] {
            try (0..<count).map { number in
                try Data("no media, number \(number)".utf8).write(to: URL(filePath: fixture.path("n\(number).mp4")))
                return "n\(number).mp4"
            }
        }

        @Test("submit takes 200 names on standard input, begins each job, and names the two that cannot be")
        func names() async throws {
            var names = try files(198)
            names.insert("missing one.mp4", at: 7)
            names.insert("folder", at: 100)
            try FileManager.default.createDirectory(atPath: fixture.path("folder"), withIntermediateDirectories: false)
            // As Windows writes it, and with an empty line.
            let list = names.joined(separator: "\r\n") + "\r\n\r\n"
            try list.write(toFile: fixture.path("names"), atomically: true, encoding: .utf8)
            try await Fleet.with(fixture, workers: 0) { fleet in
                let outcome = try await fleet.shell(
                    #"reel-coordinator submit --from-file - --crf 20 --label list=one <"$1""#, [fixture.path("names")])
                #expect(outcome.code == 3, "\(outcome.error)")
                let ids = outcome.output.split(separator: "\n").map(String.init)
                #expect(ids.count == 198 && Set(ids) == fleet.jobs)
                let sources = ids.compactMap { id in
                    (fleet.record(of: id)?["sources"] as? [[String: Any]])?.first?["path"] as? String
                }
                #expect(sources == names.filter { $0.hasPrefix("n") }.map(fixture.path), "in the order of the list")
                for id in ids { #expect(try fleet.sight(id).state == "probing") }
                #expect(outcome.error.contains("missing one.mp4: "), "\(outcome.error)")
                #expect(outcome.error.contains("No such file"))
                #expect(outcome.error.contains("folder is a folder, and no file in it has a video's name"))
                #expect(outcome.errorLines.last?.contains("2 of 200 videos failed") == true)
                let listed = try await fleet.coordinator(["status", "--label", "list=one", "--json"])
                #expect(listed.output.contains("\"list\":\"one\""))
                // The same list attaches to the same jobs.
                let again = try await fleet.coordinator(
                    ["submit", "--from-file", "names", "--crf", "20", "--json"])
                #expect(again.code == 3 && fleet.jobs.count == 198)
                struct Line: Decodable { let id, state: String? }
                let told = try again.output.split(separator: "\n").map {
                    try JSONDecoder().decode(Line.self, from: Data($0.utf8))
                }
                #expect(told.count { $0.state == "probing" } == 198)
                #expect(told.compactMap { $0.state == nil ? nil : $0.id } == ids)
            }
        }

        @Test("a list that is not one is refused as a whole")
        func notAList() async throws {
            try Data("a.mp4\0b.mp4\0".utf8).write(to: URL(filePath: fixture.path("zeros")))
            try Data("\n\r\n".utf8).write(to: URL(filePath: fixture.path("empty")))
            try FileManager.default.createDirectory(atPath: fixture.path("folder"), withIntermediateDirectories: false)
            for (arguments, words) in [
                (["--from-file", "zeros"], "zeros is not a list with one name a line"),
                (["--from-file", "empty"], "empty names no video"), (["--from-file", "none"], "none cannot be opened"),
                (["--from-file", "folder"], "folder cannot be read"), ([], "name the videos to reverse"),
            ] {
                let outcome = try await fixture.run(.coordinator, ["submit"] + arguments)
                #expect(outcome.code == 2, "\(arguments): \(outcome.error)")
                #expect(outcome.error.contains(words), "\(outcome.error)")
            }
        }

        @Test("a list with --wait delivers each video, with the warnings of its plan, and fails as workers say")
        func waiting() async throws {
            let film = try await Clips.shared.film()
            try await fixture.run(
                .ffmpeg, ["-v", "error", "-i", film, "-c", "copy", "-metadata", "director=x", fixture.path("b.mkv")])
            _ = try fixture.copy(film, as: "a.mp4")
            try Data("no media".utf8).write(to: URL(filePath: fixture.path("bad.mp4")))
            try await Fleet.with(fixture, workers: 1) { fleet in
                let outcome = try await fleet.coordinator(
                    ["submit", "a.mp4", "bad.mp4", "b.mkv", "--to", "6f", "--container", "mp4", "--wait"])
                #expect(outcome.code == 3)
                #expect(outcome.error.contains("bad.mp4: cannot be read as video"), "\(outcome.error)")
                let left = "warning: b.mkv: tags are left out: a .mp4 file cannot hold director"
                #expect(outcome.error.contains(left), "\(outcome.error)")
                #expect(outcome.error.contains("1 of 3 videos failed"))
                for name in ["a", "b"] {
                    let output = fixture.path("\(name).reversed.mp4")
                    #expect(try await fixture.frames(of: output).count == 6, "\(outcome.error)")
                }
            }
        }

        @Test("run does short videos without Redis, in any number, and a long one among them as ever")
        func shortOnes() async throws {
            let film = try await Clips.shared.film()
            for name in ["a", "b", "c", "d"] { _ = try fixture.copy(film, as: "\(name).mp4") }
            _ = try fixture.copy(try await Clips.shared.long(), as: "c2.mp4")
            try Data("no media".utf8).write(to: URL(filePath: fixture.path("bad.mp4")))
            let options = ["--lossless", "--container", "mov", "--overwrite", "--json"]
            // Without redis-server in PATH.
            let short = try await fixture.run(
                .coordinator, ["run", "a.mp4", "bad.mp4", "b.mp4", "--pass-frames", "1000"] + options,
                environment: ["PATH": fixture.path("empty")])
            #expect(short.code == 3, "\(short.error)")
            #expect(short.error.contains("wrote 2 of 3 videos"), "\(short.error)")
            struct Line: Decodable {
                struct Failure: Decodable { let code: String }
                let output: String?
                let error: Failure?
                let peakRSS: Int?
                let passes: Int?
                let passesDone: Int?
            }
            func lines(_ outcome: Outcome) throws -> [Line] {
                try outcome.output.split(separator: "\n").map {
                    try JSONDecoder().decode(Line.self, from: Data($0.utf8))
                }
            }
            let told = try lines(short)
            #expect(told.map { $0.error?.code } == [nil, "not-media", nil])
            #expect(told.allSatisfy { $0.error != nil || $0.passes == $0.passesDone && $0.peakRSS ?? 0 > 1 << 20 })
            for name in ["a", "b"] {
                try await fixture.expectExactlyReversed(film, fixture.path("\(name).reversed.mov"))
            }
            #expect(!fixture.names.contains { $0.hasPrefix(".reel") || $0.hasPrefix("tmp/") }, "\(fixture.names)")

            // Several passes make the long one.
            let mixed = try await fixture.run(
                .coordinator, ["run", "c.mp4", "c2.mp4", "d.mp4", "--pass-frames", "130"] + options)
            #expect(mixed.code == 0, "\(mixed.error)")
            let passes = try lines(mixed).map { $0.passes ?? 0 }
            #expect(passes.count == 3 && passes.count { $0 > 2 } == 1, "\(passes)")
            for (name, source) in [("c", "c.mp4"), ("c2", "c2.mp4"), ("d", "d.mp4")] {
                try await fixture.expectExactlyReversed(
                    fixture.path(source), fixture.path("\(name).reversed.mov"))
            }
            #expect(try await fixture.isQuiet())
            #expect(!fixture.names.contains { $0.hasPrefix(".reel") || $0.hasPrefix("tmp/") }, "\(fixture.names)")
        }

        /// One pass that takes seconds.
        private func slow() async throws -> [String] {
            _ = try fixture.copy(try await Clips.shared.long(), as: "long.mp4")
            return ["run", "long.mp4", "-o", "out.mp4", "--pass-frames", "480", "--preset", "slower", "--slots", "1"]
                + ["--threads", "1", "--json"]
        }

        @Test("a short video whose engine dies is done as ever, and nothing is left of the attempt")
        func engineDies() async throws {
            let outcome = try await fixture.run(.coordinator, slow()) { running async throws in
                #expect(try await running.waits { isEncoding })
                #expect(fixture.kill("reel-engine"))
            }
            #expect(outcome.code == 0, "\(outcome.error)")
            let view = try JSONDecoder().decode(JobJSON.self, from: Data(outcome.output.utf8))
            #expect(view.state == "done" && view.frames == 480 && view.framesEncoded == 480)
            #expect(try await fixture.frames(of: fixture.path("out.mp4")).count == 480)
            #expect(fixture.names == ["long.mp4", "out.mp4"])
            #expect(try await fixture.isQuiet())
        }

        @Test("a short video that is interrupted leaves what the same command uses, and no process")
        func interrupted() async throws {
            let command = try await slow()
            let outcome = try await fixture.run(.coordinator, command) { running in
                #expect(try await running.waits { isEncoding })
                try running.send(.interrupt)
            }
            #expect(outcome.code == 130, "\(outcome.error)")
            #expect(outcome.output.hasPrefix("{\"error\":{\"code\":\"run-stopped\",\"exit\":130,"), "\(outcome.output)")
            #expect(outcome.errorLines.last?.contains("the same command goes on") == true, "\(outcome.error)")
            #expect(try await fixture.isQuiet())
            #expect(fixture.names == [".reel", "long.mp4"])
            let again = try await fixture.run(.coordinator, command)
            #expect(again.code == 0, "\(again.error)")
            #expect(try await fixture.frames(of: fixture.path("out.mp4")).count == 480)
            #expect(fixture.names == ["long.mp4", "out.mp4"])
        }

        @Test("a short video whose run is killed leaves no process, and its scratch is removed by the next")
        func killed() async throws {
            let command = try await slow()
            let outcome = try await fixture.run(.coordinator, command) { running in
                #expect(try await running.waits { isEncoding })
                try running.send(.kill)
            }
            #expect(outcome.code == 128 + 9)
            #expect(try await fixture.isQuiet())
            let again = try await fixture.run(.coordinator, command)
            #expect(again.code == 0, "\(again.error)")
            #expect(fixture.names == ["long.mp4", "out.mp4"])
        }

        /// Whether an engine writes a segment into a scratch folder.
        private var isEncoding: Bool {
            let tmp = FileManager.default.enumerator(atPath: fixture.path("tmp"))?.allObjects as? [String] ?? []
            return tmp.contains { $0.hasPrefix("reel-scratch.") && $0.hasSuffix(".nut.part") }
        }
    }
}
