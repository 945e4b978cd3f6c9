internal import ArgumentParser
internal import ReelCore
internal import ReelJobs
internal import ReelTerminal

/// The hosts or workers that a command changes.
struct WorkerArguments: ParsableArguments {
    @Argument(help: "Names of hosts, or ids of workers.", completion: .workers)
    var names: [String]

    @OptionGroup var redis: RedisOption

    @Flag(help: "Print each host or worker with what became of it, as a line of JSON.")
    var json = false

    /// Changes each, and prints the outcome. Reports each failure, and throws the first after all were tried.
    ///
    /// - Parameter change: returns the outcome in words and for JSON.
    func each(
        _ change: (JobService, String) async throws(ReelFailure) -> (words: String, view: WorkerChangeView)
    ) async throws {
        let service = try await redis.service()
        var failures = Failures()
        for name in names {
            do throws(ReelFailure) {
                let (words, view) = try await change(service, name)
                console.say(words)
                if json { console.json(view) }
            } catch {
                failures.note(error)
            }
        }
        try failures.end()
    }
}
