import Foundation
import ReelTestSupport
import Testing

extension EndToEnd {
    /// Sources on web servers, with real programs.
    @Suite struct WebTests {
        private let fixture: ProcessFixture

        init() throws { fixture = try ProcessFixture() }

        private func serve(_ path: String, as name: String = "my%20film.mp4") throws -> FileServer {
            try FileServer(.init(Data(contentsOf: URL(fileURLWithPath: path)), tag: "\"v1\""), name: name)
        }

        @Test("run reverses a URL to the last sample; its query is nowhere, and its name is the file's")
        func run() async throws {
            let source = try await Clips.shared.film()
            let server = try serve(source)
            let outcome = try await fixture.run(
                .coordinator, ["run", server.url, "-o", "out.mov", "--lossless", "--pass-frames", "25", "--json"])
            #expect(outcome.code == 0, "\(outcome.error)")
            try await fixture.expectExactlyReversed(source, fixture.path("out.mov"))
            let before = try await fixture.samples(of: source, channels: 2)
            #expect(try await fixture.samples(of: fixture.path("out.mov"), channels: 2) == before.map { $0.reversed() })
            #expect(outcome.output.contains("/films/my%20film.mp4?…"))
            #expect(!(outcome.output + outcome.error).contains("secret"))
            #expect(server.requests.allSatisfy { $0.headers["range"] != nil && $0.path.hasSuffix("?signature=secret") })

            let usual = try await fixture.run(.coordinator, ["run", server.url])
            #expect(usual.code == 0, "\(usual.error)")
            #expect(fixture.names == ["my film.reversed.mp4", "out.mov"])
            #expect(try await fixture.isQuiet())
        }

        @Test("a farm makes of a URL what it makes of the file, and workers that may not read it leave it to others")
        func farm() async throws {
            let source = try fixture.copy(try await Clips.shared.crowd(frames: 144, size: "640x360"), as: "crowd.mov")
            let server = try serve(source, as: "crowd.mov")
            let options = ["--lossless", "--pass-frames", "24"]
            try await Fleet.with(fixture, workers: 1) { fleet in
                let id = try await fleet.submit([server.url] + options)
                // The only worker does not read URLs.
                #expect(try await eventually { try await fleet.job(id).state == "failed" })
                let told = try await fleet.coordinator(["status", id])
                #expect(told.output.contains("this host reads no sources from there"), "\(told.output)")
                #expect(!(told.output + told.error).contains("secret"))
                try await fleet.startWorker(arguments: ["--source-host", "127.0.0.1"])
                #expect(try await eventually { try await fleet.listedWorkers().count == 2 })
                #expect(try await fleet.coordinator(["retry", id]).code == 0)
                let ended = try await fleet.coordinator(["wait", id])
                #expect(ended.code == 0, "\(ended.error)")
                let local = try await fleet.submit([source] + options)
                #expect(try await fleet.coordinator(["wait", local]).code == 0)
                let output = try #require(FileManager.default.contents(atPath: fleet.folder(id) + "/output.mov"))
                #expect(output == FileManager.default.contents(atPath: fleet.folder(local) + "/output.mov"))
                try await fixture.expectExactlyReversed(source, fleet.folder(id) + "/output.mov")
                #expect(try await eventually { fleet.leftovers.isEmpty }, "\(fleet.leftovers)")
            }
        }

        @Test("clips and the soundtrack of an edit may be URLs")
        func edit() async throws {
            let film = try fixture.copy(try await Clips.shared.film(), as: "film.mp4")
            let server = try serve(film, as: "film.mp4")
            func edit(_ source: String) -> String {
                """
                {"clips": [{"source": "\(source)", "from": 1, "to": 2, "play": "reverse"}, {"source": "film.mp4", "to": 1}],
                 "soundtrack": {"source": "\(source)", "from": 0.5}}
                """
            }
            for (name, source) in [("web", server.url), ("local", "film.mp4")] {
                try edit(source).write(toFile: fixture.path("\(name).json"), atomically: false, encoding: .utf8)
                let outcome = try await fixture.run(.coordinator, ["run", "\(name).json", "-o", "\(name).mp4"])
                #expect(outcome.code == 0, "\(outcome.error)")
            }
            let made = try #require(FileManager.default.contents(atPath: fixture.path("web.mp4")))
            #expect(made == FileManager.default.contents(atPath: fixture.path("local.mp4")))
        }

        @Test("a signed URL that runs out keeps what is finished; with a new one the same job goes on")
        func signature() async throws {
            let source = try await Clips.shared.long()
            let content = try Data(contentsOf: URL(fileURLWithPath: source))
            let jobs = fixture.path(".reel/jobs")
            let old = try FileServer(.init(content, tag: "\"v1\"")) { _, _ in
                let files = FileManager.default.enumerator(atPath: jobs)?.allObjects as? [String] ?? []
                return files.count { $0.hasSuffix(".nut.json") } >= 2 ? .status(403) : nil
            }
            let new = try FileServer(.init(content, tag: "\"v1\""))
            let options = ["-o", "out.mov", "--lossless", "--pass-frames", "40", "--slots", "1", "--json"]
            let stopped = try await fixture.run(.coordinator, ["run", old.url] + options)
            #expect(stopped.code == 3, "\(stopped.error)")
            #expect(stopped.error.contains("a signed URL may have run out"), "\(stopped.error)")
            let outcome = try await fixture.run(.coordinator, ["run", new.url] + options)
            #expect(outcome.code == 0, "\(outcome.error)")
            #expect(outcome.error.contains("goes on where an earlier run of the same job stopped"), "\(outcome.error)")
            try await fixture.expectExactlyReversed(source, fixture.path("out.mov"))
            #expect(!(stopped.output + stopped.error + outcome.output + outcome.error).contains("secret"))
        }

        @Test("a URL whose bytes change while it is reversed ends the job as a changed file does")
        func changed() async throws {
            let source = try await Clips.shared.long()
            let content = try Data(contentsOf: URL(fileURLWithPath: source))
            let server = try FileServer(.init(content, tag: "\"v1\"")) { _, number in
                // The source has been planned by then.
                number > 6 ? .status(412) : nil
            }
            let outcome = try await fixture.run(
                .coordinator, ["run", server.url, "-o", "out.mov", "--lossless", "--pass-frames", "40"])
            #expect(outcome.code == 3, "\(outcome.error)")
            #expect(outcome.error.contains("my%20film.mp4?…"), "\(outcome.error)")
            #expect(!outcome.error.contains("secret"))
            #expect(try await fixture.isQuiet())
        }
    }
}
