internal import Foundation
internal import ReelCore
internal import ReelQueue
internal import ReelTLS

/// What TLS adds to a call of the board.
struct SecuredBoardSection {
    let runner: SuiteRunner

    /// Calls of each kind in a round.
    private static let calls = 500
    /// Milliseconds that a network between the machines of a farm adds to a call, for comparison: one rack, one zone.
    private static let journeys = [0.1, 0.5]

    func run() async throws -> Section {
        let port = Int.random(in: 24_000..<31_000)
        let (certificate, key) = (runner.work("redis.pem"), runner.work("redis.key"))
        try await runner.makeCertificate(certificate, key: key)
        let redis = try BackgroundProcess([
            "redis-server", "--port", "\(port)", "--tls-port", "\(port + 1)", "--tls-cert-file", certificate,
            "--tls-key-file", key, "--tls-ca-cert-file", certificate, "--tls-auth-clients", "no", "--save", "", "--dir",
            runner.work(""), "--maxmemory-policy", "noeviction",
        ])
        defer { redis.end() }
        let boards = [
            ("TCP", RedisBoard(try RedisAddress("redis://127.0.0.1:\(port)"), name: "plain")),
            (
                "TLS",
                RedisBoard(
                    try RedisAddress("rediss://localhost:\(port + 1)?ca=\(certificate)", transport: TLSTransport()),
                    name: "secured")
            ),
        ]
        try await runner.waitUntil("Redis answers") {
            for (_, board) in boards { try await board.ping() }; return true
        }

        var found: [String: Latencies] = [:]
        let worker = WorkerID("host-1-10001-5f3a")
        for _ in 1...(runner.rounds * 4) {
            for (name, board) in boards {
                for _ in 1...Self.calls {
                    let began = ContinuousClock.now
                    _ = try await board.beat(SampleJob.report(worker, holding: nil, encoded: 0))
                    found[name, default: Latencies()].add(ContinuousClock.now - began)
                }
            }
        }
        func median(_ name: String) -> Double { found[name]?.quantile(0.5) ?? .nan }
        let added = median("TLS") - median("TCP")
        let peer = try await (
            plain: ownClient(["-p", "\(port)"]),
            secured: ownClient(["-p", "\(port + 1)", "--tls", "--cacert", certificate])
        )
        var section = Section("TLS on the board")
        section.say(
            "A worker's heartbeat over loopback, \(runner.rounds * 4 * Self.calls) calls of each kind: median "
                + "\(figure(median("TCP"), "%.3f")) ms without and \(figure(median("TLS"), "%.3f")) ms with TLS, so TLS adds "
                + "\(figure(added, "%.3f")) ms (a ratio of \(figure(median("TLS") / median("TCP")))). For Redis's own "
                + "`redis-benchmark`, one client, TLS adds \(figure(peer.secured - peer.plain, "%.3f")) ms to the "
                + "\(figure(peer.plain, "%.3f")) ms of a SET (\(figure(peer.secured / peer.plain))). A network adds its own "
                + "time to both, and nobody needs TLS without one.")
        section.goals = [
            Goal(
                name: "what TLS adds to a call ÷ what it adds for redis-benchmark", aim: .atMost(1.5),
                found: [("", added / (peer.secured - peer.plain))]),
            Goal(
                name: "a call of the board with TLS ÷ without", aim: .atMost(1.1),
                found: Self.journeys.map {
                    ("and \($0) ms of network, computed", ($0 + median("TLS")) / ($0 + median("TCP")))
                }),
        ]
        return section
    }

    /// Milliseconds that a call takes Redis's own client: the median of the rounds.
    private func ownClient(_ options: [String]) async throws -> Double {
        var found: [Double] = []
        for _ in 1...runner.rounds {
            let text = try await runner.text(
                ["redis-benchmark", "-h", "localhost", "-c", "1", "-n", "20000", "-t", "set", "--csv"] + options)
            let fields = text.split(whereSeparator: \.isNewline).last?.split(separator: ",") ?? []
            guard fields.count > 1, let rate = Double(fields[1].trimmingCharacters(in: ["\""])), rate > 0 else {
                throw Trouble("redis-benchmark printed \(text)")
            }
            found.append(1000 / rate)
        }
        return found.sorted()[found.count / 2]
    }
}
