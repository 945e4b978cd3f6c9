import Foundation
import Testing

extension EndToEnd {
    /// Real answers, compared with the server's own OpenAPI document by an independent reader of JSON Schema.
    @Suite(.enabled(if: python != nil, "set REEL_PYTHON to a Python that has jsonschema"))
    struct APISchemaTests {
        private let fixture: ProcessFixture

        init() throws { fixture = try ProcessFixture() }

        /// Sends requests, and keeps what `check_answers.py` reads of their answers.
        private final class Recorder {
            let server: WebServer
            let token: String
            private(set) var lines: [String] = []

            init(_ server: WebServer, token: String) { (self.server, self.token) = (server, token) }

            @discardableResult
            func send(
                _ method: String, _ place: String, _ value: [String: Any]? = nil, token: String? = nil,
                headers: [String: String] = [:], body: Data? = nil
            ) async throws -> WebServer.Answer {
                let token = token ?? self.token
                let answer: WebServer.Answer
                if let value {
                    answer = try await server.send(method, place, value, token: token, headers: headers)
                } else {
                    answer = try await server.send(method, place, token: token, headers: headers, body: body)
                }
                let type = answer.headers["content-type"] ?? ""
                let isText = type.contains("json")
                let line: [String: Any] = [
                    "method": method, "path": place.split(separator: "?").first.map { "\($0)" } ?? "",
                    "status": answer.status, "type": type,
                    "body": isText ? answer.text : answer.body.isEmpty ? "" : "bytes",
                ]
                lines.append(String(decoding: try JSONSerialization.data(withJSONObject: line), as: UTF8.self))
                return answer
            }

            /// Sends it again while the answer is that it will be there later.
            func wait(_ place: String) async throws {
                for _ in 0..<100 {
                    guard try await send("GET", place).status == 503 else { return }
                    try await Task.sleep(for: .milliseconds(100))
                }
            }
        }

        @Test func everyAnswerIsAsTheDocumentSays() async throws {
            let folder = fixture.path("sources")
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            let source = "\(folder)/film.mp4"
            try FileManager.default.copyItem(atPath: try await Clips.shared.film(), toPath: source)
            try "no video".write(toFile: "\(folder)/n.mp4", atomically: true, encoding: .utf8)
            var tokens: [String: String] = [:]
            for role in ["viewer", "admin"] {
                let made = try await fixture.run(
                    .at(Program.folder + "/reel-server"),
                    ["token", role, "--role", role, "--tokens", fixture.path("tokens")])
                try #require(made.code == 0, "\(made.error)")
                tokens[role] = made.output.trimmingCharacters(in: .newlines)
            }
            let (viewer, admin) = (try #require(tokens["viewer"]), try #require(tokens["admin"]))
            try await Fleet.with(fixture, workers: 1) { fleet in
                try await WebServer.with(fleet, ["--tokens", fixture.path("tokens"), "--sources", folder]) { server in
                    let recorder = Recorder(server, token: admin)
                    let job = try await makeJobs(recorder, source, folder)
                    try await readJobs(recorder, job)
                    let proxies = ["source", "output"].map { "jobs/\(job)/proxy/\($0).mp4" }
                    for proxy in proxies { try await recorder.wait("/api/v1/\(proxy)") }
                    try await readFiles(recorder, ["jobs/\(job)/output", "jobs/\(job)/source"] + proxies)
                    try await recorder.send("GET", "/api/v1/results.zip?job=\(job)")
                    try await recorder.send("GET", "/api/v1/results.zip")
                    try await preview(recorder, source, folder)
                    try await changeJobs(recorder, source, try await fleet.listedWorkers()[0])
                    try await upload(recorder)
                    try await refuse(recorder, viewer: viewer)
                    try await compare(recorder)
                }
            }
        }

        private func makeJobs(_ recorder: Recorder, _ source: String, _ folder: String) async throws -> String {
            for place in ["health", "ready", "openapi.json", "session"] {
                try await recorder.send("GET", "/api/v1/\(place)")
            }
            let tag = try await recorder.send("GET", "/api/v1/openapi.json").headers["etag"]
            try await recorder.send("GET", "/api/v1/openapi.json", headers: ["If-None-Match": try #require(tag)])
            try await recorder.send("POST", "/api/v1/session", ["token": recorder.token])
            try await recorder.send("DELETE", "/api/v1/session")
            let request: [String: Any] = [
                "source": source, "name": "A", "labels": ["a": "b"], "options": ["passFrames": 50],
            ]
            #expect(try await recorder.send("POST", "/api/v1/plan", request).status == 200)
            let made = try await recorder.send("POST", "/api/v1/jobs", request)
            #expect(made.status == 201)
            try await recorder.send("POST", "/api/v1/jobs", request)
            let edit: [String: Any] = [
                "clips": [["source": source, "to": 1], ["source": source, "to": 1, "play": "reverse"]]
            ]
            let edited = try await recorder.send("POST", "/api/v1/jobs", ["edit": edit])
            let broken = try await recorder.send("POST", "/api/v1/jobs", ["source": "\(folder)/n.mp4"])
            var ids: [String] = []
            for answer in [made, edited, broken] {
                let id = try #require(try answer.object()["id"] as? String, "\(answer.text)")
                // As it is while it is worked on.
                try await recorder.send("GET", "/api/v1/jobs/\(id)")
                ids.append(id)
            }
            for place in ["queue", "workers", "demand"] { try await recorder.send("GET", "/api/v1/\(place)") }
            var states: [String] = []
            for id in ids {
                states.append(try await recorder.server.end(of: id, token: recorder.token)["state"] as? String ?? "")
            }
            #expect(states == ["done", "done", "failed"])
            try await recorder.send("GET", "/api/v1/jobs/\(ids[2])/failures")
            try await recorder.send("POST", "/api/v1/jobs/\(ids[2])/retry")
            try await recorder.send("GET", "/api/v1/jobs/\(ids[1])")
            return ids[0]
        }

        private func readJobs(_ recorder: Recorder, _ job: String) async throws {
            for place in [
                "jobs", "jobs?limit=1&state=done&label=a=b&q=A", "jobs?colour=red", "jobs?limit=0", "jobs?cursor=x",
                "jobs/\(job)", "jobs/\(job.prefix(6))", "jobs/@", "jobs/0000000000000000",
                "jobs/\(job)/strip?cells=3", "jobs/\(job)/passes?limit=1", "jobs/\(job)/passes?state=done",
                "jobs/\(job)/failures", "workers", "queue", "demand", "counts", "rates", "audit", "audit?limit=1",
            ] {
                try await recorder.send("GET", "/api/v1/\(place)")
            }
            try await recorder.send("GET", "/api/v1/events", headers: ["Last-Event-ID": "yesterday"])
            for picture in [
                "frames/source/0.jpg", "frames/output/0.jpg", "frames/source/1000000.jpg", "filmstrip/source.jpg",
                "filmstrip/output.jpg",
            ] {
                try await recorder.wait("/api/v1/jobs/\(job)/\(picture)")
            }
        }

        private func preview(_ recorder: Recorder, _ source: String, _ folder: String) async throws {
            for place in [
                "sources", "sources?folder=\(folder)", "sources?folder=/etc", "previews?source=\(folder)/n.mp4",
                "previews",
                "previews/frames.jpg?source=\(source)&first=1000000",
            ] {
                try await recorder.send("GET", "/api/v1/\(place)")
            }
            try await recorder.wait("/api/v1/previews?source=\(source)")
            let frames = "/api/v1/previews/frames.jpg?source=\(source)&count=3"
            try await recorder.wait(frames)
            let tag = try #require(try await recorder.send("HEAD", frames).headers["etag"])
            try await recorder.send("GET", frames, headers: ["If-None-Match": tag])
            try await readFiles(recorder, ["previews/file?source=\(source)"])
        }

        private func readFiles(_ recorder: Recorder, _ files: [String]) async throws {
            for file in files {
                let place = "/api/v1/\(file)"
                let tag = try #require(try await recorder.send("HEAD", place).headers["etag"])
                for headers in [
                    [:], ["Range": "bytes=0-9"], ["Range": "bytes=1000000000-"], ["If-None-Match": tag],
                    ["If-Match": "\"other\""],
                ] {
                    try await recorder.send("GET", place, headers: headers)
                }
            }
        }

        private func changeJobs(_ recorder: Recorder, _ source: String, _ worker: WorkerJSON) async throws {
            for place in ["workers/\(worker.id)", "hosts/\(worker.host)"] {
                try await recorder.send("POST", "/api/v1/\(place)/drain")
                try await recorder.send("GET", "/api/v1/workers")
                try await recorder.send("POST", "/api/v1/\(place)/undrain")
            }
            try await recorder.send("POST", "/api/v1/hosts/\(worker.host)/drain")
            let made = try await recorder.send("POST", "/api/v1/jobs", ["source": source, "options": ["crf": 40]])
            let place = "/api/v1/jobs/\(try #require(try made.object()["id"] as? String, "\(made.text)"))"
            try await recorder.send("PATCH", place, ["weight": 2, "name": "B", "labels": ["c": "d"]])
            try await recorder.send("PATCH", place, ["weight": 0])
            try await recorder.send("DELETE", place)
            for verb in ["pause", "resume", "cancel", "cancel", "retry"] {
                try await recorder.send("POST", "\(place)/\(verb)")
            }
            #expect(try await recorder.send("DELETE", place).status == 204)
            try await recorder.send("POST", "/api/v1/hosts/\(worker.host)/undrain")
            try await recorder.send("POST", "/api/v1/workers/nobody/drain")
        }

        private func upload(_ recorder: Recorder) async throws {
            let tus = ["Tus-Resumable": "1.0.0"]
            let piece = tus.merging(["Content-Type": "application/offset+octet-stream"]) { $1 }
            try await recorder.send("OPTIONS", "/api/v1/uploads")
            try await recorder.send("POST", "/api/v1/uploads", headers: ["Upload-Length": "3"])
            try await recorder.send("POST", "/api/v1/uploads", headers: tus)
            for remove in ["DELETE", "POST"] {
                let made = try await recorder.send(
                    "POST", "/api/v1/uploads", headers: tus.merging(["Upload-Length": "4"]) { $1 })
                let place = try #require(made.headers["location"])
                try await recorder.send("OPTIONS", place)
                let first = piece.merging(["Upload-Offset": "0"]) { $1 }
                try await recorder.send("PATCH", place, headers: first, body: Data("ab".utf8))
                try await recorder.send("PATCH", place, headers: first, body: Data("ab".utf8))
                let second = piece.merging(["Upload-Offset": "2"]) { $1 }
                try await recorder.send(
                    "PATCH", place,
                    headers: second.merging(["Upload-Checksum": "sha1 AAAAAAAAAAAAAAAAAAAAAAAAAAA="]) { $1 },
                    body: Data("cd".utf8))
                try await recorder.send(
                    "POST", place, headers: second.merging(["X-HTTP-Method-Override": "PATCH"]) { $1 },
                    body: Data("cd".utf8))
                try await recorder.send("HEAD", place, headers: tus)
                let removal = tus.merging(["X-HTTP-Method-Override": "DELETE"]) { $1 }
                #expect(try await recorder.send(remove, place, headers: removal).status == 204)
                try await recorder.send("HEAD", place, headers: tus)
                try await recorder.send("DELETE", place, headers: tus)
            }
        }

        private func refuse(_ recorder: Recorder, viewer: String) async throws {
            try await recorder.send("GET", "/api/v1/jobs", token: "reel_wrong")
            try await recorder.send("POST", "/api/v1/jobs", [:], token: viewer)
            try await recorder.send("POST", "/api/v1/jobs", [:])
            try await recorder.send("POST", "/api/v1/jobs", ["source": "/etc/passwd"])
            try await recorder.send("POST", "/api/v1/jobs", ["source": "/etc/passwd", "upload": "a"])
            try await recorder.send("POST", "/api/v1/plan", ["upload": "0000", "options": ["crf": "x"]])
            try await recorder.send("PUT", "/api/v1/jobs")
            try await recorder.send("GET", "/api/v1/nothing")
        }

        /// Every success that the document names was tried but the stream of events, which has no end.
        private func compare(_ recorder: Recorder) async throws {
            let lines = recorder.lines
            try lines.joined(separator: "\n").write(
                toFile: fixture.path("answers.jsonl"), atomically: true, encoding: .utf8)
            let document = try await recorder.server.get("/api/v1/openapi.json").body
            try document.write(to: URL(fileURLWithPath: fixture.path("openapi.json")))
            let script = URL(filePath: #filePath).appending(path: "../Fixtures/check_answers.py").standardized
            let outcome = try await fixture.run(
                .at(try #require(python)),
                ["-B", script.path(percentEncoded: false), fixture.path("openapi.json"), fixture.path("answers.jsonl")])
            #expect(outcome.code == 0, "\(outcome.output)\(outcome.error)")
            #expect(outcome.output == "not tried: GET /api/v1/events: 200\n\(lines.count) answers compared\n")
        }
    }
}

/// A Python that has jsonschema.
private let python = ProcessInfo.processInfo.environment["REEL_PYTHON"]
