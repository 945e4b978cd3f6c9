internal import Foundation
internal import Glibc

/// Sources on a web server: what recon reads, and how fast a file without a table comes.
struct WebSection {
    let runner: SuiteRunner
    /// An MP4 of 2 GB unless the suite is quick.
    let film: String
    /// The same film in containers of several kinds.
    let withoutTable: [(name: String, file: String)]

    func run() async throws -> Section {
        var section = Section("Sources on a web server")
        let files = runner.folder + "/sources"
        try await WebFront.with(runner, files: files, store: nil) { front in
            setenv("SSL_CERT_FILE", front.authority, 1)
            defer { unsetenv("SSL_CERT_FILE") }
            try await recon(front, &section)
            try await streams(front, &section)
        }
        return section
    }

    private func address(_ server: String, _ file: String) -> String {
        "\(server)/\((file as NSString).lastPathComponent)"
    }

    private func plan(_ url: String) -> [String] { [runner.coordinator, "plan", url, "--json"] }

    private func recon(_ front: WebFront, _ section: inout Section) async throws {
        let size = Double(try runner.size(film))
        let url = address(front.secured, film)
        let requests = try await front.requests { _ = try await runner.measure("plan of the film", plan(url)) }
        let connections = Set(requests.map(\.connection)).count
        let received = requests.map(\.received).reduce(0, +)
        section.say(
            "Recon of an MP4 of \(megabytes(size)) over TLS: \(requests.count) requests over \(connections) connections, "
                + "\(megabytes(Double(received))) received.")
        section.goals += [
            Goal(
                name: "recon over HTTP: bytes read ÷ file", aim: .atMost(0.02), found: [("", Double(received) / size)],
                format: "%.4f"),
            Goal(
                name: "recon over HTTP: requests", aim: .atMost(20), found: [("", Double(requests.count))],
                format: "%.0f"),
            Goal(
                name: "recon over HTTP: connections", aim: .atMost(2), found: [("", Double(connections))],
                format: "%.0f"),
        ]
    }

    private func streams(_ front: WebFront, _ section: inout Section) async throws {
        section.say(
            "Sources without a table are read as a whole. Loopback is faster than networks are; so also with each answer "
                + "held to 119 MiB a second, which is 1 Gbit. reel waits for several answers at once.")
        var goal = Goal(
            name: "recon over HTTP without a table, 1 Gbit: speed ÷ `curl`'s", aim: .atLeast(0.8), found: [])
        var rows: [[String]] = []
        for (name, file) in withoutTable {
            let size = Double(try runner.size(file))
            try await runner.warm(file)
            for (kind, server) in [(", 1 Gbit", front.slow), ("", front.plain), (", TLS", front.secured)] {
                let url = address(server, file)
                let curl = ["curl", "-sSf", "--cacert", front.authority, "-o", "/dev/null", url]
                var rounds = Rounds()
                for _ in 1...runner.rounds {
                    for (reader, command) in [("reel", plan(url)), ("`curl`", curl)] {
                        rounds.add(reader, try await runner.measure("\(reader) reads \(name)\(kind)", command))
                    }
                }
                for reader in rounds.names {
                    let wall = rounds.median(reader, \.wall)
                    rows.append([
                        "\(name)\(kind), \(reader)", duration(wall), duration(rounds.median(reader, \.cpu)),
                        "\(megabytes(size / wall)) a second",
                    ])
                }
                if server == front.slow {
                    goal.found.append((name, 1 / rounds.ratio("reel", to: "`curl`", \.wall)))
                }
            }
        }
        section.table(["", "wall", "CPU", "speed"], rows)
        section.goals.append(goal)
    }
}
