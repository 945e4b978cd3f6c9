/// Recon of a long file with a sample table, beside demuxing all of it.
struct ReconSection {
    let workshop: Workshop
    /// Ten hours at 60 frames a second unless the suite is quick.
    let source: String

    func run() async throws -> Section {
        let size = Double(try workshop.size(source))
        try await workshop.warm(source)
        var rounds = Rounds()
        for _ in 1...workshop.rounds {
            rounds.add("reel", try await workshop.measure("recon", [workshop.coordinator, "plan", source, "--json"]))
            rounds.add(
                "ffmpeg",
                try await workshop.measure(
                    "demuxing", ["ffmpeg", "-v", "error", "-nostdin", "-i", source, "-c", "copy", "-f", "null", "-"]))
        }
        var section = Section("Recon")
        section.say(
            "`reel-coordinator plan` of an MP4 of \(megabytes(size)), beside `ffmpeg -c copy -f null -`, which reads all of it."
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
                found: [("", rounds.median("reel") { Double($0.read) / size })], format: "%.4f"),
            Goal(
                name: "recon of an MP4: time ÷ `ffmpeg -c copy -f null -`", aim: .atMost(0.3),
                found: [("", rounds.ratio("reel", to: "ffmpeg", \.wall))]),
        ]
        return section
    }
}
