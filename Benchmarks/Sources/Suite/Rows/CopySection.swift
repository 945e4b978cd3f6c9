internal import Foundation

/// Sources of which every packet is a whole frame: their packets are put in another order.
struct CopySection {
    let runner: SuiteRunner
    let sources: [(name: String, file: String)]

    func run() async throws -> Section {
        var section = Section("Packets as they are")
        var goal = Goal(name: "intra-only reorder ÷ `cp`, in time", aim: .atMost(2), found: [])
        var rows: [[String]] = []
        for (name, source) in sources {
            try await runner.warm(source)
            var rounds = Rounds()
            let output = runner.output + ".mov"
            for round in 0...runner.rounds {
                // The first round does not count: the first process to use fresh memory pays several times as much for it.
                if round == 1 { rounds = Rounds() }
                runner.remove(output)
                rounds.add(
                    "reel",
                    try await runner.measure(
                        "\(name), copied", [runner.coordinator, "run", source, "-o", output, "--video-codec", "copy"])
                )
                try await runner.addCopies(of: source, to: &rounds)
                try await runner.addVerifiedCopy(of: source, to: &rounds)
            }
            rows += rounds.names.map {
                [
                    "\(name), \($0)", duration(rounds.median($0, \.wall)), duration(rounds.median($0, \.cpu)),
                    megabytes(rounds.median($0) { Double($0.read) }),
                    megabytes(rounds.median($0) { Double($0.written) }),
                ]
            }
            goal.found += [
                (name, rounds.ratio("reel", to: SuiteRunner.copy, \.wall)),
                ("\(name), `cp` with `sync`", rounds.ratio("reel", to: SuiteRunner.syncedCopy, \.wall)),
            ]
            let floor = rounds.ratio(SuiteRunner.verifiedCopy, to: SuiteRunner.copy, \.wall)
            goal.addFloor("\(figure(floor)) (\(name), \(SuiteRunner.verifiedCopy))")
        }
        section.table(["", "wall", "CPU", "read", "written"], rows)
        section.goals = [goal]
        return section
    }
}
