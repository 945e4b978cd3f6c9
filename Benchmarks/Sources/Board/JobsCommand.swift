internal import ArgumentParser
internal import ReelCore
internal import ReelQueue

struct JobsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "jobs",
        abstract: "Puts many jobs of mixed sizes on a board, and prints tables of what claims, lists and figures take.",
        discussion: "Empties the Redis that it is given.")

    @Option(help: "Jobs on the board.")
    var jobs = 10_000

    @Option(help: ArgumentHelp("A Redis of its own.", valueName: "url"))
    var redis: String

    func validate() throws {
        guard jobs >= 2000 else { throw ValidationError("jobs must be 2000 or more, for 1000 are begun at once") }
    }

    func run() async throws {
        let bench = BoardBench(
            address: try RedisAddress(redis), probe: RedisProbe(url: redis), jobs: jobs, passes: 0, seconds: 0)
        try await bench.manyJobs()
    }
}
