import Crypto
import Foundation
import ReelTestSupport
import Testing

extension EndToEnd {
    /// Webhooks of real servers, sent to a receiver in the test's process.
    @Suite struct WebhookTests {
        private let fixture: ProcessFixture
        private static let secret = "0123456789abcdef-of-the-test"
        private static let due = BoardSight.prefix + "webhooks"

        init() throws {
            fixture = try ProcessFixture()
            try "\(WebhookTests.secret)\n".write(toFile: fixture.path("secret"), atomically: true, encoding: .utf8)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: fixture.path("secret"))
            try FileManager.default.createDirectory(atPath: fixture.path("sources"), withIntermediateDirectories: true)
        }

        /// Arguments of a server that sends webhooks, also to these receivers.
        private func arguments(allowing receivers: String...) -> [String] {
            ["--sources", fixture.path("sources"), "--webhook-secret", fixture.path("secret")]
                + receivers.flatMap { ["--webhook-allow", $0] }
        }

        /// A file that is no video, so that only its name matters.
        private func file(_ name: String) throws -> String {
            let path = fixture.path("sources/\(name)")
            try name.write(toFile: path, atomically: true, encoding: .utf8)
            return path
        }

        /// Makes a job and cancels it; returns its id.
        private func cancelledJob(_ server: WebServer, _ name: String, webhook: String) async throws -> String {
            let made = try await server.send("POST", "/api/v1/jobs", ["source": file(name), "webhook": webhook])
            try #require(made.status == 201, "\(made.text)")
            let id = try #require(try made.object()["id"] as? String)
            #expect(try await server.send("POST", "/api/v1/jobs/\(id)/cancel").status == 200)
            return id
        }

        /// What signs a message, computed anew from the fields and the body that came.
        private func expectSigned(_ message: HookReceiver.Message) throws {
            let field = try #require(message.headers["reel-signature"])
            let match = try #require(field.wholeMatch(of: /t=([0-9]+),v1=([0-9a-f]{64})/), "\(field)")
            let code = HMAC<SHA256>.authenticationCode(
                for: Data("\(match.1).".utf8) + message.body, using: SymmetricKey(data: Data(WebhookTests.secret.utf8)))
            #expect(code.map { String(format: "%02x", $0) }.joined() == match.2)
            let age = Date().timeIntervalSince1970 - (Double(match.1) ?? 0)
            #expect((-1...120).contains(age))
        }

        /// Time has passed: pauses and leases of webhooks are over.
        private func letTimePass(_ fleet: Fleet) throws {
            let redis = try RawRedis(socket: fleet.socket)
            for name in try redis("ZRANGE", WebhookTests.due, "0", "-1").split(separator: "\n") {
                try redis("ZADD", WebhookTests.due, "1", String(name))
            }
        }

        /// Waits until nothing is to be sent any more, and returns whether that came.
        private func isSettled(_ fleet: Fleet) async throws -> Bool {
            try await eventually { try RawRedis(socket: fleet.socket)("ZCARD", WebhookTests.due) == "0" }
        }

        /// The seconds after which the only webhook that is to be sent is due; nil if there is none.
        private func wait(_ fleet: Fleet) throws -> Double? {
            let redis = try RawRedis(socket: fleet.socket)
            let entry = try redis("ZRANGE", WebhookTests.due, "0", "-1", "WITHSCORES").split(separator: "\n")
            guard entry.count == 2, let score = Double(entry[1]) else { return nil }
            return score / 1000 - Date().timeIntervalSince1970
        }

        @Test func aJobThatIsDoneIsToldOnceByOneOfTwoServers() async throws {
            let source = try fixture.copy(try await Clips.shared.film(), as: "sources/film.mp4")
            let receiver = try HookReceiver()
            defer { receiver.end() }
            try await Fleet.with(fixture, workers: 1) { fleet in
                try await WebServer.with(fleet, arguments(allowing: "localhost", "127.0.0.0/8")) { first in
                    try await WebServer.with(fleet, arguments(allowing: "LOCALHOST", "127.0.0.1")) { second in
                        var request: [String: Any] = [
                            "source": source, "webhook": "http://LocalHost:\(receiver.port)/done?key=%22x%22",
                        ]
                        let made = try await first.send("POST", "/api/v1/jobs", request)
                        #expect(made.status == 201, "\(made.text)")
                        #expect(!made.text.contains("key="))
                        let id = try #require(try made.object()["id"] as? String)
                        #expect(try await second.end(of: id)["state"] as? String == "done")
                        #expect(try await receiver.has(1))
                        let message = try #require(receiver.messages.first)
                        #expect(message.method == "POST")
                        #expect(message.path == "/done?key=%22x%22")
                        #expect(message.headers["host"] == "localhost:\(receiver.port)")
                        #expect(message.headers["content-type"] == "application/json")
                        #expect(message.headers["reel-event"] == "job.done")
                        #expect(message.headers["user-agent"]?.hasPrefix("reel/") == true)
                        #expect(message.headers["reel-delivery"]?.wholeMatch(of: /[0-9a-f]{32}/) != nil)
                        #expect(message.headers["expect"] == nil)
                        try expectSigned(message)
                        #expect(try await first.get("/api/v1/jobs/\(id)").body == message.body)

                        // Another webhook of a job that has ended is sent at once.
                        request["webhook"] = "http://127.0.0.1:\(receiver.port)/late"
                        #expect(try await second.send("POST", "/api/v1/jobs", request).status == 200)
                        #expect(try await receiver.has(2))
                        #expect(try await isSettled(fleet))
                        try letTimePass(fleet)
                        try await Task.sleep(for: .seconds(2))
                        let messages = receiver.messages
                        #expect(messages.map(\.path) == ["/done?key=%22x%22", "/late"])
                        #expect(messages[0].headers["reel-delivery"] != messages[1].headers["reel-delivery"])
                        let figures = try await first.get("/metrics").text
                        #expect(figures.contains("\nreel_webhooks_total{outcome=\"sent\"} 2\n"))
                    }
                }
            }
        }

        @Test func ofManyEachIsSentOnceByOneOfTwoServers() async throws {
            let receiver = try HookReceiver()
            defer { receiver.end() }
            try await Fleet.with(fixture, workers: 0) { fleet in
                try await WebServer.with(fleet, arguments(allowing: "127.0.0.1")) { first in
                    try await WebServer.with(fleet, arguments(allowing: "127.0.0.1")) { second in
                        let url = "http://127.0.0.1:\(receiver.port)"
                        for number in 0..<30 {
                            _ = try await cancelledJob(
                                number % 2 == 0 ? first : second, "\(number).mp4", webhook: "\(url)/\(number)")
                        }
                        #expect(try await receiver.has(30))
                        #expect(try await isSettled(fleet))
                        try await Task.sleep(for: .seconds(2))
                        #expect(receiver.messages.map(\.path).sorted() == (0..<30).map { "/\($0)" }.sorted())
                        #expect(Set(receiver.messages.map { $0.headers["reel-delivery"] }).count == 30)
                    }
                }
            }
        }

        @Test func aJobThatFailsIsTold() async throws {
            let receiver = try HookReceiver()
            defer { receiver.end() }
            try await Fleet.with(fixture, workers: 1) { fleet in
                try await WebServer.with(fleet, arguments(allowing: "127.0.0.1")) { server in
                    let made = try await server.send(
                        "POST", "/api/v1/jobs",
                        ["source": file("a.mp4"), "webhook": "http://127.0.0.1:\(receiver.port)/"])
                    let id = try #require(try made.object()["id"] as? String, "\(made.text)")
                    #expect(try await receiver.has(1))
                    let message = try #require(receiver.messages.first)
                    #expect(message.headers["reel-event"] == "job.failed")
                    try expectSigned(message)
                    #expect(try await server.get("/api/v1/jobs/\(id)").body == message.body)
                }
            }
        }

        @Test func oneThatIsNotTakenIsSentAgainAfterGrowingPausesAndNotElsewhere() async throws {
            let receiver = try HookReceiver { _, number in
                switch number {
                case 1: .status(500)
                case 2: .redirection("/elsewhere")
                default: .status(204)
                }
            }
            defer { receiver.end() }
            try await Fleet.with(fixture, workers: 0) { fleet in
                try await WebServer.with(fleet, arguments(allowing: "127.0.0.1")) { server in
                    _ = try await cancelledJob(server, "a.mp4", webhook: "http://127.0.0.1:\(receiver.port)/hook")
                    for (attempt, pause) in [(1, 10.0), (2, 20.0)] {
                        #expect(try await receiver.has(attempt))
                        // While it is being sent, its lease is longer.
                        let isPausing = try await eventually { try wait(fleet) ?? 0 <= pause }
                        #expect(isPausing)
                        #expect(try wait(fleet) ?? 0 > pause - 8)
                        try letTimePass(fleet)
                    }
                    #expect(try await receiver.has(3))
                    #expect(try await isSettled(fleet))
                    let messages = receiver.messages
                    #expect(messages.map(\.path) == ["/hook", "/hook", "/hook"])
                    #expect(messages.map { $0.headers["reel-event"] } == Array(repeating: "job.cancelled", count: 3))
                    #expect(Set(messages.map { $0.headers["reel-delivery"] }).count == 1)
                    for message in messages { try expectSigned(message) }
                    let figures = try await server.get("/metrics").text
                    #expect(figures.contains("\nreel_webhooks_total{outcome=\"retried\"} 2\n"))
                }
            }
        }

        @Test func oneThatWantsNoMoreAndOneOfARemovedJobAreNotSentAgain() async throws {
            let receiver = try HookReceiver { message, _ in .status(message.path == "/gone" ? 410 : 503) }
            defer { receiver.end() }
            try await Fleet.with(fixture, workers: 0) { fleet in
                try await WebServer.with(fleet, arguments(allowing: "127.0.0.1")) { server in
                    let url = "http://127.0.0.1:\(receiver.port)"
                    _ = try await cancelledJob(server, "a.mp4", webhook: "\(url)/gone")
                    #expect(try await receiver.has(1))
                    #expect(try await isSettled(fleet))
                    let id = try await cancelledJob(server, "b.mp4", webhook: "\(url)/removed")
                    #expect(try await receiver.has(2))
                    #expect(try await eventually { try wait(fleet) ?? 60 < 30 })
                    #expect(try await server.send("DELETE", "/api/v1/jobs/\(id)").status == 204)
                    #expect(try wait(fleet) == nil)
                    try await Task.sleep(for: .seconds(2))
                    #expect(receiver.messages.map(\.path) == ["/gone", "/removed"])
                    let figures = try await server.get("/metrics").text
                    #expect(figures.contains("\nreel_webhooks_total{outcome=\"given-up\"} 1\n"))
                }
            }
        }

        @Test func anotherServerSendsWhatAKilledOneWasSending() async throws {
            let receiver = try HookReceiver { _, number in number == 1 ? .silence : .status(204) }
            defer { receiver.end() }
            try await Fleet.with(fixture, workers: 0) { fleet in
                try await WebServer.withKilled(fleet, arguments(allowing: "127.0.0.1")) { server in
                    _ = try await cancelledJob(
                        server, "a.mp4", webhook: "http://127.0.0.1:\(receiver.port)/path-that-is-secret")
                    #expect(try await receiver.has(1))
                    let arguments = try commandLines()
                    #expect(arguments.contains { $0.contains("curl") && $0.contains("--config") })
                    #expect(!arguments.contains { $0.contains("path-that-is-secret") || $0.contains("v1=") })
                }
                try await WebServer.with(fleet, arguments(allowing: "127.0.0.1")) { _ in
                    try await Task.sleep(for: .seconds(2))
                    #expect(receiver.messages.count == 1)
                    #expect((30...60).contains(try wait(fleet) ?? 0))
                    try letTimePass(fleet)
                    #expect(try await receiver.has(2))
                    #expect(try await isSettled(fleet))
                    let messages = receiver.messages
                    #expect(messages[0].headers["reel-delivery"] == messages[1].headers["reel-delivery"])
                    #expect(messages[0].body == messages[1].body)
                }
            }
        }

        /// The arguments of all processes of this machine.
        private func commandLines() throws -> [String] {
            try FileManager.default.contentsOfDirectory(atPath: "/proc").filter { Int($0) != nil }
                .compactMap { try? String(contentsOfFile: "/proc/\($0)/cmdline", encoding: .utf8) }
        }

        @Test func privateReceiversAreRefusedWhenTheyAreNamedAndWhenTheyAreLookedUp() async throws {
            let receiver = try HookReceiver()
            defer { receiver.end() }
            let source = try file("a.mp4")
            try await Fleet.with(fixture, workers: 0) { fleet in
                try await WebServer.with(fleet, ["--sources", fixture.path("sources")]) { server in
                    let answer = try await server.send(
                        "POST", "/api/v1/jobs", ["source": source, "webhook": "https://a.example/"])
                    #expect(answer.status == 400)
                    #expect(answer.code == "webhooks-off")
                    #expect(try answer.object()["pointer"] as? String == "/webhook")
                }
                try await WebServer.with(fleet, arguments()) { server in
                    for (webhook, code) in [
                        ("http://127.0.0.1:\(receiver.port)/", "webhook-private"),
                        ("https://[::1]/", "webhook-private"),
                        ("https://[::ffff:10.0.0.1]/", "webhook-private"),
                        ("http://169.254.169.254/", "webhook-private"),
                        ("http://127.1/", "webhook-invalid"), ("ftp://a.example/", "webhook-invalid"),
                        ("https://user@a.example/", "webhook-invalid"),
                        ("https://a.example/\(String(repeating: "x", count: 2000))", "webhook-invalid"),
                    ] {
                        let answer = try await server.send(
                            "POST", "/api/v1/jobs", ["source": source, "webhook": webhook])
                        #expect(answer.status == 400, "\(webhook)")
                        #expect(answer.code == code, "\(webhook)")
                        #expect(try answer.object()["pointer"] as? String == "/webhook")
                    }
                    #expect(try await server.get("/api/v1/jobs").object()["jobs"] as? [String] == [])

                    let url = "http://localhost:\(receiver.port)/"
                    let id = try await cancelledJob(server, "a.mp4", webhook: url)
                    // It was tried, and is due again after the first pause.
                    #expect(try await eventually { (2...10).contains(try wait(fleet) ?? 0) })
                    #expect(receiver.messages.isEmpty)

                    let other = try file("b.mp4")
                    for number in 1..<9 {
                        let answer = try await server.send(
                            "POST", "/api/v1/jobs", ["source": other, "webhook": "https://\(number).example/"])
                        #expect(answer.status == (number == 1 ? 201 : 200))
                    }
                    let ninth = try await server.send(
                        "POST", "/api/v1/jobs", ["source": other, "webhook": "https://9.example/"])
                    #expect(ninth.status == 409)
                    #expect(ninth.code == "webhooks-too-many")
                    #expect(try await server.get("/api/v1/jobs/\(id)").status == 200)
                }
            }
        }

        @Test func aSecretThatOthersReadOrGuessIsRefused() async throws {
            try await Fleet.with(fixture, workers: 0) { fleet in
                for (text, mode, words) in [
                    ("0123456789abcde\n", 0o600, "fewer than 16 bytes"), (WebhookTests.secret, 0o644, "keeps a secret"),
                ] {
                    try text.write(toFile: fixture.path("other"), atomically: true, encoding: .utf8)
                    try FileManager.default.setAttributes(
                        [.posixPermissions: mode], ofItemAtPath: fixture.path("other"))
                    let outcome = try await fixture.run(
                        .at(Program.folder + "/reel-server"), ["--webhook-secret", fixture.path("other")],
                        environment: fleet.environment(as: "reel-coordinator"))
                    #expect(outcome.code == 4, "\(outcome.error)")
                    #expect(outcome.errorLines.last?.contains(words) == true, "\(outcome.error)")
                }
                for (arguments, words) in [
                    (["--webhook-secret", fixture.path("secret"), "--webhook-allow", "10.0.0.0/33"], "or a network"),
                    (["--webhook-allow", "10.0.0.0/8"], "--webhook-secret"),
                ] {
                    let outcome = try await fixture.run(
                        .at(Program.folder + "/reel-server"), arguments,
                        environment: fleet.environment(as: "reel-coordinator"))
                    #expect(outcome.code == 2)
                    #expect(outcome.errorLines.last?.contains(words) == true, "\(outcome.error)")
                }
            }
        }
    }
}
