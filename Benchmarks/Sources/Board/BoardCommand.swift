internal import ArgumentParser
internal import Foundation
internal import ReelCore
internal import ReelQueue

struct BoardCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "board",
        abstract: "Lets simulated workers claim, beat and complete, and prints tables of how fast that went.",
        discussion: "Empties the Redis that it is given.")

    @Option(help: "Workers, each with a thread and a connection.")
    var workers = 1000

    @Option(help: "Jobs on the board.")
    var jobs = 100

    @Option(help: "Passes of each job.")
    var passes = 10_000

    @Option(help: "How long each run takes.")
    var seconds = 20

    @Option(help: ArgumentHelp("A Redis of its own.", valueName: "url"))
    var redis: String

    func validate() throws {
        guard workers > 0, jobs > 0, passes > 1, seconds > 0 else {
            throw ValidationError("workers, jobs, passes (two at least) and seconds must be above 0")
        }
    }

    func run() async throws {
        let bench = BoardBench(
            address: try RedisAddress(redis), probe: RedisProbe(url: redis), jobs: jobs, passes: passes,
            seconds: seconds)
        try await bench.firstClaim()
        try await bench.readings(workers: workers)
        try await bench.publish()
        var recorded = try await bench.costs()
        recorded += try await bench.rush([1, 10, 100].filter { $0 < workers } + [workers])
        recorded += try await bench.paced(workers: workers, passes: [10, 2, 1, 0.5, 0.3, 0.2])
        try await bench.check(recorded)
        try await bench.idle(workers: workers)
    }
}
