internal import ArgumentParser
internal import ReelCore
internal import ReelJobs
internal import ReelTerminal

/// The hosts or workers that a command changes.
struct WorkerArguments: ParsableArguments {
    @Argument(help: "Names of hosts, or ids of workers.", completion: .workers)
    var names: [String]

    @OptionGroup var redis: RedisOption

    /// Changes each, and prints the outcome. Throws the first failure after all were tried.
    func each(_ change: (JobService, String) async throws(ReelFailure) -> String) async throws(ReelFailure) {
        let service = try await redis.service()
        var failures = Failures()
        for name in names {
            await failures.attempt { () throws(ReelFailure) in console.say(try await change(service, name)) }
        }
        try failures.end()
    }
}
