/// What a second slot gains on this machine.
struct SlotsSection {
    let workshop: Workshop
    let name: String
    let source: String
    /// How much of it is taken.
    let seconds: Int

    func run() async throws -> Section {
        var rounds = Rounds()
        var passes: Set<Int> = []
        for _ in 1...workshop.rounds {
            for slots in [1, 2] {
                let output = workshop.output + ".mp4"
                workshop.remove(output)
                let command = Peer.reel.command(source, output: output, in: workshop)
                rounds.add(
                    "reel, \(slots)",
                    try await workshop.measure(
                        "\(slots) slots",
                        command + ["--to", "\(seconds)", "--slots", "\(slots)", "--pass-frames", "120"]))
                passes.insert(try JobFacts(workshop.standardOutput).passes)
            }
            let (one, two) = (forwards(1), forwards(2))
            rounds.add("ffmpeg, 1", try await workshop.measure("one ffmpeg after the other", one))
            rounds.add("ffmpeg, 2", try await workshop.measure("two ffmpegs at once", two))
        }
        guard passes.count == 1 else { throw Trouble("the plans differ: \(passes) passes") }
        var section = Section("A second slot")
        section.say(
            "The same passes of \(seconds) s of \(name), the whole job with recon and assembly; beside it what this "
                + "machine's second core gains at the most: two halves of that forwards by two one-threaded ffmpegs, one "
                + "after the other or at once.")
        section.table(
            ["", "wall", "CPU"],
            rounds.names.map {
                [$0, duration(rounds.median($0, \.wall)), duration(rounds.median($0, \.cpu))]
            })
        section.goals = [
            Goal(
                name: "two slots ÷ one slot, same passes", aim: .atLeast(1.9),
                found: [("", rounds.ratio("reel, 1", to: "reel, 2", \.wall))],
                floor: figure(rounds.ratio("ffmpeg, 1", to: "ffmpeg, 2", \.wall)) + " by two ffmpegs"),
            // Cores that share a memory, or a core that two slots share, make the same work dearer at once.
            Goal(
                name: "CPU of the whole job with one slot ÷ one-threaded forward `ffmpeg`", aim: .atMost(1.06),
                found: [("", rounds.ratio("reel, 1", to: "ffmpeg, 1", \.cpu))]),
        ]
        return section
    }

    private func forwards(_ atOnce: Int) -> [String] {
        let command = Peer.halves(source, seconds: Double(seconds), in: workshop)
        return command.dropLast() + [atOnce == 2 ? command[2] : command[2].replacing(" & ", with: "; ")]
    }
}
