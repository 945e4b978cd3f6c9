import Foundation
import Testing

extension EndToEnd {
    /// `ui`: pages for one machine, with nothing else running.
    @Suite struct LocalServerTests {
        private let fixture: ProcessFixture

        init() throws { fixture = try ProcessFixture() }

        /// Starts it, and returns when it answers.
        private func start(_ arguments: [String] = []) async throws -> WebServer {
            let port = try WebServer.freePort()
            let child = try await fixture.start(
                .coordinator,
                ["ui", fixture.path("jobs"), "--port", "\(port)", "--no-browser", "--sources", fixture.folder]
                    + arguments)
            let server = WebServer(child: child, port: port, path: "")
            let answers = try await eventually {
                guard child.isRunning else { return true }
                return (try? await server.get("/api/v1/health").status) == 200
            }
            guard answers, child.isRunning else {
                Issue.record("it did not start: \(try await child.kill().error)")
                throw Running.Ended()
            }
            return server
        }

        @Test("jobs are done and stay, unfinished ones go on with the next start, and nothing keeps running")
        func jobsStay() async throws {
            let long = try fixture.copy(try await Clips.shared.long(), as: "long.mp4")
            let short = try fixture.copy(try await Clips.shared.film(), as: "film.mp4")
            let server = try await start(["--slots", "1"])
            #expect(try await server.get("/").text.contains("<title>reel</title>"))
            let first = try await server.send("POST", "/api/v1/jobs", ["source": short, "options": ["to": "1"]])
            let done = try #require(try first.object()["id"] as? String, "\(first.text)")
            #expect(try await server.end(of: done)["state"] as? String == "done")
            let second = try await server.send(
                "POST", "/api/v1/jobs",
                ["source": long, "options": ["container": "mov", "lossless": true, "passFrames": 40]])
            let unfinished = try #require(try second.object()["id"] as? String, "\(second.text)")
            #expect(
                try await eventually {
                    let job = try await server.get("/api/v1/jobs/\(unfinished)").object()
                    return job["passesDone"] as? Int ?? 0 >= 2
                })
            server.child.send(SIGINT)
            let ended = try await server.child.outcome
            #expect(ended.code == 0, "\(ended.error)")
            #expect(ended.error.contains("the pages are at http://127.0.0.1:\(server.port)/, the jobs in "))
            #expect(try await fixture.isQuiet())

            let again = try await start()
            #expect(try await again.get("/api/v1/jobs/\(done)/output").status == 200)
            #expect(try await again.end(of: unfinished)["state"] as? String == "done")
            let output = try await again.get("/api/v1/jobs/\(unfinished)/output")
            try output.body.write(to: URL(fileURLWithPath: fixture.path("out.mov")))
            try await fixture.expectExactlyReversed(long, fixture.path("out.mov"))

            let other = try await fixture.run(.coordinator, ["ui", fixture.path("jobs"), "--port", "0"])
            #expect(other.code == 4)
            #expect(other.error.contains("pid \(again.child.pid) on") && other.error.contains("takes another folder"))
            let taken = try await fixture.run(
                .coordinator, ["ui", fixture.path("others"), "--port", "\(again.port)", "--no-browser"])
            #expect(taken.code == 4)
            #expect(taken.error.contains("Address already in use") && taken.error.contains("--port names another"))

            #expect(try await again.child.kill().code == 128 + 9)
            #expect(try await fixture.isQuiet())
        }

        @Test("a server that ends by itself ends everything")
        func theServerEnds() async throws {
            let server = try await start()
            #expect(fixture.kill("reel-server"))
            let ended = try await server.child.outcome
            #expect(ended.code == 4)
            #expect(ended.error.contains("the local server ended"), "\(ended.error)")
            #expect(try await fixture.isQuiet())
        }
    }
}
