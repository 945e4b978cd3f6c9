internal import Foundation

/// Sources of which every packet is a whole frame: their packets are put in another order.
struct CopySection {
    let workshop: Workshop
    let sources: [(name: String, file: String)]

    func run() async throws -> Section {
        var section = Section("Packets as they are")
        var goal = Goal(name: "intra-only reorder ÷ `cp`, in time", aim: .atMost(2), found: [])
        var rows: [[String]] = []
        for (name, source) in sources {
            try await workshop.warm(source)
            var rounds = Rounds()
            let output = workshop.output + ".mov"
            for round in 0...workshop.rounds {
                // What came before does not count: who first takes memory that was never used pays several times for it.
                if round == 1 { rounds = Rounds() }
                workshop.remove(output)
                rounds.add(
                    "reel",
                    try await workshop.measure(
                        "\(name), copied", [workshop.coordinator, "run", source, "-o", output, "--video-codec", "copy"])
                )
                try await workshop.addCopies(of: source, to: &rounds)
                try await workshop.addVerifiedCopy(of: source, to: &rounds)
            }
            rows += rounds.names.map {
                [
                    "\(name), \($0)", duration(rounds.median($0, \.wall)), duration(rounds.median($0, \.cpu)),
                    megabytes(rounds.median($0) { Double($0.read) }),
                    megabytes(rounds.median($0) { Double($0.written) }),
                ]
            }
            goal.found += [
                (name, rounds.ratio("reel", to: Workshop.copy, \.wall)),
                ("\(name), `cp` with `sync`", rounds.ratio("reel", to: Workshop.syncedCopy, \.wall)),
            ]
            let floor = rounds.ratio(Workshop.verifiedCopy, to: Workshop.copy, \.wall)
            goal.addFloor("\(figure(floor)) (\(name), \(Workshop.verifiedCopy))")
        }
        section.table(["", "wall", "CPU", "read", "written"], rows)
        section.goals = [goal]
        return section
    }
}
