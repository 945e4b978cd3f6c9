internal import ArgumentParser
internal import ReelCore
internal import ReelPipeline
internal import ReelStore

/// Jobs that something is done to.
struct JobArguments: ParsableArguments {
    @Argument(help: "Ids of jobs.")
    var jobs: [String]

    @OptionGroup var redis: RedisOption
    @OptionGroup var store: StoreOption

    /// Does it to each, and says of each what became of it. Throws the first failure after all were tried.
    func each(_ act: (JobControl, JobID) async throws(ReelFailure) -> String) async throws(ReelFailure) {
        let store = try store.open()
        let control = JobControl(board: try await redis.connect(), store: store)
        var failures: [ReelFailure] = []
        for job in jobs.map(JobID.init) {
            do throws(ReelFailure) {
                Console.say(try await act(control, job))
            } catch {
                // The first is said at the program's end.
                if !failures.isEmpty { Console.say(error.message) }
                failures.append(error)
            }
        }
        if let failure = failures.first { throw failure }
    }
}
