/// Recon of files without a sample table, all of which must be read, beside plain reading.
struct SequentialReconSection {
    let workshop: Workshop
    /// The same film in containers of several kinds.
    let sources: [(name: String, file: String)]

    func run() async throws -> Section {
        var section = Section("Recon of what has no table")
        section.say(
            "`reel-coordinator plan` beside `cp FILE /dev/null`, which recon cannot outrun, and beside "
                + "`ffmpeg -map 0 -c copy -f null -`, which parses the same; all from the disk, as fast as that is here."
        )
        var goal = Goal(name: "recon without a table: speed ÷ that of reading the file", aim: .atLeast(0.8), found: [])
        var rows: [[String]] = []
        for (name, file) in sources {
            let size = Double(try workshop.size(file))
            var rounds = Rounds()
            for _ in 1...workshop.rounds {
                for (reader, command) in [
                    ("reel", [workshop.coordinator, "plan", file, "--json"]), ("`cp`", ["cp", file, "/dev/null"]),
                    ("`ffmpeg`", ReconSection.peer(file)),
                ] {
                    try await workshop.cool(file)
                    rounds.add(reader, try await workshop.measure("\(reader) reads \(name)", command))
                }
            }
            for reader in rounds.names {
                let wall = rounds.median(reader, \.wall)
                rows.append([
                    "\(name), \(reader)", duration(wall), duration(rounds.median(reader, \.cpu)),
                    megabytes(rounds.median(reader) { Double($0.read) }), "\(megabytes(size / wall)) a second",
                ])
            }
            goal.found.append((name, 1 / rounds.ratio("reel", to: "`cp`", \.wall)))
            goal.addFloor("\(figure(1 / rounds.ratio("`ffmpeg`", to: "`cp`", \.wall))) \(name), `ffmpeg`")
        }
        section.table(["", "wall", "CPU", "bytes read", "speed"], rows)
        section.goals = [goal]
        return section
    }
}
