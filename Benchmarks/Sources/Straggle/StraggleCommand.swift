internal import ArgumentParser
internal import Foundation
internal import ReelQueue

struct StraggleCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "straggle",
        abstract: "Simulates what it gains to give out a job's last passes a second time, and prints a table.")

    @Option(help: "Runs of every row, each with other random numbers.")
    var seeds = 20

    private static let rules: [(name: String, rule: BackupRule)] = [
        ("runs for 2 ×", BackupRule(measure: .elapsed, factor: 2)),
        // The board's own.
        (
            "\(BoardPolicy.lag) × left, as reported",
            BackupRule(measure: .reportedPace, factor: Double(BoardPolicy.lag))
        ),
        ("2 × left, average pace", BackupRule(measure: .averagePace, factor: 2)),
        ("2 × left, recent pace", BackupRule(measure: .recentPace, factor: 2)),
        ("1.5 × left, recent pace", BackupRule(measure: .recentPace, factor: 1.5)),
        ("all foreseen", BackupRule(measure: .foreseen, factor: 1)),
    ]

    func validate() throws {
        guard seeds > 0 else { throw ValidationError("--seeds must be above 0") }
    }

    func run() throws {
        print("\nEach cell: percent of the makespan gained, percent of extra work; means of \(seeds) runs.\n")
        print("| machines | slots | jobs × passes | makespan |", terminator: "")
        for (name, _) in StraggleCommand.rules { print(" \(name) |", terminator: "") }
        print("\n| --- | ---: | ---: | ---: |" + StraggleCommand.rules.map { _ in " --- |" }.joined())
        for scenario in Scenario.all { print(row(scenario)) }
    }

    private func row(_ scenario: Scenario) -> String {
        let without = outcomes(scenario, nil)
        var cells = [
            scenario.fleet.rawValue + (scenario.hasAudio ? ", with sound" : ""), String(scenario.slots),
            "\(scenario.jobs) × \(scenario.passes)", String(format: "%.0f s", mean(without.map(\.makespan))),
        ]
        for (_, rule) in StraggleCommand.rules {
            let with = outcomes(scenario, rule)
            let gains = zip(without, with).map { 100 * (1 - $1.makespan / $0.makespan) }
            let extra = with.map { 100 * $0.extraWork }
            cells.append(String(format: "%.1f, %.1f", mean(gains), mean(extra)))
        }
        return "| " + cells.joined(separator: " | ") + " |"
    }

    private func outcomes(_ scenario: Scenario, _ rule: BackupRule?) -> [Simulation.Outcome] {
        (0..<seeds).map { scenario.outcome(rule: rule, seed: UInt64($0)) }
    }

    private func mean(_ values: [Double]) -> Double { values.reduce(0, +) / Double(values.count) }
}
