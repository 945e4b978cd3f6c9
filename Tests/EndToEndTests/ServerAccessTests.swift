import Foundation
import Testing

extension EndToEnd {
    /// Who may do what, with a real server.
    @Suite struct ServerAccessTests {
        private let fixture: ProcessFixture

        init() throws { fixture = try ProcessFixture() }

        private static let roles = ["viewer", "operator", "admin"]

        /// Adds a token to the file `tokens`, and returns it.
        private func token(_ name: String, _ role: String) async throws -> String {
            let made = try await fixture.run(
                .at(Program.folder + "/reel-server"),
                ["token", name, "--role", role, "--tokens", fixture.path("tokens")])
            try #require(made.code == 0, "\(made.error)")
            return made.output.trimmingCharacters(in: .newlines)
        }

        /// A route of the server's own document: its method, a path with made-up parts, and the least role.
        private func routes(_ server: WebServer, token: String) async throws -> [(
            method: String, path: String, role: String
        )] {
            let document = try await server.get("/api/v1/openapi.json", token: token).object()
            let paths = try #require(document["paths"] as? [String: [String: [String: Any]]])
            return try paths.flatMap { path, item in
                try item.map { method, operation in
                    let place = path.replacing("{id}", with: "00000000000000000000000000000000").replacing(
                        "{name}", with: "nobody"
                    ).replacing("{side}", with: "output").replacing("{n}", with: "0")
                    return (method.uppercased(), place, try #require(operation["x-role"] as? String))
                }
            }
        }

        @Test func everyRouteTakesItsRoleAndHigherOnesAlone() async throws {
            var tokens: [String: String] = [:]
            for role in ServerAccessTests.roles { tokens[role] = try await token("my \(role)", role) }
            try await Fleet.with(fixture, workers: 0) { fleet in
                try await WebServer.with(fleet, ["--tokens", fixture.path("tokens")]) { server in
                    let routes = try await routes(server, token: tokens["admin"] ?? "")
                    #expect(routes.count > 25)
                    for (method, path, needed) in routes where path != "/api/v1/events" {
                        let bare = try await server.send(method, path).status
                        let rank = ServerAccessTests.roles.firstIndex(of: needed)
                        #expect((bare == 401) == (rank != nil), "\(method) \(path): \(bare)")
                        for (place, role) in ServerAccessTests.roles.enumerated() {
                            let status = try await server.send(method, path, token: tokens[role]).status
                            #expect((status == 403) == (place < rank ?? 0), "\(method) \(path) as \(role): \(status)")
                            #expect(status != 401, "\(method) \(path) as \(role)")
                            #expect(status < 500, "\(method) \(path) as \(role): \(status)")
                        }
                    }
                    let other = try await server.send("PUT", "/api/v1/jobs", token: tokens["admin"])
                    #expect(other.status == 405)
                    #expect(other.headers["allow"] == "GET, HEAD, POST")
                    #expect(try await server.get("/api/v1/nothing", token: tokens["admin"]).code == "http-404")
                }
            }
        }

        @Test func tokensCountAtOnceAndWrongOnesAreCounted() async throws {
            let admin = try await token("a", "admin")
            let again = try await fixture.run(
                .at(Program.folder + "/reel-server"),
                ["token", "a", "--role", "viewer", "--tokens", fixture.path("tokens")])
            #expect(again.code == 2)
            let mode =
                try FileManager.default.attributesOfItem(atPath: fixture.path("tokens"))[.posixPermissions] as? Int
            #expect(mode == 0o600)
            #expect(try !String(contentsOfFile: fixture.path("tokens"), encoding: .utf8).contains(admin))
            try await Fleet.with(fixture, workers: 0) { fleet in
                try await WebServer.with(fleet, ["--tokens", fixture.path("tokens")]) { server in
                    let later = try await token("b", "viewer")
                    let counts = try await eventually {
                        try await server.get("/api/v1/jobs", token: later).status == 200
                    }
                    #expect(counts)
                    // Requests that came too early count, too.
                    var statuses: [Int] = []
                    for _ in 0..<12 {
                        statuses.append(try await server.get("/api/v1/jobs", token: "reel_wrong").status)
                    }
                    #expect(statuses.first == 401 || statuses.first == 429)
                    #expect(statuses.last == 429)
                    #expect(try await server.get("/api/v1/jobs", token: "reel_wrong").headers["retry-after"] != nil)
                    // A right one is taken all the same.
                    #expect(try await server.get("/api/v1/jobs", token: admin).status == 200)
                }
            }
        }

        @Test func browsersSignInWithACookieThatOtherSitesCannotUse() async throws {
            let admin = try await token("a", "admin")
            try await Fleet.with(fixture, workers: 0) { fleet in
                try await WebServer.with(fleet, ["--tokens", fixture.path("tokens")]) { server in
                    #expect(
                        try await server.send("POST", "/api/v1/session", ["token": "reel_x"]).code == "token-unknown")
                    let signed = try await server.send("POST", "/api/v1/session", ["token": admin])
                    #expect(signed.status == 204)
                    let cookie = try #require(signed.headers["set-cookie"])
                    for part in ["HttpOnly", "SameSite=Strict", "Path=/"] {
                        #expect(cookie.contains(part), "\(cookie)")
                    }
                    #expect(!cookie.contains("Secure"))
                    let behind = try await server.send(
                        "POST", "/api/v1/session", ["token": admin], headers: ["X-Forwarded-Proto": "https"])
                    #expect(behind.headers["set-cookie"]?.contains("Secure") == true)
                    let value = ["Cookie": String(try #require(cookie.split(separator: ";").first))]
                    let session = try await server.get("/api/v1/session", headers: value).object()
                    #expect(session["name"] as? String == "a")
                    #expect(session["role"] as? String == "admin")
                    for (site, status) in [
                        ("cross-site", 403), ("same-site", 403), ("same-origin", 404), ("none", 404),
                    ] {
                        let sent = try await server.send(
                            "POST", "/api/v1/jobs/0000000000000000/retry",
                            headers: value.merging(["Sec-Fetch-Site": site]) { $1 })
                        #expect(sent.status == status, "\(site)")
                    }
                    #expect(try await server.get("/api/v1/session").object()["role"] == nil)
                    let out = try await server.send("DELETE", "/api/v1/session", headers: value)
                    #expect(out.headers["set-cookie"]?.contains("Max-Age=0") == true)
                }
            }
        }

        @Test func behindAProxyCallersHaveAddressesOfTheirOwn() async throws {
            let admin = try await token("a", "admin")
            try await Fleet.with(fixture, workers: 0) { fleet in
                try await WebServer.with(fleet, ["--tokens", fixture.path("tokens")]) { server in
                    func status(_ origin: String) async throws -> Int {
                        try await server.get(
                            "/api/v1/jobs", token: "reel_wrong", headers: ["X-Forwarded-For": origin]
                        ).status
                    }
                    for _ in 0..<10 { #expect(try await status("203.0.113.7") == 401) }
                    // What callers say of themselves comes before what the proxy says.
                    #expect(try await status("198.51.100.2, 203.0.113.7") == 429)
                    #expect(try await status("203.0.113.7, 198.51.100.2") == 401)
                    #expect(try await status("2001:db8::7") == 401)
                    for origin in ["203.0.113.7", "198.51.100.2,2001:db8::8", "nobody", "203.0.113.7:80", ""] {
                        let signed = try await server.send(
                            "POST", "/api/v1/session", ["token": admin], headers: ["X-Forwarded-For": origin])
                        #expect(signed.status == 204)
                    }
                    let entries =
                        try await server.get("/api/v1/audit", token: admin).object()["entries"] as? [[String: Any]]
                    #expect(
                        entries?.map { $0["address"] as? String } == [
                            "127.0.0.1", "127.0.0.1", "127.0.0.1", "2001:db8::8", "203.0.113.7",
                        ])
                }
            }
        }

        @Test func aTokenThatIsTakenBackLocksNobodyOutOfSigningIn() async throws {
            let admin = try await token("a", "admin")
            let stale = ["Cookie": "reel-token=reel_stale"]
            try await Fleet.with(fixture, workers: 0) { fleet in
                try await WebServer.with(fleet, ["--tokens", fixture.path("tokens")]) { server in
                    for _ in 0..<12 { #expect(try await server.get("/sign-in", headers: stale).status == 200) }
                    let signed = try await server.send("POST", "/api/v1/session", ["token": admin], headers: stale)
                    #expect(signed.status == 204)
                    #expect(try await server.send("DELETE", "/api/v1/session", headers: stale).status == 204)
                    #expect(try await server.get("/api/v1/jobs", headers: stale).status == 401)
                    let entries =
                        try await server.get("/api/v1/audit", token: admin).object()["entries"] as? [[String: Any]]
                    #expect(entries?.map { "\($0["who"] ?? "") \($0["action"] ?? "")" } == ["a sign in"])
                }
            }
        }

        @Test func aServerWithoutTokensAnswersToItsOwnNamesAlone() async throws {
            try await Fleet.with(fixture, workers: 0) { fleet in
                try await WebServer.with(fleet) { server in
                    for (host, status) in [
                        ("localhost", 200), ("LOCALHOST:80", 200), ("127.0.0.1:1", 200), ("[::1]:80", 200),
                        ("evil.example", 421), ("127.0.0.1.evil.example", 421), ("localhost.evil.example:80", 421),
                    ] {
                        #expect(
                            try await server.get("/api/v1/jobs", headers: ["Host": host]).status == status, "\(host)")
                    }
                    for (origin, code) in [
                        ("http://127.0.0.1:\(server.port)", "job-unknown"), ("http://evil.example", "other-site"),
                        ("null", "other-site"), ("http://127.0.0.1", "other-site"),
                    ] {
                        let sent = try await server.send(
                            "POST", "/api/v1/jobs/0000000000000000/cancel", headers: ["Origin": origin])
                        #expect(sent.code == code, "\(origin)")
                        // A plan changes nothing, and takes the server's time.
                        let planned = try await server.send("POST", "/api/v1/plan", headers: ["Origin": origin])
                        #expect(planned.code == (code == "other-site" ? code : "not-json"), "\(origin)")
                    }
                }
                try await WebServer.with(fleet, ["--insecure"]) { server in
                    let answer = try await server.get("/api/v1/jobs", headers: ["Host": "reel.example"])
                    #expect(answer.status == 200)
                }
            }
        }

        @Test func theAuditLogHasEveryChangeAndEveryForbiddenAttempt() async throws {
            let (viewer, admin) = (try await token("v", "viewer"), try await token("a", "admin"))
            let source = try fixture.copy(try await Clips.shared.film(), as: "film.mp4")
            try await Fleet.with(fixture, workers: 0) { fleet in
                try await WebServer.with(
                    fleet, ["--tokens", fixture.path("tokens"), "--sources", fixture.folder]
                ) { server in
                    let made = try await server.send("POST", "/api/v1/jobs", ["source": source], token: admin)
                    let id = try #require(try made.object()["id"] as? String, "\(made.text)")
                    #expect(
                        try await server.send("POST", "/api/v1/jobs/\(id.prefix(5))/pause", token: viewer).status == 403
                    )
                    #expect(try await server.send("POST", "/api/v1/jobs/\(id)/cancel", token: admin).status == 200)
                    #expect(try await server.send("POST", "/api/v1/jobs/\(id)/pause", token: admin).status == 409)
                    #expect(try await server.send("DELETE", "/api/v1/jobs/\(id)").status == 401)
                    #expect(try await server.send("DELETE", "/api/v1/jobs/@", token: admin).status == 204)
                    #expect(try await server.get("/api/v1/jobs", token: viewer).status == 200)
                    func page(_ query: String) async throws -> (entries: [[String: Any]], next: String?) {
                        let page = try await server.get("/api/v1/audit?limit=3\(query)", token: admin).object()
                        return (try #require(page["entries"] as? [[String: Any]]), page["next"] as? String)
                    }
                    let first = try await page("")
                    let second = try await page("&cursor=\(try #require(first.next))")
                    #expect(second.next == nil)
                    let entries = (first.entries + second.entries).map { entry in
                        ["who", "role", "action", "job", "address"].map { entry[$0] as? String ?? "" }
                            + ["\(entry["status"] as? Int ?? 0)"]
                    }
                    #expect(
                        entries == [
                            ["a", "admin", "remove", id, "127.0.0.1", "204"],
                            ["a", "admin", "pause", id, "127.0.0.1", "409"],
                            ["a", "admin", "cancel", id, "127.0.0.1", "200"],
                            ["v", "viewer", "pause", id, "127.0.0.1", "403"],
                            ["a", "admin", "submit", id, "127.0.0.1", "201"],
                        ])
                }
            }
        }

        @Test func figuresAndDemandAreThere() async throws {
            let source = try fixture.copy(try await Clips.shared.film(), as: "film.mp4")
            try await Fleet.with(fixture, workers: 0) { fleet in
                try await WebServer.with(fleet, ["--sources", fixture.folder]) { server in
                    let made = try await server.send("POST", "/api/v1/jobs", ["source": source])
                    #expect(made.status == 201)
                    let demand = try await server.get("/api/v1/demand").object()["demand"] as? [String: Any]
                    #expect(demand?["slotsWanted"] as? Int == 1)
                    #expect(demand?["slotsBusy"] as? Int == 0)
                    #expect(demand?["passesReady"] as? Int == 1)
                    #expect(demand?["oldestReadySeconds"] as? Double != nil)
                    let rates = try await server.get("/api/v1/rates").object()["minutes"] as? [[String: Any]]
                    #expect(rates?.count == 60)
                    let text = try await server.get("/metrics").text
                    for line in [
                        "reel_redis_up 1", "reel_jobs{state=\"probing\"} 1", "reel_jobs{state=\"done\"} 0",
                        "reel_passes{state=\"ready\"} 1", "reel_workers 0", "reel_pass_wait_seconds_count 0",
                        "reel_pass_attempts_total{outcome=\"done\",cause=\"\"} 0",
                    ] {
                        #expect(text.contains("\n\(line)\n"), "\(line)")
                    }
                    #expect(text.split(separator: "\n").count { !$0.hasPrefix("#") } <= 300)
                    try await fleet.killRedis()
                    let isDown = try await eventually {
                        try await server.get("/metrics").text.contains("\nreel_redis_up 0\n")
                    }
                    #expect(isDown)
                    try await fleet.startRedis()
                }
            }
        }

        @Test func aTokenHasSoManyJobsAndBytes() async throws {
            let (alice, bob) = (try await token("alice", "operator"), try await token("bob", "operator"))
            let film = try fixture.copy(try await Clips.shared.film(), as: "film.mp4")
            let keys = try fixture.copy(try await Clips.shared.allKeys(), as: "keys.mp4")
            let couples = try fixture.copy(try await Clips.shared.couples(), as: "couples.mp4")
            let bytes = try #require(FileManager.default.attributesOfItem(atPath: film)[.size] as? Int)
            let limits = ["--jobs-per-token", "1", "--bytes-per-token", "\(bytes)"]
            try await Fleet.with(fixture, workers: 0) { fleet in
                try await WebServer.with(
                    fleet, ["--tokens", fixture.path("tokens"), "--sources", fixture.folder] + limits
                ) { server in
                    func submit(_ source: String, _ token: String) async throws -> WebServer.Answer {
                        try await server.send("POST", "/api/v1/jobs", ["source": source], token: token)
                    }
                    let first = try await submit(film, alice)
                    #expect(first.status == 201)
                    // The same job is no further one.
                    #expect(try await submit(film, alice).status == 200)
                    let second = try await submit(keys, alice)
                    #expect((second.status, second.code) == (429, "token-jobs-exceeded"))
                    #expect(second.headers["retry-after"] != nil)
                    // Another token that submits it does not take it over: it counts for the first one still.
                    #expect(try await submit(film, bob).status == 200)
                    #expect(try await submit(keys, alice).code == "token-jobs-exceeded")
                    #expect(try await submit(keys, bob).status == 201)
                    #expect(try await submit(film, bob).status == 200)
                    let id = try #require(try first.object()["id"] as? String)
                    #expect(try await server.send("POST", "/api/v1/jobs/\(id)/cancel", token: alice).status == 200)
                    func upload(_ length: Int, _ token: String) async throws -> WebServer.Answer {
                        try await server.send(
                            "POST", "/api/v1/uploads", token: token,
                            headers: ["Tus-Resumable": "1.0.0", "Upload-Length": "\(length)"])
                    }
                    #expect(try await upload(bytes + 1, alice).code == "token-bytes-exceeded")
                    #expect(try await upload(bytes, alice).status == 201)
                    let full = try await upload(1, alice)
                    #expect((full.status, full.code) == (507, "token-bytes-exceeded"))
                    #expect(try await submit(couples, alice).code == "token-bytes-exceeded")
                    #expect(try await upload(bytes, bob).status == 201)
                }
            }
        }

        /// What one server lets a token have counts at the other at once, also if that has just looked at the store.
        @Test func atTwoServersATokenHasNoMoreBytesThanItMayHave() async throws {
            let alice = try await token("alice", "operator")
            let arguments = ["--tokens", fixture.path("tokens"), "--bytes-per-token", "1000000"]
            try await Fleet.with(fixture, workers: 0) { fleet in
                try await WebServer.with(fleet, arguments) { first in
                    try await WebServer.with(fleet, arguments) { second in
                        func upload(_ length: Int, to server: WebServer) async throws -> WebServer.Answer {
                            try await server.send(
                                "POST", "/api/v1/uploads", token: alice,
                                headers: ["Tus-Resumable": "1.0.0", "Upload-Length": "\(length)"])
                        }
                        #expect(try await upload(1, to: second).status == 201)
                        #expect(try await upload(600_000, to: first).status == 201)
                        let further = try await upload(600_000, to: second)
                        #expect((further.status, further.code) == (507, "token-bytes-exceeded"))
                        #expect(try await upload(399_999, to: second).status == 201)
                        #expect(try await upload(1, to: first).code == "token-bytes-exceeded")
                    }
                }
            }
        }

        /// A whole may name a part many times, and there may be many wholes of the same parts.
        @Test func wholesHaveNoMoreBytesThanTheirTokenMayHave() async throws {
            let alice = try await token("alice", "operator")
            let arguments = ["--tokens", fixture.path("tokens"), "--bytes-per-token", "1000000"]
            try await Fleet.with(fixture, workers: 0) { fleet in
                try await WebServer.with(fleet, arguments) { server in
                    func begin(_ concat: String, _ body: Data? = nil) async throws -> WebServer.Answer {
                        try await server.send(
                            "POST", "/api/v1/uploads", token: alice,
                            headers: [
                                "Tus-Resumable": "1.0.0", "Content-Type": "application/offset+octet-stream",
                                "Upload-Concat": concat, "Upload-Length": body.map { "\($0.count)" } ?? "0",
                            ], body: body)
                    }
                    let part = try await begin("partial", Data(count: 600_000))
                    #expect(part.status == 201)
                    let place = try #require(part.headers["location"])
                    #expect(try await begin("final;\(place) \(place)").code == "token-bytes-exceeded")
                    let whole = try await begin("final;\(place)")
                    #expect(whole.status == 201, "its part may be removed then")
                    #expect(try await begin("final;\(place)").code == "token-bytes-exceeded")
                    #expect(
                        try await server.send(
                            "DELETE", try #require(whole.headers["location"]), token: alice,
                            headers: ["Tus-Resumable": "1.0.0"]
                        ).status == 204)
                    #expect(try await begin("final;\(place)").status == 201)
                }
            }
        }

        @Test func removedUploadsLeaveTheirRoomAtOnce() async throws {
            let alice = try await token("alice", "operator")
            let arguments = ["--tokens", fixture.path("tokens"), "--bytes-per-token", "1000000"]
            try await Fleet.with(fixture, workers: 0) { fleet in
                try await WebServer.with(fleet, arguments) { server in
                    func upload() async throws -> WebServer.Answer {
                        try await server.send(
                            "POST", "/api/v1/uploads", token: alice,
                            headers: ["Tus-Resumable": "1.0.0", "Upload-Length": "1000000"])
                    }
                    for _ in 0..<3 {
                        let made = try await upload()
                        #expect(made.status == 201)
                        #expect(try await upload().code == "token-bytes-exceeded")
                        let place = try #require(made.headers["location"])
                        let removed = try await server.send(
                            "DELETE", place, token: alice, headers: ["Tus-Resumable": "1.0.0"])
                        #expect(removed.status == 204)
                    }
                }
            }
        }

        @Test func ofManyJobsAtOnceATokenGetsAsManyAsItMayHave() async throws {
            let alice = try await token("alice", "operator")
            let sources = [
                try fixture.copy(try await Clips.shared.film(), as: "film.mp4"),
                try fixture.copy(try await Clips.shared.allKeys(), as: "keys.mp4"),
                try fixture.copy(try await Clips.shared.couples(), as: "couples.mp4"),
            ]
            let arguments = ["--tokens", fixture.path("tokens"), "--sources", fixture.folder, "--jobs-per-token", "2"]
            try await Fleet.with(fixture, workers: 0) { fleet in
                try await WebServer.with(fleet, arguments) { first in
                    try await WebServer.with(fleet, arguments) { second in
                        let answers = try await withThrowingTaskGroup(of: WebServer.Answer.self) { group in
                            for (number, source) in sources.enumerated() {
                                for (place, container) in ["mp4", "mkv", "mov"].enumerated() {
                                    group.addTask {
                                        try await [first, second][(number + place) % 2].send(
                                            "POST", "/api/v1/jobs",
                                            ["source": source, "options": ["container": container]], token: alice)
                                    }
                                }
                            }
                            return try await group.reduce(into: []) { $0.append($1) }
                        }
                        #expect(answers.count { $0.status == 201 } == 2, "\(answers.map(\.text))")
                        #expect(answers.count { $0.code == "token-jobs-exceeded" } == sources.count * 3 - 2)
                    }
                }
            }
        }

        @Test func aJobThatBeginsAgainIsOneOfThoseThatATokenMayHave() async throws {
            let alice = try await token("alice", "operator")
            let film = try fixture.copy(try await Clips.shared.film(), as: "film.mp4")
            let keys = try fixture.copy(try await Clips.shared.allKeys(), as: "keys.mp4")
            let bad = fixture.path("bad.mp4")
            try "no video".write(toFile: bad, atomically: true, encoding: .utf8)
            let arguments = ["--tokens", fixture.path("tokens"), "--sources", fixture.folder, "--jobs-per-token", "1"]
            try await Fleet.with(fixture, workers: 1) { fleet in
                try await WebServer.with(fleet, arguments) { server in
                    func submit(_ source: String) async throws -> WebServer.Answer {
                        try await server.send("POST", "/api/v1/jobs", ["source": source], token: alice)
                    }
                    let failing = try #require(try await submit(bad).object()["id"] as? String)
                    #expect(try await server.end(of: failing, token: alice)["state"] as? String == "failed")
                    _ = try await fleet.endWorkers()
                    let going = try #require(try await submit(film).object()["id"] as? String)
                    let retry = "/api/v1/jobs/\(failing)/retry"
                    #expect(try await server.send("POST", retry, token: alice).code == "token-jobs-exceeded")
                    #expect(try await submit(bad).code == "token-jobs-exceeded")
                    #expect(try await server.send("POST", "/api/v1/jobs/\(going)/cancel", token: alice).status == 200)
                    #expect(try await server.send("POST", retry, token: alice).status == 200)
                    #expect(try await submit(keys).code == "token-jobs-exceeded")
                    #expect(try await submit(bad).status == 200, "it goes on already")
                }
            }
        }

        /// The job stays its submitter's: else a second token could have any number of the first one's jobs run at once.
        @Test func aJobThatAnotherTokenRetriesIsOneOfItsSubmitters() async throws {
            let (alice, bob) = (try await token("alice", "operator"), try await token("bob", "operator"))
            let film = try fixture.copy(try await Clips.shared.film(), as: "film.mp4")
            let bad = fixture.path("bad.mp4")
            try "no video".write(toFile: bad, atomically: true, encoding: .utf8)
            let arguments = ["--tokens", fixture.path("tokens"), "--sources", fixture.folder, "--jobs-per-token", "1"]
            try await Fleet.with(fixture, workers: 1) { fleet in
                try await WebServer.with(fleet, arguments) { server in
                    func submit(_ source: String, _ token: String) async throws -> String {
                        let answer = try await server.send("POST", "/api/v1/jobs", ["source": source], token: token)
                        return try #require(try answer.object()["id"] as? String, "\(answer.text)")
                    }
                    let failing = try await submit(bad, alice)
                    #expect(try await server.end(of: failing, token: alice)["state"] as? String == "failed")
                    _ = try await fleet.endWorkers()
                    let going = try await submit(film, alice)
                    let retry = "/api/v1/jobs/\(failing)/retry"
                    #expect(try await server.send("POST", retry, token: bob).code == "token-jobs-exceeded")
                    #expect(try await server.send("POST", "/api/v1/jobs/\(going)/cancel", token: alice).status == 200)
                    #expect(try await server.send("POST", retry, token: bob).status == 200)
                }
            }
        }

        @Test func aReadOnlyServerChangesNothing() async throws {
            try await Fleet.with(fixture, workers: 0) { fleet in
                try await WebServer.with(fleet, ["--read-only"]) { server in
                    for (method, path, role) in try await routes(server, token: "")
                    where role != "anyone" && !["GET", "HEAD"].contains(method) && !path.hasSuffix("/plan") {
                        #expect(try await server.send(method, path).code == "read-only", "\(method) \(path)")
                    }
                    #expect(try await server.get("/api/v1/jobs").status == 200)
                }
            }
        }

        @Test func everyAnswerTellsBrowsersWhatItsPagesMayDo() async throws {
            try await Fleet.with(fixture, workers: 0) { fleet in
                try await WebServer.with(fleet) { server in
                    let modules = try await server.modules().keys
                    for place in ["", "/jobs/@", "/api/v1/jobs", "/api/v1/nothing"] + modules {
                        for method in ["GET", "HEAD"] {
                            let answer = try await server.send(method, place)
                            let policy = try #require(answer.headers["content-security-policy"], "\(method) \(place)")
                            #expect(policy.contains("default-src 'none'; script-src 'self'"))
                            #expect(policy.contains("frame-ancestors 'none'"))
                            #expect(!policy.contains("unsafe"))
                            #expect(answer.headers["x-content-type-options"] == "nosniff")
                            #expect(answer.headers["referrer-policy"] == "no-referrer")
                        }
                    }
                    let page = try await server.get("/queue")
                    #expect(page.status == 200)
                    #expect(!page.text.contains("{{"))
                    #expect(page.text.contains("<base href=\"/\">"))
                    let tag = try #require(page.headers["etag"])
                    #expect(try await server.get("/queue", headers: ["If-None-Match": tag]).status == 304)
                }
            }
        }

        @Test("browsers keep modules of one release, and never get those of two together")
        func modulesOfOneRelease() async throws {
            try await Fleet.with(fixture, workers: 0) { fleet in
                try await WebServer.with(fleet, ["--base-path", "/reel"], path: "/reel") { server in
                    let shell = try await server.get("/")
                    #expect(shell.headers["cache-control"] == "no-cache")
                    let modules = try await server.modules()
                    let preloaded = shell.text.matches(of: /<link rel="modulepreload" href="([^"]+)">/)
                    #expect(Set(preloaded.map { "/\($0.1)" }) == Set(modules.keys))
                    #expect(modules.count > 20)
                    let folders = Set(modules.keys.map { $0.split(separator: "/").dropLast().joined(separator: "/") })
                    let folder = try #require(folders.count == 1 ? folders.first : nil)
                    #expect(folder.wholeMatch(of: /pages\/[0-9a-f]{24}/) != nil, "\(folder)")
                    for (place, module) in modules {
                        #expect(module.status == 200, "\(place)")
                        #expect(module.headers["content-type"] == "text/javascript; charset=utf-8", "\(place)")
                        #expect(module.headers["cache-control"] == "max-age=31536000, immutable", "\(place)")
                    }
                    #expect(try await server.get("/\(folder)/reel.css").status == 200)
                    // What a shell of another release asks for.
                    let other = try await server.get("/pages/0123456789abcdef01234567/main.js")
                    #expect(other.status == 404)
                    #expect(other.headers["cache-control"] == "no-store")
                }
            }
        }

        @Test(arguments: [
            (["--listen", "0.0.0.0:8080"], 2, "loopback"), (["--listen", "8080"], 2, "an address and a port"),
            (["--base-path", "reel"], 2, "a path with a slash"),
            (["--tokens", "/nowhere/tokens"], 4, "/nowhere/tokens"),
            (["--sources", "/nowhere"], 4, "/nowhere"),
            (["--listen", "192.0.2.1:8080", "--insecure"], 4, "192.0.2.1:8080"),
            (["--store", "/nowhere"], 4, "/nowhere"), (["--redis", "redis://127.0.0.1:1"], 4, "127.0.0.1:1"),
        ])
        func whatCannotBeServedIsSaid(_ arguments: [String], _ code: Int, _ words: String) async throws {
            try await Fleet.with(fixture, workers: 0) { fleet in
                let outcome = try await fixture.run(
                    .at(Program.folder + "/reel-server"), arguments,
                    environment: fleet.environment(as: "reel-coordinator"))
                #expect(outcome.code == code, "\(outcome.error)")
                let last = try #require(outcome.errorLines.last)
                #expect(last.hasPrefix("reel-server: ") && last.contains(words), "\(last)")
            }
        }
    }
}
