/// Recon of a long file with a sample table, beside demuxing all of it.
struct ReconSection {
    let runner: SuiteRunner
    /// Ten hours at 60 frames a second unless the suite is quick.
    let source: String

    private enum Place: String, CaseIterable {
        case disk, memory
    }

    private var commands: [(String, [String])] {
        [
            ("reel", [runner.coordinator, "plan", source, "--json"]),
            ("ffmpeg", ReconSection.peer(source)),
        ]
    }

    /// Demuxes all of a file and does nothing with it.
    static func peer(_ file: String) -> [String] {
        ["ffmpeg", "-v", "error", "-nostdin", "-i", file, "-map", "0", "-c", "copy", "-f", "null", "-"]
    }

    func run() async throws -> Section {
        let size = Double(try runner.size(source))
        var rounds = Rounds()
        for _ in 1...runner.rounds {
            for place in Place.allCases {
                for (name, command) in commands {
                    try await place == .disk ? runner.cool(source) : runner.warm(source)
                    rounds.add(
                        "\(name), from \(place.rawValue)",
                        try await runner.measure("\(name) from \(place.rawValue)", command))
                }
            }
        }
        var section = Section("Recon")
        section.say(
            "`reel-coordinator plan` of an MP4 of \(megabytes(size)), beside `ffmpeg -map 0 -c copy -f null -`, which reads "
                + "all of it: from the disk, as a file is met for the first time, and where all of it is in memory already."
        )
        section.table(
            ["", "wall", "CPU", "bytes read", "of the file", "largest process"],
            rounds.names.map { name in
                [
                    name, duration(rounds.median(name, \.wall)), duration(rounds.median(name, \.cpu)),
                    megabytes(rounds.median(name) { Double($0.read) }),
                    figure(rounds.median(name) { Double($0.read) / size }, "%.4f"),
                    megabytes(rounds.median(name) { Double($0.peakRSS) }),
                ]
            })
        section.goals = [
            Goal(
                name: "recon of an MP4: bytes read ÷ file", aim: .atMost(0.02),
                found: [("", rounds.median("reel, from memory") { Double($0.read) / size })], format: "%.4f"),
            Goal(
                name: "recon of an MP4: time ÷ `ffmpeg -c copy -f null -`", aim: .atMost(0.3),
                found: Place.allCases.map { place in
                    let ratio = rounds.ratio(
                        "reel, from \(place.rawValue)", to: "ffmpeg, from \(place.rawValue)", \.wall)
                    return ("from \(place.rawValue)", ratio)
                }),
        ]
        return section
    }
}
