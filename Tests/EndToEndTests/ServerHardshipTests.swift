import Foundation
import Glibc
import ReelTestSupport
import Synchronization
import Testing

extension EndToEnd {
    /// What strangers, slow lines and a store that comes and goes do to a server: each gets a clear answer, and nothing is lost.
    /// Other tests have what tokens, sites, hosts, webhooks and a Redis that is away are refused (ServerAccessTests,
    /// WebhookTests, ServerEventTests).
    @Suite struct ServerHardshipTests {
        private let fixture: ProcessFixture

        init() throws { fixture = try ProcessFixture() }

        private func makeSources() throws -> String {
            let folder = fixture.path("sources")
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            return folder
        }

        private func head(_ method: String, _ target: String, _ fields: [String] = [], length: Int? = nil) -> String {
            let fields =
                ["Host: localhost", "Connection: close"] + fields + (length.map { ["Content-Length: \($0)"] } ?? [])
            return "\(method) \(target) HTTP/1.1\r\n\(fields.joined(separator: "\r\n"))\r\n\r\n"
        }

        // MARK: Connections that are only held

        private static let connections = 10_000

        /// How many files this process may have open, and could have.
        private static var files: rlimit {
            var limit = rlimit()
            getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            return limit
        }

        private static func setFiles(_ count: rlim_t) {
            var limit = rlimit(rlim_cur: count, rlim_max: files.rlim_max)
            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        }

        @Test(
            .enabled(
                if: files.rlim_max >= connections + 500, "The system allows too few open files for 10,000 connections"))
        func whoHoldsConnectionsKeepsNobodyElseWaiting() async throws {
            let before = ServerHardshipTests.files
            // The server gets the limit of this process.
            ServerHardshipTests.setFiles(min(before.rlim_max, 65536))
            defer { ServerHardshipTests.setFiles(before.rlim_cur) }
            try await Fleet.with(fixture, workers: 0) { fleet in
                try await WebServer.with(fleet) { server in
                    let slowHead = try #require(Wire(port: server.port))
                    let slowBody = try #require(Wire(port: server.port))
                    slowHead.send("GET /api/v1/health HTTP/1.1\r\nHost: localhost\r\nX: ".utf8)
                    slowBody.send(head("POST", "/api/v1/jobs", ["Content-Type: application/json"], length: 5000).utf8)

                    var held: [Wire] = []
                    for number in 0..<ServerHardshipTests.connections {
                        let wire = try #require(Wire(port: server.port), "connection \(number)")
                        // Half of them begin a request.
                        if number % 2 == 0 { wire.send("GET /api/v1/jobs HTTP/1.1\r\n".utf8) }
                        held.append(wire)
                    }
                    for _ in 0..<5 { try await expectAnswer(server) }
                    // The last ones are still there: none had to go before the others were answered. On a slow machine the
                    // first have had their time by now.
                    #expect(held.suffix(100).filter { $0.receive() == nil }.isEmpty)
                    let memory = try memory(of: server.child.pid)
                    #expect(memory < 300 << 10, "\(memory) KiB")
                    held = []

                    // A byte now and then keeps neither.
                    var (headEnded, answer, bodyEnded) = (false, "", false)
                    let deadline = ContinuousClock.now + .seconds(180)
                    while !headEnded || !bodyEnded, ContinuousClock.now < deadline {
                        slowHead.send("a".utf8)
                        slowBody.send(" ".utf8)
                        if slowHead.receive() == nil { headEnded = true }
                        if let bytes = slowBody.receive() {
                            answer += String(decoding: bytes, as: UTF8.self)
                        } else {
                            bodyEnded = true
                        }
                        if answer.contains("body-slow") { bodyEnded = true }
                        try await Task.sleep(for: .milliseconds(300))
                    }
                    #expect(headEnded)
                    #expect(answer.hasPrefix("HTTP/1.1 408 "), "\(answer)")
                    #expect(answer.contains("\"code\":\"body-slow\""), "\(answer)")
                    try await expectAnswer(server)
                }
            }
        }

        @Test("a body of JSON that stalls gets 408, at its start or after a megabyte, and is no fault of the server")
        func stalledBodies() async throws {
            try await Fleet.with(fixture, workers: 0) { fleet in
                let log = try await WebServer.with(fleet) { server in
                    let (port, begun) = (server.port, ContinuousClock.now)
                    let json = ["Content-Type: application/json"]
                    try await withThrowingTaskGroup(of: Void.self) { group in
                        for (method, place, length, sent) in [
                            ("POST", "jobs", 2 << 20, 1), ("POST", "jobs", 2 << 20, 1 << 20), ("POST", "plan", 5000, 1),
                            ("PATCH", "jobs/0123456789abcdef", 5000, 1),
                        ] {
                            let request = head(method, "/api/v1/\(place)", json, length: length)
                            group.addTask {
                                let wire = try #require(Wire(port: port))
                                let answer = try await wire.exchange(request + String(repeating: " ", count: sent))
                                #expect(answer?.hasPrefix("HTTP/1.1 408 ") == true, "\(place): \(answer ?? "")")
                                #expect(answer?.contains("\"code\":\"body-slow\"") == true)
                            }
                        }
                        try await group.waitForAll()
                    }
                    // The bytes of a megabyte, which came at once, give none of the time of a stall. Each connection ends 10 s
                    // after its answer.
                    #expect(ContinuousClock.now - begun < .seconds(20 + 10 + 5))
                }
                #expect(!log.contains(" error "), "\(log)")
            }
        }

        @Test("views of a job with a long edit take turns: nothing else waits for them, and memory stays bounded")
        func viewsOfALongEdit() async throws {
            let folder = try makeSources()
            let source = try fixture.copy(try await Clips.shared.film(), as: "sources/film.mp4")
            let clips = (0..<40_000).map { ["source": source, "from": "\($0 % 20)f", "duration": "2f"] }
            try await Fleet.with(fixture, workers: 0) { fleet in
                let log = try await WebServer.with(fleet, ["--sources", folder]) { server in
                    let posted = try await server.send("POST", "/api/v1/jobs", ["edit": ["clips": clips]])
                    #expect(posted.status == 201, "\(posted.text.prefix(300))")
                    let job = try #require(try posted.object()["id"] as? String)
                    try await withThrowingTaskGroup(of: Int.self) { group in
                        for _ in 0..<24 {
                            group.addTask { try await server.get("/api/v1/jobs/\(job)").status }
                        }
                        var statuses: [Int] = []
                        for try await status in group {
                            statuses.append(status)
                            // All threads held would be a store that hangs, and a list without what only the store has.
                            let list = try await server.get("/api/v1/jobs")
                            #expect(list.text.contains("\"options\":"))
                        }
                        // On a slow machine the last ones wait for longer than a request may.
                        #expect(statuses.allSatisfy { $0 == 200 || $0 == 503 } && statuses.contains(200), "\(statuses)")
                    }
                    // What allocators keep differs from run to run: up to 405 MiB were seen.
                    let memory = try memory(of: server.child.pid)
                    #expect(memory < 640 << 10, "\(memory) KiB")
                }
                #expect(!log.contains("the store does not answer"), "\(log)")
            }
        }

        /// 300 callers ask for a file of 300 MiB each and take nothing of it but the first bytes. A server that reads on
        /// would have gigabytes by the time that the last ones have these.
        @Test("downloads that nobody takes hold little memory and keep nobody waiting")
        func untakenDownloads() async throws {
            let folder = try makeSources()
            let source = fixture.path("sources/large.mp4")
            #expect(FileManager.default.createFile(atPath: source, contents: nil))
            #expect(truncate(source, 300 << 20) == 0)
            try await Fleet.with(fixture, workers: 0) { fleet in
                try await WebServer.with(fleet, ["--sources", folder]) { server in
                    let posted = try await server.send("POST", "/api/v1/jobs", ["source": source])
                    let job = try #require(try posted.object()["id"] as? String, "\(posted.text)")
                    var held: [Wire] = []
                    for _ in 0..<300 {
                        let wire = try #require(Wire(port: server.port))
                        wire.send(head("GET", "/api/v1/jobs/\(job)/source").utf8)
                        held.append(wire)
                    }
                    try await expectBegun(held, by: server)
                }
            }
        }

        private final class Answers: Sendable {
            private let all = Mutex<[Int]>([])

            var statuses: [Int] { all.withLock(\.self) }

            func add(_ status: Int) { all.withLock { $0.append(status) } }
        }

        /// The ends of each source are read and hashed before there is a job.
        @Test("submissions of many sources take turns: nothing else waits for them")
        func submissionsOfManySources() async throws {
            let folder = try makeSources()
            let source = fixture.path("sources/0.mp4")
            #expect(FileManager.default.createFile(atPath: source, contents: nil))
            #expect(truncate(source, 2 << 20) == 0)
            for number in 1..<200 { #expect(link(source, fixture.path("sources/\(number).mp4")) == 0) }
            try await Fleet.with(fixture, workers: 0) { fleet in
                let log = try await WebServer.with(fleet, ["--sources", folder]) { server in
                    let answers = Answers()
                    try await withThrowingTaskGroup(of: Void.self) { group in
                        for job in 0..<12 {
                            let clips = (0..<200).map { ["source": fixture.path("sources/\(($0 + job) % 200).mp4")] }
                            group.addTask {
                                answers.add(
                                    try await server.send("POST", "/api/v1/jobs", ["edit": ["clips": clips]]).status)
                            }
                        }
                        var lists = 0
                        while answers.statuses.count < 12 {
                            try await expectAnswer(server)
                            lists += 1
                        }
                        // A list that waited for the submissions would be the only one, or nearly.
                        #expect(lists > 12, "\(lists)")
                        try await group.waitForAll()
                    }
                    let statuses = answers.statuses
                    // On a slow machine the last ones wait for longer than a request may.
                    #expect(statuses.allSatisfy { $0 == 201 || $0 == 503 } && statuses.contains(201), "\(statuses)")
                }
                #expect(!log.contains("the store does not answer"), "\(log)")
            }
        }

        @Test(
            "large bodies share the memory: more are sent away with the time to come again, and the room is given back")
        func manyLargeBodies() async throws {
            try await Fleet.with(fixture, workers: 0) { fleet in
                try await WebServer.with(fleet) { server in
                    let length = 7 << 20
                    let request = head("POST", "/api/v1/jobs", ["Content-Type: application/json"], length: length)
                    // Ten senders have sent all of their bodies but the last byte.
                    let body = [UInt8](repeating: UInt8(ascii: " "), count: length - 1)
                    var held: [Wire] = []
                    var answers: [Data] = []
                    for _ in 0..<10 {
                        let wire = try #require(Wire(port: server.port))
                        wire.send(request.utf8)
                        answers.append(try await wire.sendUntilAnswered(body))
                        held.append(wire)
                    }
                    // 32 MiB hold four of them.
                    while answers.count(where: { !$0.isEmpty }) < 6 {
                        for place in held.indices where answers[place].isEmpty {
                            answers[place] = try #require(held[place].receive())
                        }
                        try await Task.sleep(for: .milliseconds(20))
                    }
                    for answer in answers where !answer.isEmpty {
                        let text = String(decoding: answer, as: UTF8.self)
                        #expect(text.hasPrefix("HTTP/1.1 503 ") && text.contains("\"code\":\"bodies-busy\""))
                        #expect(text.lowercased().contains("\r\nretry-after: 5\r\n"), "\(text)")
                    }
                    #expect(answers.contains { $0.isEmpty })
                    try await expectAnswer(server)
                    held = []
                    #expect(
                        try await eventually {
                            let answer = try await server.send(
                                "POST", "/api/v1/jobs", headers: ["Content-Type": "application/json"],
                                body: Data(body + "{}".utf8))
                            return answer.status != 503
                        })
                    let memory = try memory(of: server.child.pid)
                    #expect(memory < 300 << 10, "\(memory) KiB")
                }
            }
        }

        @Test("event streams that nobody reads hold little memory and keep nobody waiting")
        func unreadEvents() async throws {
            let folder = try makeSources()
            let source = try fixture.copy(try await Clips.shared.film(), as: "sources/film.mp4")
            try await Fleet.with(fixture, workers: 0) { fleet in
                try await WebServer.with(fleet, ["--sources", folder]) { server in
                    let posted = try await server.send("POST", "/api/v1/jobs", ["source": source])
                    let job = try #require(try posted.object()["id"] as? String, "\(posted.text)")
                    let redis = try RawRedis(socket: fleet.socket)
                    var held: [Wire] = []
                    // A listener that was away gets 8,000 events, which have 3 MB.
                    let worker = String(repeating: "w", count: 250)
                    var places: [String] = []
                    for _ in 0..<8000 {
                        places.append(
                            try redis(
                                "XADD", "reel2:{main}:events", "*", "event", "claimed", "job", job, "index", "1",
                                "worker",
                                worker))
                    }
                    for _ in 0..<300 {
                        let wire = try #require(Wire(port: server.port))
                        wire.send(head("GET", "/api/v1/events", ["Last-Event-ID: \(places[0])"]).utf8)
                        held.append(wire)
                    }
                    try await expectBegun(held, by: server)
                }
            }
        }

        @Test("a server whose connections are all taken says so, waits without work, and goes on")
        func allConnectionsTaken() async throws {
            let before = ServerHardshipTests.files
            defer { ServerHardshipTests.setFiles(before.rlim_cur) }
            try await Fleet.with(fixture, workers: 0) { fleet in
                ServerHardshipTests.setFiles(400)
                let server = try await WebServer.launch(fleet, [])
                ServerHardshipTests.setFiles(before.rlim_cur)
                #expect(try await eventually { (try? await server.get("/api/v1/health").status) == 200 })
                var held: [Wire] = []
                for number in 0..<500 {
                    let wire = try #require(Wire(port: server.port), "connection \(number)")
                    wire.send("GET /api/v1/jobs HTTP/1.1\r\n".utf8)
                    held.append(wire)
                }
                try await Task.sleep(for: .seconds(1))
                let used = try cpuTime(of: server.child.pid)
                try await Task.sleep(for: .seconds(2))
                #expect(try cpuTime(of: server.child.pid) - used < 1, "of two seconds")
                held = []
                try await expectAnswer(server)
                let outcome = try await server.child.end()
                #expect(outcome.code == 0)
                #expect(outcome.error.contains("holds 300 connections, the most that it may; further callers wait"))
            }
        }

        @Test("a server that starts while Redis is full serves what writes nothing, and goes on when there is room")
        func startingBesideAFullRedis() async throws {
            try await Fleet.with(fixture, workers: 0) { fleet in
                let redis = try RawRedis(socket: fleet.socket)
                try redis("CONFIG", "SET", "maxmemory", "1")
                let server = try await WebServer.launch(fleet, [])
                #expect(try await eventually { (try? await server.get("/api/v1/health").status) == 200 })
                #expect(try await server.get("/api/v1/jobs").status == 200)
                #expect(try await server.get("/api/v1/ready").status == 503)
                let figures = try await server.get("/metrics").text
                #expect(figures.contains("\nreel_redis_memory_limit_bytes 1\n"))
                #expect(figures.contains("\nreel_store_up 1\n"))
                try redis("CONFIG", "SET", "maxmemory", "0")
                #expect(try await eventually { try await server.get("/api/v1/ready").status == 200 })
                let outcome = try await server.child.end()
                #expect(outcome.code == 0)
                #expect(outcome.error.contains("only what writes nothing to it works"), "\(outcome.error)")
            }
        }

        /// The seconds for which a process has computed.
        private func cpuTime(of process: pid_t) throws -> Double {
            let stat = try String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
            let fields = try #require(stat.split(separator: ")").last).split(separator: " ")
            return try (#require(Double(fields[11])) + #require(Double(fields[12])))
                / Double(sysconf(Int32(_SC_CLK_TCK)))
        }

        /// Expects that callers have the beginnings of their answers, which they take no more of, that others are answered,
        /// and that the server has not used much memory.
        private func expectBegun(_ held: [Wire], by server: WebServer) async throws {
            for wire in held {
                var begin = ""
                while begin.isEmpty {
                    begin = String(decoding: try #require(wire.receive()), as: UTF8.self)
                    if begin.isEmpty { try await Task.sleep(for: .milliseconds(2)) }
                }
                #expect(begin.hasPrefix("HTTP/1.1 200 "))
            }
            for _ in 0..<5 { try await expectAnswer(server) }
            let memory = try memory(of: server.child.pid)
            #expect(memory < 400 << 10, "\(memory) KiB")
        }

        private func expectAnswer(_ server: WebServer) async throws {
            let wire = try #require(Wire(port: server.port))
            let answer = try await wire.exchange(head("GET", "/api/v1/jobs"))
            #expect(answer?.hasPrefix("HTTP/1.1 200 ") == true)
        }

        /// The most memory that a process has had, in KiB.
        private func memory(of process: pid_t) throws -> Int {
            let text = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
            return try #require(text.firstMatch(of: /VmHWM:\s*([0-9]+) kB/).flatMap { Int($0.1) })
        }

        // MARK: Requests that nobody should send

        @Test func noSpellingOfAPathLeadsOutOfIt() async throws {
            let folder = try makeSources()
            let secret = fixture.path("secret.mp4")
            try "secret".write(toFile: secret, atomically: true, encoding: .utf8)
            try FileManager.default.createSymbolicLink(atPath: "\(folder)/up", withDestinationPath: "..")
            try FileManager.default.createSymbolicLink(atPath: "\(folder)/link.mp4", withDestinationPath: secret)
            let names = [
                "..", ".", "%2e%2e", "..%2f..%2fsecret.mp4", "%2e%2e%2f%2e%2e%2fsecret.mp4", "a%2fb", "%00", "a%00b",
                "%0d%0aX", "%ff", "%zz", "lock", "%5c..%5c",
            ]
            try await Fleet.with(fixture, workers: 0) { fleet in
                try await WebServer.with(fleet, ["--sources", folder]) { server in
                    func answer(_ method: String, _ target: String, _ fields: [String] = [], _ body: String = "")
                        async throws -> (status: Int, text: String)
                    {
                        let wire = try #require(Wire(port: server.port))
                        let request =
                            head(method, target, fields, length: method == "GET" ? nil : body.utf8.count) + body
                        let text = try #require(try await wire.exchange(request), "\(method) \(target)")
                        return (Int(text.dropFirst(9).prefix(3)) ?? 0, text)
                    }
                    let tus = ["Tus-Resumable: 1.0.0"]
                    let piece = tus + ["Upload-Offset: 0", "Content-Type: application/offset+octet-stream"]
                    for name in names {
                        var answers = [
                            try await answer("GET", "/\(name)/\(name)/etc/passwd"),
                            try await answer("GET", "/api/v1/jobs/\(name)"),
                            try await answer("GET", "/api/v1/jobs/\(name)/output"),
                            try await answer("GET", "/api/v1/jobs/\(name)/frames/source/0.jpg"),
                            try await answer("DELETE", "/api/v1/jobs/\(name)"),
                            try await answer("HEAD", "/api/v1/uploads/\(name)", tus),
                            try await answer("PATCH", "/api/v1/uploads/\(name)", piece, "x"),
                            try await answer("DELETE", "/api/v1/uploads/\(name)", tus),
                            try await answer("POST", "/api/v1/hosts/\(name)/drain"),
                            try await answer("POST", "/api/v1/workers/\(name)/drain"),
                        ]
                        answers.append(
                            try await answer(
                                "POST", "/api/v1/uploads", tus + ["Upload-Concat: final;/api/v1/uploads/\(name)"]))
                        for (status, text) in answers {
                            #expect(status == 404 || status == 400, "\(name): \(text)")
                            #expect(!text.contains("root:") && !text.hasSuffix("secret"), "\(name): \(text)")
                            #expect(text.contains("application/problem+json"), "\(name): \(text)")
                        }
                    }
                    // No status of a file elsewhere is told.
                    for (source, statuses) in [
                        (secret, [403]), ("\(folder)/../secret.mp4", [403]), ("\(folder)/up/secret.mp4", [403]),
                        ("\(folder)/link.mp4", [403]), ("\(folder)\\u0000/../secret.mp4", [403, 422]),
                        ("\(folder)/%2e%2e/secret.mp4", [422]), ("\(folder)/..%2fsecret.mp4", [422]),
                        ("\(folder)/\\u0000", [422]), ("\(folder)", [403]), ("\(folder)x/a.mp4", [403]),
                        ("/proc/self/environ", [403]), ("file://\(secret)", [403]), ("", [400]), ("\\u0000", [400]),
                        ("upload:..", [404]), ("upload:../../secret.mp4", [404]), ("upload:", [404]),
                    ] {
                        let (status, text) = try await answer(
                            "POST", "/api/v1/jobs", ["Content-Type: application/json"], "{\"source\":\"\(source)\"}")
                        #expect(statuses.contains(status), "\(source): \(text)")
                        #expect(text.contains("application/problem+json"), "\(source): \(text)")
                    }
                    #expect(try await server.get("/api/v1/jobs").text.contains("\"jobs\":[]"))
                    #expect(try String(contentsOfFile: secret, encoding: .utf8) == "secret")
                    #expect(fleet.jobs.isEmpty)
                }
            }
        }

        @Test func whatIsNoRequestIsRefusedWithItsPlace() async throws {
            let folder = try makeSources()
            let source = try fixture.copy(try await Clips.shared.film(), as: "sources/film.mp4")
            let given = "\"source\":\"\(source)\""
            let deep = String(repeating: "[", count: 100_000)
            let many = "{\"edit\":[\(String(repeating: "0,", count: 4_000_000))0]}"
            try await Fleet.with(fixture, workers: 0) { fleet in
                let log = try await WebServer.with(fleet, ["--sources", folder]) { server in
                    for (body, code, pointer) in [
                        ("", "not-json", nil), ("{", "not-json", nil), (deep, "json-too-large", nil),
                        (many, "json-too-large", nil),
                        ("{\(given),\"weight\":NaN}", "not-json", nil), ("null", "request-invalid", ""),
                        ("[]", "request-invalid", ""), ("\"a\"", "request-invalid", ""),
                        ("{\"source\":1}", "request-invalid", "/source"),
                        ("{\"source\":\"\\ud800\"}", "request-invalid", "/source"),
                        ("{\(given),\"weight\":\"2\"}", "request-invalid", "/weight"),
                        ("{\(given),\"weight\":1e999}", "request-invalid", "/weight"),
                        ("{\(given),\"labels\":[]}", "request-invalid", "/labels"),
                        ("{\(given),\"labels\":{\"a\":1}}", "request-invalid", "/labels/a"),
                        ("{\(given),\"labels\":{\"a\":\"\\u0000\"}}", "label-invalid", "/labels/a"),
                        ("{\(given),\"name\":\"a\\u0000b\"}", "name-invalid", "/name"),
                        ("{\(given),\"options\":[]}", "request-invalid", "/options"),
                        ("{\(given),\"options\":{\"passFrames\":{}}}", "request-invalid", "/options/passFrames"),
                        (
                            "{\(given),\"options\":{\"passFrames\":99999999999999999999}}", "option-invalid",
                            "/options/passFrames"
                        ), ("{\"edit\":7}", "request-invalid", "/edit"),
                        ("{\"upload\":7}", "request-invalid", "/upload"),
                    ] as [(String, String, String?)] {
                        let answer = try await server.send(
                            "POST", "/api/v1/jobs", headers: ["Content-Type": "application/json"], body: Data(body.utf8)
                        )
                        #expect(answer.status == 400, "\(body.prefix(100))")
                        #expect(answer.code == code, "\(body.prefix(100))")
                        #expect(try answer.object()["pointer"] as? String == pointer, "\(body.prefix(100))")
                    }
                    // A stranger can send this one.
                    let nested = String(repeating: "[", count: 500) + String(repeating: "]", count: 500)
                    for body in [nested, "{\"a\":\"\\\"\(nested)"] {
                        let answer = try await server.send(
                            "POST", "/api/v1/session", headers: ["Content-Type": "application/json"],
                            body: Data(body.utf8))
                        #expect(answer.status == 400)
                        #expect(answer.code == (body == nested ? "json-too-large" : "not-json"))
                    }
                    for type in [nil, "text/plain", "application/x-www-form-urlencoded", "application/jsonx"] {
                        let answer = try await server.send(
                            "POST", "/api/v1/jobs", headers: type.map { ["Content-Type": $0] } ?? [:],
                            body: Data("{\(given)}".utf8))
                        #expect(answer.status == 415, "\(type ?? "no type"): \(answer.text)")
                    }
                    // What is no HTTP is told so, too, and ends its connection.
                    for request in [
                        "GARBAGE\r\n\r\n", "GET / HTTP/9.9\r\nHost: localhost\r\n\r\n",
                        "GET /\0 HTTP/1.1\r\nHost: localhost\r\n\r\n",
                        head("GET", "/", ["X: \(String(repeating: "a", count: 40_000))"]),
                        head("GET", "/api/v1/jobs/\(String(repeating: "a", count: 40_000))"),
                        head("POST", "/api/v1/jobs", ["Transfer-Encoding: chunked"], length: 5),
                        head("POST", "/api/v1/jobs", length: -1),
                        head("GET", "/api/v1/health", ["Host: other.example"]),
                        head("POST", "/api/v1/jobs", ["Transfer-Encoding: chunked", "Content-Type: application/json"])
                            + "zz\r\n{}\r\n",
                        head("POST", "/api/v1/jobs", ["Transfer-Encoding: chunked", "Content-Type: application/json"])
                            + "2\r\n{}X\r\n",
                    ] {
                        let answer = try await #require(Wire(port: server.port)).exchange(request)
                        #expect(answer?.hasPrefix("HTTP/1.1 400 ") == true, "\(request.prefix(50)): \(answer ?? "")")
                    }
                    for (query, pointer) in [
                        ("jobs?limit=-1", "limit"), ("jobs?limit=99999999999999999999", "limit"),
                        ("jobs?cursor=%00", "cursor"), ("jobs?state=%00", "state"), ("jobs?limit=1&limit=2", "limit"),
                        ("audit?cursor=..", "cursor"), ("audit?limit=x", "limit"),
                    ] {
                        let answer = try await server.get("/api/v1/\(query)")
                        #expect(answer.code == "parameter-invalid", "\(query)")
                        #expect(try answer.object()["pointer"] as? String == pointer, "\(query)")
                    }
                    #expect(try await server.get("/api/v1/events?job=00000000000000ff").status == 404)
                    #expect(try await server.get("/api/v1/jobs").text.contains("\"jobs\":[]"))
                }
                // None of that is a fault of the server.
                #expect(!log.contains(" error "), "\(log)")
            }
        }

        // MARK: Text that is markup elsewhere

        @Test func markupStaysText() async throws {
            let folder = try makeSources()
            let markup = "<img src=x onerror=alert(1)>&\"'"
            let bad = "\(folder)/\(markup).mp4"
            try "no video".write(toFile: bad, atomically: true, encoding: .utf8)
            let good = "\(folder)/\(markup).mkv"
            let made = try await fixture.run(
                .ffmpeg,
                [
                    "-v", "error", "-i", try await Clips.shared.film(), "-c", "copy", "-metadata", "title=\(markup)",
                    good,
                ])
            try #require(made.code == 0, "\(made.error)")
            try await Fleet.with(fixture, workers: 1) { fleet in
                try await WebServer.with(fleet, ["--sources", folder]) { server in
                    for (source, state) in [(bad, "failed"), (good, "done")] {
                        let answer = try await server.send(
                            "POST", "/api/v1/jobs", ["source": source, "name": markup, "labels": ["a": markup]])
                        let id = try #require(try answer.object()["id"] as? String, "\(answer.text)")
                        let job = try await server.end(of: id)
                        #expect(job["state"] as? String == state, "\(job)")
                        #expect(job["name"] as? String == markup)
                        #expect(job["labels"] as? [String: String] == ["a": markup])
                        #expect(job["source"] as? String == source)
                        if state == "failed" { #expect((job["failure"] as? String)?.contains(markup) == true) }
                        for place in ["/api/v1/jobs/\(id)", "/api/v1/jobs", "/api/v1/jobs/\(id)/passes"] {
                            let view = try await server.get(place)
                            #expect(view.headers["content-type"] == "application/json", "\(place)")
                            #expect(view.headers["x-content-type-options"] == "nosniff", "\(place)")
                        }
                        // Pages are the same whatever jobs there are: their script puts text where text belongs.
                        #expect(try await server.get("/jobs/\(id)").text == server.get("/jobs/@").text)
                        if state == "done" {
                            let output = try await server.get("/api/v1/jobs/\(id)/output")
                            #expect(output.headers["content-type"] == "video/x-matroska")
                            let disposition = try #require(output.headers["content-disposition"])
                            #expect(disposition.hasPrefix("attachment; filename*=UTF-8''%3Cimg%20src%3Dx%20"))
                        }
                    }
                    for (place, module) in try await server.modules() {
                        for word in ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("] {
                            #expect(!module.text.contains(word), "\(place)")
                        }
                    }
                }
            }
        }

        // MARK: The store is away

        @Test func aStoreThatGoesAwayAndComesBackLosesNothing() async throws {
            let folder = try makeSources()
            let source = try fixture.copy(try await Clips.shared.film(), as: "sources/film.mp4")
            let away = fixture.path("away")
            // Far more than the buffers between the server and its caller take.
            let bytes = Data((0..<(64 << 20)).lazy.map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 13) })
            let version = ["Tus-Resumable": "1.0.0"]
            let piece = version.merging(["Content-Type": "application/offset+octet-stream"]) { $1 }
            try await Fleet.with(fixture, workers: 0) { fleet in
                try await WebServer.with(fleet, ["--sources", folder]) { server in
                    let made = try await server.send(
                        "POST", "/api/v1/uploads", headers: piece.merging(["Upload-Length": "\(bytes.count)"]) { $1 },
                        body: bytes)
                    let place = try #require(made.headers["location"], "\(made.text)")
                    let job = try await server.send(
                        "POST", "/api/v1/jobs", ["upload": String(place.split(separator: "/").last ?? "")])
                    let id = try #require(try job.object()["id"] as? String, "\(job.text)")

                    // A download that has begun.
                    let wire = try #require(Wire(port: server.port))
                    wire.send(head("GET", "/api/v1/jobs/\(id)/source").utf8)
                    var download = Data()
                    while download.isEmpty { download += try #require(wire.receive()) }

                    var seen: [String] = []
                    try await server.events(open: {
                        try FileManager.default.moveItem(atPath: fleet.store, toPath: away)
                        #expect(try await server.get("/api/v1/health").status == 200)
                        let ready = try await server.get("/api/v1/ready")
                        #expect(ready.status == 503)
                        #expect(ready.code == "store-missing")
                        let submitted = try await server.send("POST", "/api/v1/jobs", ["source": source])
                        #expect(submitted.status == 503, "\(submitted.text)")
                        #expect(submitted.headers["retry-after"] != nil)
                        let begun = try await server.send(
                            "POST", "/api/v1/uploads", headers: version.merging(["Upload-Length": "5"]) { $1 })
                        #expect(begun.status == 503, "\(begun.text)")
                        // A client of tus would begin anew if it were unknown.
                        #expect(try await server.send("HEAD", place, headers: version).status == 503)
                        #expect(try await server.get("/api/v1/jobs/\(id)/output").status == 503)
                        #expect(!FileManager.default.fileExists(atPath: fleet.store))

                        // What has its place while the file system is not mounted is not the store, either.
                        try FileManager.default.createDirectory(atPath: fleet.store, withIntermediateDirectories: false)
                        #expect(try await server.send("POST", "/api/v1/jobs", ["source": source]).status == 503)
                        #expect(try FileManager.default.contentsOfDirectory(atPath: fleet.store).isEmpty)
                        try FileManager.default.removeItem(atPath: fleet.store)

                        try FileManager.default.moveItem(atPath: away, toPath: fleet.store)
                        #expect(try await server.get("/api/v1/ready").status == 200)
                        #expect(
                            try await server.send("HEAD", place, headers: version).headers["upload-offset"]
                                == "\(bytes.count)")
                        #expect(try await server.send("POST", "/api/v1/jobs", ["source": source]).status == 201)
                        #expect(try await server.send("POST", "/api/v1/jobs/\(id)/pause").status == 200)
                    }) { event in
                        // The stream has been open all the time.
                        seen.append(event.kind)
                        return event.kind != "paused"
                    }
                    #expect(seen.last == "paused")
                    #expect(!seen.contains("bye") && !seen.contains("resync"), "\(seen)")

                    let deadline = ContinuousClock.now + .seconds(20)
                    while let more = wire.receive(), ContinuousClock.now < deadline {
                        download += more
                        if more.isEmpty { try await Task.sleep(for: .milliseconds(2)) }
                    }
                    let end = try #require(download.range(of: Data("\r\n\r\n".utf8))).upperBound
                    #expect(download[end...] == bytes)
                }
            }
        }

        // MARK: The store hangs

        @Test func aStoreThatHangsKeepsWaitingOnlyWhatNeedsItAndThatNotForLong() async throws {
            let folder = try makeSources()
            let source = try fixture.copy(try await Clips.shared.film(), as: "sources/film.mp4")
            let other = try fixture.copy(try await Clips.shared.allKeys(), as: "sources/keys.mp4")
            let version = ["Tus-Resumable": "1.0.0", "Upload-Length": "5"]
            let sickness = try await Sickness(fixture)
            try await Fleet.with(fixture, workers: 0) { fleet in
                try await WebServer.with(fleet, ["--sources", folder], environment: sickness.environment) { server in
                    let job = try await server.send("POST", "/api/v1/jobs", ["source": source])
                    let id = try #require(try job.object()["id"] as? String, "\(job.text)")
                    let threads = try threads(of: server.child.pid)

                    try sickness.setHang(true)
                    // The first are more than there are threads for them, and the rest come while none is free.
                    for _ in 0..<2 {
                        try await withThrowingTaskGroup(of: WebServer.Answer.self) { group in
                            for number in 0..<40 {
                                group.addTask {
                                    switch number % 4 {
                                    case 0: try await server.get("/api/v1/jobs/\(id)/output")
                                    case 1: try await server.send("POST", "/api/v1/jobs", ["source": other])
                                    case 2: try await server.send("POST", "/api/v1/uploads", headers: version)
                                    default: try await server.send("POST", "/api/v1/jobs/\(id)/pause")
                                    }
                                }
                            }
                            // None of these waits for the others.
                            #expect(try await server.get("/api/v1/health").status == 200)
                            #expect(try await server.get("/api/v1/demand").status == 200)
                            #expect(try await server.get("/metrics").text.contains("\nreel_redis_up 1\n"))
                            #expect(try await server.get("/").status == 200)
                            let queue = try await server.get("/api/v1/queue")
                            #expect(queue.status == 200, "\(queue.text)")
                            #expect((try queue.object()["jobs"] as? [[String: Any]])?.count == 1)
                            #expect(try await server.get("/api/v1/jobs").text.contains(id))
                            #expect(try await server.get("/api/v1/jobs/\(id)").status == 200)
                            for try await answer in group {
                                #expect(answer.status == 503, "\(answer.text)")
                                #expect(answer.headers["retry-after"] != nil)
                            }
                        }
                        let ready = try await server.get("/api/v1/ready")
                        #expect((ready.status, ready.code) == (503, "store-hangs"))
                        let figures = try await server.get("/metrics").text
                        #expect(figures.contains("\nreel_store_up 0\n"))
                        #expect(figures.contains("\nreel_store_free_bytes "))
                    }
                    #expect(try self.threads(of: server.child.pid) < threads + 40)

                    try sickness.setHang(false)
                    #expect(try await eventually { try await server.get("/api/v1/ready").status == 200 })
                    #expect(
                        try await eventually { try await server.get("/metrics").text.contains("\nreel_store_up 1\n") })
                    #expect(
                        [200, 201].contains(try await server.send("POST", "/api/v1/jobs", ["source": other]).status))
                    #expect(try await server.send("POST", "/api/v1/uploads", headers: version).status == 201)
                    #expect(try await server.get("/api/v1/jobs/\(id)/output").status == 404)
                    #expect(try await server.send("POST", "/api/v1/jobs/\(id)/cancel").status == 200)
                }
            }
        }

        /// How many threads a process has.
        private func threads(of process: pid_t) throws -> Int {
            try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/task").count
        }
    }
}
