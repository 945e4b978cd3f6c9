/// Recon of files without a sample table, all of which must be read, beside plain reading.
struct SequentialReconSection {
    let runner: SuiteRunner
    /// The same film in containers of several kinds.
    let sources: [(name: String, file: String)]

    /// Further rates to throttle the disk to, in 10⁶ bytes a second: a fast hard disk's rate, and a SATA SSD's.
    private static let rates = [250, 550]

    func run() async throws -> Section {
        var section = Section("Recon of what has no table")
        section.say(
            "`reel-coordinator plan` beside `cp FILE /dev/null`, which recon cannot outrun, and beside "
                + "`ffmpeg -map 0 -c copy -f null -`, which parses the same; all from the disk, as fast as that is here. "
                + "A virtual machine's disk may be its host's memory, faster than what films are kept on. So the same again "
                + "with the disk held to a rate, by a control group of the kernel that all three are in: 250 MB/s (238 MiB) "
                + "as a fast hard disk has it, twice a network of 1 Gbit, and 550 MB/s (525 MiB) as a SATA SSD does.")
        var disks: [ThrottledDisk?] = [nil]
        defer { for disk in disks { disk?.end() } }
        do {
            for rate in SequentialReconSection.rates {
                disks.append(try ThrottledDisk(of: sources[0].file, rate: rate))
            }
        } catch {
            runner.say("no disk is held to a rate: \(error)")
            section.say("Here no disk could be held to a rate: \(error)")
        }
        var rows: [[String]] = []
        for disk in disks {
            let (goal, found) = try await measure(disk)
            section.goals.append(goal)
            rows += found
        }
        section.table(["", "wall", "CPU", "bytes read", "speed"], rows)
        return section
    }

    /// Measures all sources, from the disk as it is or throttled.
    private func measure(_ disk: ThrottledDisk?) async throws -> (goal: Goal, rows: [[String]]) {
        let held = disk.map { ", disk held to \($0.rate) MB/s" } ?? ""
        var goal = Goal(
            name: "recon without a table\(held): speed ÷ that of reading the file", aim: .atLeast(0.8), found: [])
        var rows: [[String]] = []
        for (name, file) in sources {
            let size = Double(try runner.size(file))
            var rounds = Rounds()
            // Each reader reuses the memory of the one before. The first would get fresh memory, which costs a virtual
            // machine more than reading.
            try await runner.warm(file)
            for _ in 1...runner.rounds {
                for (reader, command) in [
                    ("reel", [runner.coordinator, "plan", file, "--json"]), ("`cp`", ["cp", file, "/dev/null"]),
                    ("`ffmpeg`", ReconSection.peer(file)),
                ] {
                    try await runner.cool(file)
                    rounds.add(
                        reader,
                        try await runner.measure("\(reader) reads \(name)\(held)", disk?.throttled(command) ?? command))
                }
            }
            for reader in rounds.names {
                let wall = rounds.median(reader, \.wall)
                rows.append([
                    "\(name), \(reader)\(held)", duration(wall), duration(rounds.median(reader, \.cpu)),
                    megabytes(rounds.median(reader) { Double($0.read) }), "\(megabytes(size / wall)) a second",
                ])
            }
            goal.found.append((name, 1 / rounds.ratio("reel", to: "`cp`", \.wall)))
            goal.addFloor("\(figure(1 / rounds.ratio("`ffmpeg`", to: "`cp`", \.wall))) \(name), `ffmpeg`")
        }
        return (goal, rows)
    }
}
