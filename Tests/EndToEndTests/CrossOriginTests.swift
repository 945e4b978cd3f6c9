import Foundation
import Testing

extension EndToEnd {
    /// Pages of other sites, as browsers let them ask.
    @Suite struct CrossOriginTests {
        private let fixture: ProcessFixture

        init() throws { fixture = try ProcessFixture() }

        private func withServer(_ body: (WebServer, _ token: String) async throws -> Void) async throws {
            let tokens = fixture.path("tokens")
            let made = try await fixture.run(
                .at(Program.folder + "/reel-server"), ["token", "app", "--role", "operator", "--tokens", tokens])
            let token = made.output.trimmingCharacters(in: .whitespacesAndNewlines)
            try await Fleet.with(fixture, workers: 0) { fleet in
                try await WebServer.with(fleet, ["--tokens", tokens, "--allow-origin", "https://app.example"]) {
                    try await body($0, token)
                }
            }
        }

        @Test func aListedSiteMayUseTheAPIAndReadItsAnswers() async throws {
            try await withServer { server, token in
                for (method, place) in [
                    ("POST", "jobs"), ("PATCH", "uploads/x"), ("DELETE", "jobs/x"), ("GET", "queue"),
                ] {
                    let asked = try await server.send(
                        "OPTIONS", "/api/v1/\(place)",
                        headers: [
                            "Origin": "https://app.example", "Access-Control-Request-Method": method,
                            "Access-Control-Request-Headers": "authorization, content-type, upload-offset",
                        ])
                    #expect(asked.status == 204)
                    #expect(asked.headers["access-control-allow-origin"] == "https://app.example")
                    #expect(asked.headers["access-control-allow-methods"]?.contains(method) == true)
                    let fields = asked.headers["access-control-allow-headers"]?.lowercased() ?? ""
                    for field in ["authorization", "content-type", "upload-offset", "tus-resumable"] {
                        #expect(fields.contains(field), "\(fields)")
                    }
                    #expect(asked.headers["access-control-allow-credentials"] == nil)
                }
                let origin = ["Origin": "https://app.example", "Sec-Fetch-Site": "cross-site"]
                let queue = try await server.send("GET", "/api/v1/queue", token: token, headers: origin)
                #expect(queue.status == 200)
                #expect(queue.headers["access-control-allow-origin"] == "https://app.example")
                #expect(queue.headers["vary"]?.contains("Origin") == true)
                // Problems can be read, too.
                let refused = try await server.send("POST", "/api/v1/jobs", ["a": 1], token: token, headers: origin)
                #expect(refused.status == 400 && refused.code == "request-invalid", "\(refused.text)")
                #expect(refused.headers["access-control-allow-origin"] == "https://app.example")
                let stranger = try await server.send("GET", "/api/v1/queue", headers: origin)
                #expect(stranger.status == 401, "a site brings no rights")
                let tus = try await server.send(
                    "OPTIONS", "/api/v1/uploads", headers: ["Origin": "https://app.example"])
                #expect(tus.headers["tus-version"] == "1.0.0")
            }
        }

        @Test func anyOtherSiteIsRefused() async throws {
            try await withServer { server, token in
                for origin in ["https://app.example.org", "http://app.example", "https://app.example:444", "null"] {
                    let headers = ["Origin": origin, "Sec-Fetch-Site": "cross-site"]
                    let asked = try await server.send(
                        "OPTIONS", "/api/v1/jobs",
                        headers: headers.merging(["Access-Control-Request-Method": "POST"]) { $1 })
                    #expect(asked.headers["access-control-allow-origin"] == nil, "\(origin)")
                    let answer = try await server.send("POST", "/api/v1/jobs", ["a": 1], token: token, headers: headers)
                    #expect((answer.status, answer.code) == (403, "other-site"), "\(origin)")
                    #expect(answer.headers["access-control-allow-origin"] == nil)
                }
            }
        }

        @Test(arguments: [
            "*", "app.example", "https://app.example/", "https://App.example", "https://a.example/x", "file://x",
        ])
        func whatIsNoOriginIsRefused(_ text: String) async throws {
            let outcome = try await fixture.run(
                .at(Program.folder + "/reel-server"), ["--tokens", fixture.path("tokens"), "--allow-origin", text])
            #expect(outcome.code == 2 && outcome.error.contains("--allow-origin takes a site"), "\(outcome.error)")
        }
    }
}
