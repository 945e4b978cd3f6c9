import Crypto
import Foundation
import ReelRandom
import Testing

extension EndToEnd {
    /// Uploads by tus 1.0.0, with real servers that are killed.
    @Suite struct UploadTests {
        private let fixture: ProcessFixture

        init() throws { fixture = try ProcessFixture() }

        private let version = ["Tus-Resumable": "1.0.0"]
        private let piece = ["Tus-Resumable": "1.0.0", "Content-Type": "application/offset+octet-stream"]

        private func begin(
            _ server: WebServer, _ headers: [String: String], body: Data? = nil
        ) async throws -> (answer: WebServer.Answer, place: String) {
            let answer = try await server.send(
                "POST", "/api/v1/uploads", headers: version.merging(headers) { $1 }, body: body)
            return (answer, answer.headers["location"] ?? "")
        }

        private func offset(_ server: WebServer, _ place: String) async throws -> Int? {
            try await server.send("HEAD", place, headers: version).headers["upload-offset"].flatMap { Int($0) }
        }

        private func append(
            _ server: WebServer, _ place: String, _ bytes: Data, at offset: Int, _ headers: [String: String] = [:]
        ) async throws -> WebServer.Answer {
            try await server.send(
                "PATCH", place, headers: piece.merging(["Upload-Offset": "\(offset)"]) { $1 }.merging(headers) { $1 },
                body: bytes)
        }

        private func name(_ text: String) -> String { "filename \(Data(text.utf8).base64EncodedString())" }

        @Test func anUploadedVideoIsReversed() async throws {
            let film = try Data(contentsOf: URL(fileURLWithPath: try await Clips.shared.film()))
            try await Fleet.with(fixture, workers: 1) { fleet in
                try await WebServer.with(fleet) { server in
                    let (made, place) = try await begin(
                        server, ["Upload-Length": "\(film.count)", "Upload-Metadata": name("dir/my film.mp4")])
                    #expect(made.status == 201)
                    #expect(try await append(server, place, film.prefix(1000), at: 0).status == 204)
                    let id = String(place.split(separator: "/").last ?? "")
                    let early = try await server.send("POST", "/api/v1/jobs", ["upload": id])
                    #expect(early.code == "upload-incomplete")
                    #expect(try await append(server, place, film.dropFirst(1000), at: 1000).status == 204)
                    #expect(try await offset(server, place) == film.count)

                    let plan = try await server.send(
                        "POST", "/api/v1/plan", ["upload": id, "options": ["lossless": true]])
                    #expect(plan.status == 200, "\(plan.text)")
                    let order: [String: Any] = ["upload": id, "options": ["lossless": true, "container": "mov"]]
                    let job = try await server.send("POST", "/api/v1/jobs", order)
                    #expect(job.status == 201, "\(job.text)")
                    // A piece that comes again leaves the job's source as it is.
                    #expect(try await append(server, place, film.prefix(1000), at: 0).status == 409)
                    let again = try await server.send("POST", "/api/v1/jobs", order)
                    #expect(again.status == 200)
                    #expect(try again.object()["id"] as? String == job.object()["id"] as? String)
                    // The job has the file; the upload may go.
                    #expect(try await server.send("DELETE", place, headers: version).status == 204)
                    #expect(try await server.send("HEAD", place, headers: version).status == 404)
                    let done = try await server.end(of: try #require(try job.object()["id"] as? String))
                    #expect(done["state"] as? String == "done", "\(done)")
                    let output = try await server.get("/api/v1/jobs/\(try #require(done["id"] as? String))/output")
                    #expect(
                        output.headers["content-disposition"] == "attachment; filename*=UTF-8''my%20film.reversed.mov")
                    try film.write(to: URL(fileURLWithPath: fixture.path("film.mp4")))
                    try output.body.write(to: URL(fileURLWithPath: fixture.path("out.mov")))
                    try await fixture.expectExactlyReversed(fixture.path("film.mp4"), fixture.path("out.mov"))

                    // Of the source that is gone nothing can be sent; of another, which is there, all.
                    let gone = try await server.get("/api/v1/jobs/\(try #require(done["id"] as? String))/source")
                    #expect(gone.status == 404)
                    let (_, kept) = try await begin(
                        server,
                        ["Upload-Length": "\(film.count)", "Upload-Metadata": name("b.mp4")].merging(piece) { $1 },
                        body: film)
                    let other = try await server.send(
                        "POST", "/api/v1/jobs", ["upload": String(kept.split(separator: "/").last ?? "")])
                    let ended = try await server.end(
                        of: try #require(try other.object()["id"] as? String, "\(other.text)"))
                    #expect(ended["state"] as? String == "done", "\(ended)")
                    let source = try await server.get("/api/v1/jobs/\(try #require(ended["id"] as? String))/source")
                    #expect(source.body == film)
                }
            }
        }

        @Test func whatTheProtocolForbidsIsRefusedAndLosesNothing() async throws {
            try await Fleet.with(fixture, workers: 0) { fleet in
                try await WebServer.with(fleet, ["--upload-quota", "1MiB"]) { server in
                    let options = try await server.send("OPTIONS", "/api/v1/uploads")
                    #expect(options.status == 204)
                    #expect(options.headers["tus-version"] == "1.0.0")
                    #expect(options.headers["tus-max-size"] == "1048576")
                    let other = try await server.send(
                        "POST", "/api/v1/uploads", headers: ["Tus-Resumable": "0.2.0", "Upload-Length": "1"])
                    #expect(other.status == 412)
                    #expect(other.headers["tus-version"] == "1.0.0")
                    #expect(try await begin(server, [:]).answer.code == "header-invalid")
                    #expect(try await begin(server, ["Upload-Length": "-1"]).answer.code == "header-invalid")
                    #expect(try await begin(server, ["Upload-Length": "2000000"]).answer.status == 413)
                    #expect(
                        try await begin(server, ["Upload-Length": "1", "Upload-Metadata": "filename !"]).answer.code
                            == "header-invalid")

                    let (_, place) = try await begin(server, ["Upload-Length": "10"])
                    #expect(try await append(server, place, Data("abc".utf8), at: 0).headers["upload-offset"] == "3")
                    #expect(try await append(server, place, Data("abc".utf8), at: 0).status == 409)
                    #expect(try await append(server, place, Data("abcdefghijkl".utf8), at: 3).status == 413)
                    let offset = try #require(try await offset(server, place))
                    #expect((3...10).contains(offset))
                    let wrong = try await server.send(
                        "PATCH", place, headers: version.merging(["Upload-Offset": "\(offset)"]) { $1 },
                        body: Data("x".utf8))
                    #expect(wrong.status == 415)
                    let full = try await begin(server, ["Upload-Length": "1048570"])
                    #expect(full.answer.code == "upload-quota")
                    #expect(full.answer.status == 507)
                    #expect(try await server.send("DELETE", place, headers: version).status == 204)
                    #expect(try await begin(server, ["Upload-Length": "1048570"]).answer.status == 201)
                }
            }
        }

        @Test func aPieceWhoseChecksumDiffersDoesNotCount() async throws {
            try await Fleet.with(fixture, workers: 0) { fleet in
                try await WebServer.with(fleet) { server in
                    let bytes = Data("hello".utf8)
                    let (_, place) = try await begin(server, ["Upload-Length": "10"])
                    let right = Data(Insecure.SHA1.hash(data: bytes)).base64EncodedString()
                    let better = Data(SHA256.hash(data: bytes)).base64EncodedString()
                    func send(_ checksum: String, at offset: Int) async throws -> Int {
                        try await append(server, place, bytes, at: offset, ["Upload-Checksum": checksum]).status
                    }
                    #expect(try await send("sha1 \(better)", at: 0) == 460)
                    #expect(try await offset(server, place) == 0)
                    #expect(try await send("sha1 \(right)", at: 0) == 204)
                    #expect(try await send("md5 \(right)", at: 5) == 400)
                    #expect(try await offset(server, place) == 5)
                    #expect(try await send("sha256 \(better)", at: 5) == 204)
                    #expect(try await offset(server, place) == 10)
                }
            }
        }

        @Test func aPOSTThatNamesAnotherMethodIsThatMethod() async throws {
            try await Fleet.with(fixture, workers: 0) { fleet in
                try await WebServer.with(fleet) { server in
                    let (_, place) = try await begin(server, ["Upload-Length": "5"])
                    func post(as method: String, at offset: Int = 0, _ body: Data = Data()) async throws -> Int {
                        let headers = ["Upload-Offset": "\(offset)", "X-HTTP-Method-Override": method]
                        return try await server.send(
                            "POST", place, headers: piece.merging(headers) { $1 }, body: body
                        ).status
                    }
                    #expect(try await post(as: "PATCH", Data("hel".utf8)) == 204)
                    #expect(try await post(as: "PATCH", at: 3, Data("lo".utf8)) == 204)
                    #expect(try await post(as: "PUT", at: 5) == 405)
                    #expect(try bytes(of: place, fleet) == Data("hello".utf8))
                    #expect(try await post(as: "DELETE") == 204)
                    #expect(try await server.send("HEAD", place, headers: version).status == 404)
                }
            }
        }

        @Test func partsArePutTogetherAndALengthMayComeLater() async throws {
            try await Fleet.with(fixture, workers: 0) { fleet in
                try await WebServer.with(fleet) { server in
                    let (_, first) = try await begin(
                        server, ["Upload-Concat": "partial", "Upload-Length": "5"].merging(piece) { $1 },
                        body: Data("hello".utf8))
                    let (deferred, second) = try await begin(
                        server, ["Upload-Concat": "partial", "Upload-Defer-Length": "1"])
                    #expect(deferred.status == 201)
                    let look = try await server.send("HEAD", second, headers: version)
                    #expect(look.headers["upload-defer-length"] == "1")
                    #expect(look.headers["upload-length"] == nil)
                    #expect(try await append(server, second, Data(" wor".utf8), at: 0).status == 204)
                    let early = try await begin(server, ["Upload-Concat": "final;\(first) \(second)"])
                    #expect(early.answer.code == "part-incomplete")
                    #expect(
                        try await append(server, second, Data("ld".utf8), at: 4, ["Upload-Length": "6"]).status == 204)
                    let (final, whole) = try await begin(server, ["Upload-Concat": "final;\(first) \(second)"])
                    #expect(final.status == 201)
                    let seen = try await server.send("HEAD", whole, headers: version)
                    #expect(seen.headers["upload-length"] == "11")
                    #expect(seen.headers["upload-offset"] == "11")
                    #expect(seen.headers["upload-concat"] == "final;\(first) \(second)")
                    #expect(try await append(server, whole, Data("!".utf8), at: 11).status == 403)
                    #expect(try bytes(of: whole, fleet) == Data("hello world".utf8))
                }
            }
        }

        @Test func aRefusedPieceChangesNothing() async throws {
            try await Fleet.with(fixture, workers: 0) { fleet in
                try await WebServer.with(fleet, ["--upload-quota", "1000"]) { server in
                    let (_, place) = try await begin(server, ["Upload-Defer-Length": "1"])
                    #expect(try await append(server, place, Data(repeating: 1, count: 10), at: 0).status == 204)
                    #expect(try await append(server, place, Data(), at: 0, ["Upload-Length": "3"]).status == 409)
                    #expect(try await append(server, place, Data(), at: 10, ["Upload-Length": "3"]).status == 400)
                    let look = try await server.send("HEAD", place, headers: version)
                    #expect(look.headers["upload-length"] == nil)
                    #expect(look.headers["upload-offset"] == "10")
                    #expect(try await append(server, place, Data(repeating: 1, count: 1001), at: 10).status == 507)
                    #expect(try await server.send("DELETE", place, headers: version).status == 204)
                    // Of an upload that is refused with its first piece nothing is left.
                    for headers in [["Upload-Checksum": "bogus"], ["Upload-Checksum": "sha1 AAAA"], [:]] {
                        let made = try await begin(
                            server, ["Upload-Length": "990"].merging(piece) { $1 }.merging(headers) { $1 },
                            body: Data(repeating: 1, count: 991))
                        #expect([400, 460, 413].contains(made.answer.status))
                    }
                    #expect(try await begin(server, ["Upload-Length": "1000"]).answer.status == 201)
                }
            }
        }

        @Test func nothingThatABrowserRunsComesOfAnUpload() async throws {
            try await Fleet.with(fixture, workers: 0) { fleet in
                try await WebServer.with(fleet) { server in
                    for (file, type, disposition) in [
                        ("x.html", "application/octet-stream", "attachment"),
                        ("x.js", "application/octet-stream", "attachment"),
                        ("x.svg", "application/octet-stream", "attachment"), ("x.mov", "video/quicktime", "inline"),
                    ] {
                        let text = Data("<script>1</script> \(file)".utf8)
                        let (_, place) = try await begin(
                            server,
                            ["Upload-Length": "\(text.count)", "Upload-Metadata": name(file)].merging(piece) { $1 },
                            body: text)
                        let id = try #require(place.split(separator: "/").last)
                        let job = try await server.send("POST", "/api/v1/jobs", ["upload": String(id)])
                        let source = try await server.get(
                            "/api/v1/jobs/\(try #require(try job.object()["id"] as? String, "\(job.text)"))/source")
                        #expect(source.body == text)
                        #expect(source.headers["content-type"] == type)
                        #expect(source.headers["content-disposition"] == "\(disposition); filename*=UTF-8''\(file)")
                        #expect(source.headers["content-security-policy"] == "sandbox; default-src 'none'")
                    }
                }
            }
        }

        @Test func whatAJobHasOfAnUploadCountsUntilTheJobGivesItBack() async throws {
            let film = try Data(contentsOf: URL(fileURLWithPath: try await Clips.shared.film()))
            try await Fleet.with(fixture, workers: 0) { fleet in
                try await WebServer.with(fleet, ["--upload-quota", "\(film.count + 10)"]) { server in
                    let (_, place) = try await begin(
                        server, ["Upload-Length": "\(film.count)"].merging(piece) { $1 }, body: film)
                    let job = try await server.send(
                        "POST", "/api/v1/jobs", ["upload": String(place.split(separator: "/").last ?? "")])
                    let id = try #require(try job.object()["id"] as? String, "\(job.text)")
                    #expect(try await server.send("DELETE", place, headers: version).status == 204)
                    #expect(try await server.send("HEAD", place, headers: version).status == 404)
                    let full = try await begin(server, ["Upload-Length": "11"]).answer
                    #expect((full.status, full.code) == (507, "upload-quota"))
                    #expect(try await begin(server, ["Upload-Length": "10"]).answer.status == 201)
                    #expect(try await server.send("POST", "/api/v1/jobs/\(id)/cancel").status == 200)
                    #expect(!FileManager.default.fileExists(atPath: "\(fleet.store)/jobs/\(id)/source"))
                    #expect(try await begin(server, ["Upload-Length": "\(film.count)"]).answer.status == 201)
                }
            }
        }

        @Test func aServerEndsThoughAPieceDoesNotGoOn() async throws {
            try await Fleet.with(fixture, workers: 0) { fleet in
                try await WebServer.with(fleet) { server in
                    let (_, place) = try await begin(server, ["Upload-Length": "1000"])
                    let slow = SlowPiece(bytes: Data(repeating: 7, count: 100), pause: .seconds(60), length: 1000)
                    let port = server.port
                    let task = Task { await slow.send(to: port, place, at: 0) }
                    #expect(try await eventually { try await offset(server, place) == 100 })
                    server.child.send(SIGTERM)
                    #expect(try await server.child.outcome.code == 0)
                    task.cancel()
                }
            }
        }

        @Test func whatHasExpiredLeavesNothing() async throws {
            try await Fleet.with(fixture, workers: 0) { fleet in
                try await WebServer.with(fleet, ["--upload-expiry", "2s"]) { server in
                    let (_, place) = try await begin(server, ["Upload-Length": "5"])
                    #expect(try await offset(server, place) == 0)
                    try await Task.sleep(for: .seconds(2.2))
                    #expect(try await offset(server, place) == nil)
                }
                // A server sweeps when it starts.
                try await WebServer.with(fleet) { server in
                    let uploads = fleet.store + "/uploads"
                    let isEmpty = try await eventually {
                        try FileManager.default.contentsOfDirectory(atPath: uploads).filter { $0 != "lock" }.isEmpty
                    }
                    #expect(isEmpty)
                }
            }
        }

        @Test("bytes arrive identical though clients and two servers are killed 50 times", .timeLimit(.minutes(10)))
        func kills() async throws {
            try await Fleet.with(fixture, workers: 0) { fleet in
                var random = SplitMix64(seed: 26)
                let bytes = Data((0..<(24 << 20)).map { _ in UInt8.random(in: 0...255, using: &random) })
                var place: String?
                var (kills, turn) = (0, 0)
                while kills < 50 {
                    try await WebServer.withKilled(fleet) { server in
                        if place == nil { place = try await begin(server, ["Upload-Length": "\(bytes.count)"]).place }
                        guard let place else { return }
                        turn += 1
                        let from = try #require(try await offset(server, place))
                        // The last bytes come after all kills.
                        let end = min(from + (1 << 20), bytes.count - (1 << 20))
                        if from < end {
                            let slow = SlowPiece(
                                bytes: Data(bytes[from..<end]),
                                pause: .milliseconds(Int.random(in: 0...4, using: &random)))
                            let (port, to) = (server.port, place)
                            let task = Task { await slow.send(to: port, to, at: from) }
                            try await Task.sleep(for: .milliseconds(Int.random(in: 0...60, using: &random)))
                            if turn % 2 == 0 {
                                // The client vanishes; the server goes on with another request.
                                task.cancel()
                                kills += 1
                                let again = try await eventually { try await offset(server, place) ?? 0 >= from }
                                #expect(again)
                            }
                        }
                        kills += 1
                    }
                }
                try await WebServer.with(fleet) { first in
                    try await WebServer.with(fleet) { second in
                        let place = try #require(place)
                        var servers = [first, second]
                        var offset = try #require(try await offset(first, place))
                        while offset < bytes.count {
                            servers.reverse()
                            let end = min(offset + 300_000, bytes.count)
                            let answer = try await append(servers[0], place, bytes[offset..<end], at: offset)
                            #expect([204, 423].contains(answer.status))
                            offset = try #require(try await self.offset(servers[1], place))
                        }
                    }
                }
                #expect(try self.bytes(of: try #require(place), fleet) == bytes)
            }
        }

        /// What the store has of an upload.
        private func bytes(of place: String, _ fleet: Fleet) throws -> Data {
            let id = try #require(place.split(separator: "/").last)
            return try Data(contentsOf: URL(fileURLWithPath: "\(fleet.store)/uploads/\(id)/data"))
        }
    }
}

/// A piece that is sent slowly, over a line that may be cut.
private struct SlowPiece: Sendable {
    let bytes: Data
    let pause: Duration
    /// The length that the head says; nil for that of the bytes.
    var length: Int?

    /// Sends the piece until all of it is sent, the server is gone, or the task is cancelled; then the line is cut.
    func send(to port: Int, _ place: String, at offset: Int) async {
        guard let wire = Wire(port: port) else { return }
        let head = """
            PATCH \(place) HTTP/1.1\r
            Host: 127.0.0.1\r
            Tus-Resumable: 1.0.0\r
            Content-Type: application/offset+octet-stream\r
            Upload-Offset: \(offset)\r
            Content-Length: \(length ?? bytes.count)\r
            \r

            """
        var rest = Data(head.utf8) + bytes
        while !rest.isEmpty, !Task.isCancelled {
            let count = wire.send(rest.prefix(32 << 10))
            guard count > 0 else { return }
            rest = Data(rest.dropFirst(count))
            try? await Task.sleep(for: pause)
        }
    }
}
