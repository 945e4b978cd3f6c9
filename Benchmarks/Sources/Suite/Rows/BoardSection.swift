internal import ReelCore
internal import ReelQueue

/// How fast jobs reach workers, and how fast the board's calls are; docs/reports/scale.md has more about calls.
struct BoardSection {
    let runner: SuiteRunner
    let source: String

    private static let workers = 1000

    func run() async throws -> Section {
        var section = Section("Board")
        let (submitted, planned) = try await PrivateBoard.with(runner) { board in
            try await board.withWorker(slots: 1) { try await firstClaims(board) }
        }
        let beyond = Rounds.median(zip(submitted, planned).map { ($0 - $1) * 1000 })
        let (calls, p99) = try await PrivateBoard.with(runner, core: 0) { board in
            runner.say("the board under \(BoardSection.workers) workers")
            let bench = BoardBench(
                address: try RedisAddress(board.url), probe: RedisProbe(url: board.url), jobs: 50, passes: 10_000,
                seconds: runner.isQuick ? 3 : 10)
            return try await runner.leavingFirstCore { try await bench.figures(workers: BoardSection.workers) }
        }
        section.say(
            "From starting `submit` until a worker that waits holds a pass: \(duration(Rounds.median(submitted))); `plan` of the "
                + "same source, which is recon and planning alone, took \(duration(Rounds.median(planned))).")
        section.say(
            "\(BoardSection.workers) workers that never pause made \(figure(calls, "%.0f")) calls a second; with passes of a "
                + "second each, one call in a hundred took longer than \(figure(p99, "%.1f")) ms. Redis has a core to itself, "
                + "as docs/reports/scale.md advises, and the workers have the rest.")
        section.goals = [
            Goal(
                name: "submit to first claim, beyond recon, ms", aim: .atMost(100), found: [("", beyond)],
                format: "%.0f"),
            Goal(
                name: "claims, beats and completes a second, \(BoardSection.workers) workers", aim: .atLeast(10_000),
                found: [("", calls)], format: "%.0f"),
            Goal(
                name: "p99 of a call, \(BoardSection.workers) workers with passes of a second, ms", aim: .atMost(50),
                found: [("", p99)], format: "%.1f"),
        ]
        return section
    }

    /// Seconds until a worker held a pass, and those of `plan`, alternately.
    private func firstClaims(_ board: PrivateBoard) async throws -> ([Double], [Double]) {
        let reader = try board.board()
        var (submitted, planned): ([Double], [Double]) = ([], [])
        for round in 0..<max(5, runner.rounds) {
            planned.append(try await runner.measure("plan", [runner.coordinator, "plan", source, "--json"]).wall)
            let began = ContinuousClock.now
            // Another quality makes another job.
            async let job = runner.text(
                board.submission(source, ["--crf", "\(20 + round)", "--preset", Peer.preset]))
            while try await reader.latestJobs(ended: 50).jobs.allSatisfy({
                $0.passes.live == 0 || $0.state == .cancelled
            }) {
                try await Task.sleep(for: .milliseconds(1))
            }
            submitted.append((ContinuousClock.now - began) / .seconds(1))
            guard let id = try await job.split(separator: "\n").first else { throw Trouble("submit printed no job") }
            _ = try await runner.text([runner.coordinator, "cancel", String(id)] + board.place)
            while try await reader.latestJobs(ended: 50).jobs.contains(where: { $0.passes.live > 0 }) {
                try await Task.sleep(for: .milliseconds(20))
            }
        }
        return (submitted, planned)
    }
}
