internal import Foundation
internal import ReelCore
internal import ReelEngine

/// What the engine's sandbox costs: a reversal with it and without it, and the start of an engine.
struct SandboxSection {
    let runner: SuiteRunner
    let source: String

    private static let (without, with) = ("`--sandbox off`", "`--sandbox require`")
    /// How many engines are started with it, and as many without it.
    private static let starts = 50

    func run() async throws -> Section {
        var rounds = Rounds()
        for _ in 1...runner.rounds {
            for (name, mode) in [(Self.without, "off"), (Self.with, "require")] {
                try await runner.warm(source)
                rounds.add(
                    name,
                    try await runner.measure(
                        "run with sandbox \(mode)",
                        [
                            runner.coordinator, "run", source, "--sandbox", mode, "--preset", Peer.preset,
                            "--overwrite",
                            "-o", runner.output + ".mp4",
                        ]))
            }
        }
        let start = (try await startTimes(.off), try await startTimes(.require))
        var section = Section("The sandbox")
        section.say(
            "`reel-coordinator run` of the 720p source with engines confined and not, in turns, and the start of \(Self.starts) "
                + "engines each, until they are ready: median \(milliseconds(start.0)) without, \(milliseconds(start.1)) with."
        )
        section.table(
            ["", "wall", "CPU", "largest process"],
            rounds.names.map { name in
                [
                    name, duration(rounds.median(name, \.wall)), duration(rounds.median(name, \.cpu)),
                    megabytes(rounds.median(name) { Double($0.peakRSS) }),
                ]
            })
        func ratio(_ value: (Measurement) -> Double) -> Double {
            rounds.ratio(Self.with, to: Self.without, value)
        }
        section.goals = [
            Goal(
                name: "confined ÷ not confined", aim: .atMost(1.03),
                found: [("wall", ratio(\.wall)), ("CPU", ratio(\.cpu)), ("memory", ratio { Double($0.peakRSS) })]),
            Goal(
                name: "start of an engine, later by, ms", aim: .atMost(5), found: [("", 1000 * (start.1 - start.0))],
                format: "%.1f"),
        ]
        return section
    }

    /// The median time in seconds until an engine that may read the source is ready.
    private func startTimes(_ mode: SandboxMode) async throws -> Double {
        let host = EngineHost(executable: runner.programs + "/reel-engine", sandbox: mode)
        let scope = EngineScope(sources: [.file(source)], reads: [], folders: [.file(runner.folder)])
        var times: [Double] = []
        for _ in 0..<Self.starts {
            let began = ContinuousClock.now
            let ready = try await host.withEngine(memory: nil, scope: scope) { _ in ContinuousClock.now }
            times.append((ready - began) / .seconds(1))
        }
        return Rounds.median(times)
    }

    private func milliseconds(_ seconds: Double) -> String { figure(1000 * seconds, "%.1f") + " ms" }
}
