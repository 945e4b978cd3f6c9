import Foundation
import Testing

extension EndToEnd {
    /// Clients that generators make from the server's OpenAPI document.
    @Suite struct GeneratedClientTests {
        private let fixture: ProcessFixture

        init() throws { fixture = try ProcessFixture() }

        /// A generator beside the Python of `REEL_PYTHON`; nil if it is not installed.
        private static func generator(_ name: String) -> String? {
            guard let python = ProcessInfo.processInfo.environment["REEL_PYTHON"] else { return nil }
            let path = URL(filePath: python).deletingLastPathComponent().appending(path: name).path
            return FileManager.default.isExecutableFile(atPath: path) ? path : nil
        }

        private static let types = """
            content_type_overrides:
              application/offset+octet-stream: application/octet-stream
              image/jpeg: application/octet-stream
              video/mp4: application/octet-stream
              application/zip: application/octet-stream
              "*/*": application/octet-stream
            """

        @Test(
            "openapi-python-client makes every operation, and its client uploads, edits and downloads",
            .enabled(if: generator("openapi-python-client") != nil, "its package is not installed beside REEL_PYTHON"))
        func pythonClient() async throws {
            try GeneratedClientTests.types.write(
                toFile: fixture.path("types.yaml"), atomically: true, encoding: .utf8)
            try await expectAFilm("openapi-python-client", "client_of_openapi_python_client.py") { document, folder in
                ["generate", "--path", document, "--config", "types.yaml", "--output-path", folder]
            }
        }

        @Test(
            "openapi-generator makes every operation, and its client uploads, edits and downloads",
            .enabled(if: generator("openapi-generator-cli") != nil, "its package is not installed beside REEL_PYTHON"))
        func openAPIGenerator() async throws {
            try await expectAFilm("openapi-generator-cli", "client_of_openapi_generator.py") { document, folder in
                ["generate", "-i", document, "-g", "python", "-o", folder, "--package-name", "reel_client"]
            }
        }

        /// Has a generator make a client, and the client make a film of an upload.
        private func expectAFilm(
            _ generator: String, _ script: String, _ arguments: (_ document: String, _ folder: String) -> [String]
        ) async throws {
            let program = try #require(GeneratedClientTests.generator(generator))
            let python = try #require(ProcessInfo.processInfo.environment["REEL_PYTHON"])
            let source = try fixture.copy(try await Clips.shared.film(), as: "film.mp4")
            try await Fleet.with(fixture, workers: 1) { fleet in
                try await WebServer.with(fleet) { server in
                    let document = try await server.get("/api/v1/openapi.json")
                    try document.body.write(to: URL(filePath: fixture.path("openapi.json")))
                    let made = try await fixture.run(
                        .at(program), arguments(fixture.path("openapi.json"), fixture.path("client")))
                    #expect(made.code == 0, "\(made.output) \(made.error)")
                    #expect(!(made.output + made.error).contains("will not be generated"), "\(made.output)")
                    let client = URL(filePath: #filePath).deletingLastPathComponent()
                        .appending(path: "Fixtures/\(script)").path
                    let used = try await fixture.run(
                        .at(python), [client, server.url(""), source, fixture.path("out.mkv")],
                        environment: ["PYTHONPATH": fixture.path("client")])
                    #expect(used.code == 0, "\(used.output) \(used.error)")
                    let before = try await fixture.frames(of: source).map(\.hash)
                    #expect(try await fixture.frames(of: fixture.path("out.mkv")).map(\.hash) == before.reversed())
                }
            }
        }
    }
}
