import ArgumentParser
internal import Foundation
import ReelJobs
internal import ReelTerminal

extension JobFilter.State: ExpressibleByArgument {}

/// The options that choose jobs of the board.
struct FilterOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Only jobs in this state; several times for several.", valueName: "state"))
    var state: [JobFilter.State] = []

    @Option(help: ArgumentHelp("Only jobs with this label; several times for all of several.", valueName: "name=value"))
    var label: [String] = []

    @Option(
        help: ArgumentHelp(
            "Only jobs submitted since then: 2h, 3d, 2026-11-26 or 2026-11-26T18:30.", valueName: "time"))
    var since: String?

    @Option(help: ArgumentHelp("The most jobs: those submitted last.", valueName: "number"))
    var limit: Int?

    func validate() throws {
        _ = try LabelOption.labels(label)
        if let since, Moment(since, now: 0) == nil {
            throw ValidationError(
                "--since takes a span as 2h or 3d, a day as 2026-11-26, or a time as 2026-11-26T18:30; it is \(since)")
        }
        if let limit, limit < 1 { throw ValidationError("--limit must be 1 or more") }
    }

    /// The filter as of now.
    var filter: JobFilter {
        JobFilter(
            states: Set(state), labels: (try? LabelOption.labels(label)) ?? [:],
            since: since.flatMap { Moment($0, now: Date().timeIntervalSince1970)?.seconds }, limit: limit)
    }
}
