internal import Foundation

/// reel beside its peers: the same source, the same coding, alternately.
struct PeerSection {
    let runner: SuiteRunner
    let source: String
    let name: String
    /// Its length in seconds, if known: then two halves of it forwards are the floor.
    var seconds: Double?

    static let halves = "two halves forwards at once"

    func run(peers: [Peer] = Peer.allCases) async throws -> (Section, Rounds, JobFacts) {
        try await runner.warm(source)
        var rounds = Rounds()
        var facts: JobFacts?
        for round in 1...runner.rounds {
            // Each round begins with another peer: the next one profits from what a peer leaves, such as warm memory.
            let first = (round - 1) % peers.count
            for peer in peers[first...] + peers[..<first] {
                let output = runner.output + ".mp4"
                runner.remove(output)
                let command = peer.command(source, output: output, in: runner)
                let title = "\(name), \(peer.rawValue), \(round) of \(runner.rounds)"
                rounds.add(peer.rawValue, try await runner.measure(title, command))
                if peer == .reel { facts = try JobFacts(runner.standardOutput) }
            }
            if let seconds {
                rounds.add(
                    PeerSection.halves,
                    try await runner.measure("halves", Peer.halves(source, seconds: seconds, in: runner)))
            }
        }
        guard let facts else { throw Trouble("reel was not among the peers") }
        return (section(rounds, facts), rounds, facts)
    }

    private func section(_ rounds: Rounds, _ facts: JobFacts) -> Section {
        var section = Section(name)
        section.table(
            [
                "", "wall", "CPU", "largest process", "all processes", "read", "written", "reel's wall ÷ this",
                "reel's CPU ÷ this",
            ],
            rounds.names.map { peer in
                func bytes(_ value: (Measurement) -> Int) -> String {
                    megabytes(rounds.median(peer) { Double(value($0)) })
                }
                return [
                    peer, duration(rounds.median(peer, \.wall)), duration(rounds.median(peer, \.cpu)),
                    bytes(\.peakRSS), bytes(\.peakSum), bytes(\.read), bytes(\.written),
                    figure(rounds.ratio(Peer.reel.rawValue, to: peer, \.wall)),
                    figure(rounds.ratio(Peer.reel.rawValue, to: peer, \.cpu)),
                ]
            })
        section.say(
            "reel: \(facts.passes) passes, \(facts.framesDecoded) of \(facts.frames) frames decoded, a pass needs at most "
                + "\(megabytes(Double(facts.need))) by the plan and took \(megabytes(Double(facts.peakRSS))).")
        let bars = { (value: (Measurement) -> Double) in rounds.names.map { ($0, rounds.median($0, value)) } }
        let file = name.replacing(" ", with: "-")
        section.show("\(file)-wall.svg", Chart.bars("\(name): wall, s", bars(\.wall), format: "%.1f"))
        section.show("\(file)-cpu.svg", Chart.bars("\(name): CPU, s", bars(\.cpu), format: "%.1f"))
        section.show(
            "\(file)-memory.svg",
            Chart.bars("\(name): all processes, MiB", bars { Double($0.peakSum) / 1_048_576 }, format: "%.0f"))
        return section
    }
}

/// What `run --json` tells of a job.
struct JobFacts: Decodable, Sendable {
    let frames: Int
    let framesDecoded: Int
    let passes: Int
    let need: Int
    let peakRSS: Int

    /// Takes them from the last line that has them.
    init(_ output: String) throws {
        guard let line = output.split(separator: "\n").last else { throw Trouble("reel said nothing of its job") }
        self = try JSONDecoder().decode(JobFacts.self, from: Data(line.utf8))
    }
}
