import Foundation
import Testing

extension EndToEnd {
    /// Jobs over HTTP, with a real server, Redis, worker and engine.
    @Suite struct ServerTests {
        private let fixture: ProcessFixture

        init() throws { fixture = try ProcessFixture() }

        /// A folder of sources with two short videos.
        private func sources() async throws -> String {
            let folder = fixture.path("sources")
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            for (name, rate) in [("a", "30000/1001"), ("b", "25")] {
                let made = try await fixture.run(
                    .ffmpeg,
                    [
                        "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=160x120:rate=\(rate):duration=2", "-f",
                        "lavfi", "-i", "sine=frequency=440:duration=2", "-c:v", "libx264", "-g", "12", "-c:a", "aac",
                        "\(folder)/\(name).mp4",
                    ])
                try #require(made.code == 0, "\(made.error)")
            }
            return folder
        }

        @Test func aVideoIsReversedByRequestsAlone() async throws {
            let folder = try await sources()
            try await Fleet.with(fixture, workers: 1) { fleet in
                try await WebServer.with(fleet, ["--sources", folder]) { server in
                    let request: [String: Any] = [
                        "source": "\(folder)/a.mp4", "name": "Trailer", "labels": ["project": "x"], "weight": 2,
                        "options": ["container": "mkv", "lossless": true, "passFrames": 20],
                    ]
                    let plan = try await server.send("POST", "/api/v1/plan", request)
                    #expect(plan.status == 200)
                    #expect(try plan.object()["frames"] as? Int == 60)

                    let made = try await server.send("POST", "/api/v1/jobs", request)
                    #expect(made.status == 201)
                    let id = try #require(try made.object()["id"] as? String)
                    #expect(made.headers["location"] == "/api/v1/jobs/\(id)")
                    #expect(try plan.object()["id"] as? String == id)
                    let job = try await server.end(of: String(id.prefix(6)))
                    #expect(job["state"] as? String == "done", "\(job)")
                    #expect(job["name"] as? String == "Trailer")
                    #expect(job["labels"] as? [String: String] == ["project": "x"])
                    #expect(job["weight"] as? Double == 2)

                    let output = try await server.get("/api/v1/jobs/\(id)/output")
                    #expect(output.status == 200)
                    #expect(output.body.count == job["outputBytes"] as? Int)
                    #expect(output.headers["etag"] == "\"\(try #require(job["outputSha256"] as? String))\"")
                    #expect(output.headers["content-disposition"] == "attachment; filename*=UTF-8''a.reversed.mkv")
                    try output.body.write(to: URL(fileURLWithPath: fixture.path("out.mkv")))
                    let verified = try await fixture.run(
                        .coordinator, ["verify", id, "--file", fixture.path("out.mkv")],
                        environment: fleet.environment(as: "reel-coordinator"))
                    #expect(verified.code == 0, "\(verified.error)")

                    let again = try await server.send("POST", "/api/v1/jobs", request)
                    #expect(again.status == 200)
                    #expect(try again.object()["state"] as? String == "done")
                    #expect(try await server.send("POST", "/api/v1/jobs/\(id)/cancel").code == "job-ended")
                    #expect(try await server.send("DELETE", "/api/v1/jobs/\(id)").status == 204)
                    #expect(try await server.get("/api/v1/jobs/\(id)").code == "job-unknown")
                }
            }
        }

        @Test func aRangeOfAResultIsThatRange() async throws {
            let folder = try await sources()
            try await Fleet.with(fixture, workers: 1) { fleet in
                try await WebServer.with(fleet, ["--sources", folder]) { server in
                    let made = try await server.send(
                        "POST", "/api/v1/jobs", ["source": "\(folder)/b.mp4", "options": ["passFrames": 20]])
                    let id = try #require(try made.object()["id"] as? String)
                    #expect(try await server.get("/api/v1/jobs/\(id)/output").code == "no-result")
                    _ = try await server.end(of: id)
                    let place = "/api/v1/jobs/\(id)/output"
                    let whole = try await server.get(place)
                    let (bytes, tag) = (whole.body, try #require(whole.headers["etag"]))
                    func range(_ text: String, _ headers: [String: String] = [:]) async throws -> WebServer.Answer {
                        try await server.get(place, headers: headers.merging(["Range": text]) { $1 })
                    }
                    let first = try await range("bytes=0-9")
                    #expect(first.status == 206)
                    #expect(first.body == bytes.prefix(10))
                    #expect(first.headers["content-range"] == "bytes 0-9/\(bytes.count)")
                    #expect(try await range("bytes=100-").body == bytes.dropFirst(100))
                    #expect(try await range("bytes=-7").body == bytes.suffix(7))
                    #expect(try await range("bytes=5-\(bytes.count * 2)").body == bytes.dropFirst(5))
                    let beyond = try await range("bytes=\(bytes.count)-")
                    #expect(beyond.status == 416)
                    #expect(beyond.code == "range-unsatisfiable")
                    #expect(beyond.headers["content-range"] == "bytes */\(bytes.count)")
                    #expect(try await range("bytes=0-9", ["If-Range": tag]).status == 206)
                    #expect(try await range("bytes=0-9", ["If-Range": "\"other\""]).body == bytes)
                    #expect(try await range("bytes=0-1,4-5").body == bytes)
                    #expect(try await server.get(place, headers: ["If-None-Match": "\"a,b\", \(tag)"]).status == 304)
                    #expect(try await server.get(place, headers: ["If-Match": "\"other\""]).status == 412)
                    let head = try await server.send("HEAD", place)
                    #expect(head.status == 200)
                    #expect(head.body.isEmpty)
                    #expect(head.headers["content-length"] == "\(bytes.count)")
                    #expect(
                        try await server.get("/api/v1/jobs/\(id)/source").body
                            == Data(contentsOf: URL(fileURLWithPath: "\(folder)/b.mp4")))
                }
            }
        }

        @Test func aResultWhoseBytesChangedIsNotSentToItsEnd() async throws {
            let folder = try await sources()
            try await Fleet.with(fixture, workers: 1) { fleet in
                try await WebServer.with(fleet, ["--sources", folder]) { server in
                    let made = try await server.send("POST", "/api/v1/jobs", ["source": "\(folder)/b.mp4"])
                    let id = try #require(try made.object()["id"] as? String)
                    _ = try await server.end(of: id)
                    let place = "/api/v1/jobs/\(id)/output"
                    let bytes = try await server.get(place).body
                    let file = try URL(
                        fileURLWithPath: #require(
                            FileManager.default.contentsOfDirectory(atPath: fleet.folder(id))
                                .first { $0.hasPrefix("output.") }),
                        relativeTo: URL(fileURLWithPath: fleet.folder(id), isDirectory: true))
                    #expect(try Data(contentsOf: file) == bytes)
                    let times = try file.resourceValues(forKeys: [.contentModificationDateKey])
                    for isChanged in [true, false, true] {
                        // In its place, as a disk or another program would; its size and time stay.
                        let handle = try FileHandle(forUpdating: file)
                        try handle.seek(toOffset: UInt64(bytes.count / 2))
                        let byte = bytes[bytes.count / 2]
                        try handle.write(contentsOf: Data([isChanged ? byte ^ 1 : byte]))
                        try handle.close()
                        var url = file
                        try url.setResourceValues(times)
                        if isChanged {
                            await #expect(throws: URLError.self) { try await server.get(place) }
                        } else {
                            #expect(try await server.get(place).body == bytes)
                        }
                    }
                }
            }
        }

        @Test func aHundredSubmissionsAtOnceMakeOneJob() async throws {
            let folder = try await sources()
            try await Fleet.with(fixture, workers: 0) { fleet in
                try await WebServer.with(fleet, ["--sources", folder]) { server in
                    let answers = try await withThrowingTaskGroup(of: (Int, String).self) { group in
                        for _ in 0..<100 {
                            group.addTask {
                                let answer = try await server.send(
                                    "POST", "/api/v1/jobs", ["source": "\(folder)/a.mp4"])
                                return (answer.status, try answer.object()["id"] as? String ?? "")
                            }
                        }
                        return try await group.reduce(into: []) { $0.append($1) }
                    }
                    #expect(answers.count { $0.0 == 201 } == 1)
                    #expect(answers.count { $0.0 == 200 } == 99)
                    #expect(Set(answers.map(\.1)).count == 1)
                    let jobs = try #require(try await server.get("/api/v1/jobs").object()["jobs"] as? [[String: Any]])
                    #expect(jobs.map { $0["state"] as? String } == ["probing"])
                    #expect(jobs.map { $0["waitCode"] as? String } == ["no-worker"])
                }
            }
        }

        @Test func whatTheRequestAloneShowsIsRefusedWithItsPlace() async throws {
            let folder = try await sources()
            try "secret".write(toFile: fixture.path("secret.mp4"), atomically: true, encoding: .utf8)
            try FileManager.default.createSymbolicLink(
                atPath: "\(folder)/link.mp4", withDestinationPath: fixture.path("secret.mp4"))
            try await Fleet.with(fixture, workers: 0) { fleet in
                try await WebServer.with(fleet, ["--sources", folder]) { server in
                    func refusal(_ request: [String: Any]) async throws -> [String] {
                        let answer = try await server.send("POST", "/api/v1/jobs", request)
                        let problem = try answer.object()
                        #expect(problem["status"] as? Int == answer.status)
                        return ["\(answer.status)", answer.code ?? "", problem["pointer"] as? String ?? ""]
                    }
                    let source = "\(folder)/a.mp4"
                    #expect(try await refusal([:]) == ["400", "request-invalid", "/source"])
                    #expect(
                        try await refusal(["source": source, "colour": 1]) == ["400", "request-invalid", "/colour"])
                    #expect(
                        try await refusal(["source": source, "edit": [:]]) == ["400", "request-invalid", "/source"])
                    #expect(try await refusal(["source": "a.mp4"]) == ["400", "source-relative", "/source"])
                    for other in [
                        fixture.path("secret.mp4"), "\(folder)/link.mp4", "\(folder)/../secret.mp4", "/nowhere.mp4",
                    ] {
                        #expect(try await refusal(["source": other]) == ["403", "source-outside", "/source"])
                    }
                    #expect(try await refusal(["source": "\(folder)/none.mp4"])[1] == "source-inaccessible")
                    #expect(
                        try await refusal(["source": source, "options": ["crf": "x"]])
                            == ["400", "option-invalid", "/options/crf"])
                    #expect(
                        try await refusal(["source": source, "options": ["passFrames": 0]])
                            == ["400", "option-invalid", "/options/passFrames"])
                    #expect(
                        try await refusal(["source": source, "options": ["videoCodec": 5]])
                            == ["400", "option-invalid", "/options/videoCodec"])
                    #expect(
                        try await refusal(["source": source, "options": ["crf": 20, "bitrate": "5M"]])
                            == ["400", "option-invalid", "/options/crf"])
                    #expect(
                        try await refusal(["edit": ["clips": [["source": source]]], "options": ["play": "forward"]])
                            == ["400", "option-invalid", "/options/play"])
                    #expect(
                        try await refusal(["source": source, "options": ["help": true]])
                            == ["400", "request-invalid", "/options/help"])
                    #expect(
                        try await refusal(["source": source, "weight": -1]) == ["400", "weight-invalid", "/weight"])
                    #expect(
                        try await refusal(["source": source, "labels": ["a b": "c"]])
                            == ["400", "label-invalid", "/labels/a b"])
                    let edit: [String: Any] = ["clips": [["source": source], ["source": fixture.path("secret.mp4")]]]
                    #expect(try await refusal(["edit": edit]) == ["403", "source-outside", "/edit/clips/1/source"])
                    let text = try await server.send(
                        "POST", "/api/v1/jobs", headers: ["Content-Type": "text/plain"], body: Data("{}".utf8))
                    #expect(text.status == 415)
                    let broken = try await server.send(
                        "POST", "/api/v1/jobs", headers: ["Content-Type": "application/json"], body: Data("{".utf8))
                    #expect(broken.code == "not-json")
                    let large = try await server.send(
                        "POST", "/api/v1/jobs", headers: ["Content-Type": "application/json"],
                        body: Data(repeating: 32, count: 9 << 20))
                    #expect(large.status == 413)
                    #expect(try #require(try await server.get("/api/v1/jobs").object()["jobs"] as? [Any]).isEmpty)
                }
            }
        }

        @Test func aSourceThatIsNoVideoFailsItsJobWithItsCode() async throws {
            let folder = try await sources()
            try "no video".write(toFile: "\(folder)/n.mp4", atomically: true, encoding: .utf8)
            try await Fleet.with(fixture, workers: 1) { fleet in
                try await WebServer.with(fleet, ["--sources", folder]) { server in
                    let made = try await server.send("POST", "/api/v1/jobs", ["source": "\(folder)/n.mp4"])
                    #expect(made.status == 201)
                    let job = try await server.end(of: try #require(try made.object()["id"] as? String))
                    #expect(job["state"] as? String == "failed")
                    #expect((job["failureReason"] as? [String: Any])?["code"] as? String == "not-media")
                    let again = try await server.send("POST", "/api/v1/jobs", ["source": "\(folder)/n.mp4"])
                    #expect(again.status == 200)
                }
            }
        }

        @Test func anEditOfSeveralClipsIsMade() async throws {
            let folder = try await sources()
            try await Fleet.with(fixture, workers: 1) { fleet in
                try await WebServer.with(fleet, ["--sources", folder, "--base-path", "/reel"], path: "/reel") {
                    server in
                    let edit: [String: Any] = [
                        "clips": [
                            ["source": "\(folder)/a.mp4", "to": 1],
                            ["source": "\(folder)/b.mp4", "play": "reverse", "to": "20f"],
                        ]
                    ]
                    let made = try await server.send(
                        "POST", "/api/v1/jobs", ["edit": edit, "options": ["container": "mkv"]])
                    #expect(made.status == 201, "\(made.text)")
                    let id = try #require(try made.object()["id"] as? String)
                    #expect(made.headers["location"] == "/reel/api/v1/jobs/\(id)")
                    let job = try await server.end(of: id)
                    #expect(job["state"] as? String == "done", "\(job)")
                    #expect(job["sources"] as? [String] == ["\(folder)/a.mp4", "\(folder)/b.mp4"])
                    // The second source's 20 frames of a 25th are shown at the first one's 30 a second.
                    #expect(job["frames"] as? Int == 30 + 24)
                    #expect(try await server.get("").text.contains("<base href=\"/reel/\">"))
                }
            }
        }
    }
}
