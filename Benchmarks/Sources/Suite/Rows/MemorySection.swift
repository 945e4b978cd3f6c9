/// Every kind of source, once: how much is decoded, and what it takes in memory.
struct MemorySection {
    let runner: SuiteRunner
    /// How many frames may be decoded for each that is shown; nil if there are too few groups to keep all slots busy, so
    /// that passes share their RAPs.
    let sources: [(source: SuiteSource, mostDecoded: Double?)]

    func run() async throws -> Section {
        var section = Section("Memory, and what is decoded")
        var memory = Goal(name: "peak memory of a slot ÷ the plan's need", aim: .atMost(1), found: [])
        var closed = Goal(name: "frames decoded ÷ frames, closed groups", aim: .atMost(1), found: [], format: "%.3f")
        var open = Goal(name: "frames decoded ÷ frames, open groups", aim: .atMost(1.03), found: [], format: "%.3f")
        var shared = Goal(
            name: "redundant decoding ÷ the job's CPU, where passes share a RAP", aim: .atMost(0.15), found: [])
        var rows: [[String]] = []
        for (source, most) in sources {
            let file = try await source.file(in: runner)
            let output = runner.output + ".mp4"
            runner.remove(output)
            let taken = try await runner.measure(source.name, Peer.reel.command(file, output: output, in: runner))
            let facts = try JobFacts(runner.standardOutput)
            let decoded = Double(facts.framesDecoded) / Double(facts.frames)
            memory.found.append((source.name, Double(facts.peakRSS) / Double(facts.need)))
            switch most {
            case 1: closed.found.append((source.name, decoded))
            case .some: open.found.append((source.name, decoded))
            case nil:
                let decoding = try await runner.measure(
                    "decoding",
                    ["ffmpeg", "-v", "error", "-nostdin", "-threads", "1", "-i", file, "-an", "-f", "null", "-"])
                shared.found.append((source.name, (decoded - 1) * decoding.cpu / taken.cpu))
            }
            rows.append([
                source.name, "\(facts.frames)", "\(facts.passes)", figure(decoded, "%.3f"),
                megabytes(Double(facts.need)),
                megabytes(Double(facts.peakRSS)), megabytes(Double(taken.peakSum)), duration(taken.wall),
                duration(taken.cpu),
            ])
        }
        section.table(
            [
                "", "frames", "passes", "decoded ÷ frames", "need of a pass", "a slot took", "all processes", "wall",
                "CPU",
            ], rows)
        section.goals = [memory, closed, open, shared].filter { !$0.found.isEmpty }
        return section
    }
}
