internal import ArgumentParser
internal import ReelCore
internal import ReelJobs
internal import ReelStore
internal import ReelTerminal
internal import ReelWords

/// Jobs that something is done to.
struct JobArguments: ParsableArguments {
    @Argument(help: "Ids of jobs.")
    var jobs: [String]

    @OptionGroup var redis: RedisOption
    @OptionGroup var store: StoreOption

    /// Does it to each, and says of each what became of it. Throws the first failure after all were tried.
    func each(
        _ act: (JobControl, JobID) async throws(ReelFailure) -> JobControl.Outcome
    ) async throws(ReelFailure) {
        let store = try store.open()
        let board = try await redis.connect()
        try await store.join(board)
        let control = JobControl(board: board, store: store)
        var failures: [ReelFailure] = []
        for job in jobs.map(JobID.init) {
            do throws(ReelFailure) {
                console.say(JobArguments.words(try await act(control, job), job))
            } catch {
                // The first is said at the program's end.
                if !failures.isEmpty { console.say(error) }
                failures.append(error)
            }
        }
        if let failure = failures.first { throw failure }
    }

    private static func words(_ outcome: JobControl.Outcome, _ job: JobID) -> String {
        switch outcome {
        case .cancelled: "cancelled job \(job)"
        case .hadEnded(let state): "job \(job) had ended already: it is \(state.rawValue)"
        case .paused: "paused job \(job); what is in flight is finished"
        case .resumed: "job \(job) goes on"
        case .retried: "job \(job) runs again; what is finished stays so"
        case .removed: "removed job \(job)"
        }
    }
}
