import Foundation
import Testing

extension EndToEnd {
    /// Requests that schemathesis makes of the server's document, as it allows them and as it does not, and its judgement of
    /// the answers. docs/api.md names what is left out, and how a longer run is made.
    @Suite(.enabled(if: program != nil, "its package is not installed beside REEL_PYTHON"))
    struct SchemathesisTests {
        private let fixture: ProcessFixture

        init() throws { fixture = try ProcessFixture() }

        @Test func noAnswerDepartsFromTheDocument() async throws {
            let program = try #require(program)
            let fixtures = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Fixtures").path
            let token = try await fixture.run(
                .at(Program.folder + "/reel-server"),
                ["token", "a", "--role", "admin", "--tokens", fixture.path("tokens")])
            try #require(token.code == 0, "\(token.error)")
            let admin = token.output.trimmingCharacters(in: .newlines)
            let film = try fixture.copy(try await Clips.shared.film(), as: "film.mp4")
            try await Fleet.with(fixture, workers: 1) { fleet in
                let access = ["--tokens", fixture.path("tokens"), "--sources", fixture.folder]
                try await WebServer.with(fleet, access) { server in
                    let made = try await server.send(
                        "POST", "/api/v1/jobs", ["source": film, "options": ["to": 1]], token: admin)
                    _ = try await server.end(of: try #require(made.object()["id"] as? String), token: admin)
                    let judged = try await fixture.run(
                        .at(program),
                        [
                            "--config-file", fixtures + "/schemathesis.toml", "run", server.url("/api/v1/openapi.json"),
                            "--header", "Authorization: Bearer \(admin)", "--phases", "fuzzing", "--max-examples", "4",
                            "--seed", "1", "--generation-database", "none", "--no-color", "--request-timeout", "60",
                            "--checks", "all", "--exclude-checks", "ignored_auth,unsupported_method",
                            // The stream has no end, and the longest folder is longer than a request may be.
                            "--exclude-operation-id", "followEvents", "--exclude-operation-id", "listSources",
                        ],
                        environment: ["SCHEMATHESIS_HOOKS": "schemathesis_hooks", "PYTHONPATH": fixtures])
                    #expect(judged.code == 0, "\(judged.output) \(judged.error)")
                }
            }
        }
    }
}

/// Beside the Python of REEL_PYTHON; nil if it is not installed.
private let program: String? = {
    guard let python = ProcessInfo.processInfo.environment["REEL_PYTHON"] else { return nil }
    let path = URL(filePath: python).deletingLastPathComponent().appending(path: "schemathesis").path
    return FileManager.default.isExecutableFile(atPath: path) ? path : nil
}()
