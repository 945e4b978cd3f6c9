/// What a second slot gains on this machine.
struct SlotsSection {
    let runner: SuiteRunner
    let name: String
    let source: String
    /// How much of the source is used.
    let seconds: Int

    func run() async throws -> Section {
        var rounds = Rounds()
        var passes: Set<Int> = []
        for _ in 1...runner.rounds {
            for slots in [1, 2] {
                let output = runner.output + ".mp4"
                runner.remove(output)
                let command = Peer.reel.command(source, output: output, in: runner)
                rounds.add(
                    "reel, \(slots)",
                    try await runner.measure(
                        "\(slots) slots",
                        command + ["--to", "\(seconds)", "--slots", "\(slots)", "--pass-frames", "120"]))
                passes.insert(try JobFacts(runner.standardOutput).passes)
            }
            let (one, two) = (forwards(1), forwards(2))
            rounds.add("ffmpeg, 1", try await runner.measure("one ffmpeg after the other", one))
            rounds.add("ffmpeg, 2", try await runner.measure("two ffmpegs at once", two))
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
            // Slots that share memory or a core slow each other down.
            Goal(
                name: "CPU of the whole job with one slot ÷ one-threaded forward `ffmpeg`", aim: .atMost(1.06),
                found: [("", rounds.ratio("reel, 1", to: "ffmpeg, 1", \.cpu))]),
        ]
        return section
    }

    private func forwards(_ atOnce: Int) -> [String] {
        let command = Peer.halves(source, seconds: Double(seconds), in: runner)
        return command.dropLast() + [atOnce == 2 ? command[2] : command[2].replacing(" & ", with: "; ")]
    }
}
