internal import ArgumentParser
internal import ReelCore
internal import ReelJobs
internal import ReelTerminal
internal import ReelWords

/// The jobs that a command changes.
struct JobArguments: ParsableArguments {
    /// How a job is named in arguments.
    static let help: ArgumentHelp = "Ids of jobs, or the beginnings of ids; @ for the job that was submitted last."

    @Argument(help: JobArguments.help, completion: .jobs)
    var jobs: [String] = []

    @Flag(help: "All jobs of the board to which the command applies, or those of them that the options below choose.")
    var all = false

    @OptionGroup var filter: FilterOptions
    @OptionGroup var redis: RedisOption
    @OptionGroup var store: StoreOption

    func validate() throws {
        guard jobs.isEmpty == all else {
            throw ValidationError(all ? "name jobs or use --all, not both" : "name the jobs, or use --all")
        }
        guard all || filter.filter.isOpen else {
            throw ValidationError("--state, --label, --since and --limit choose among all jobs: use --all")
        }
    }

    /// Changes each job, and prints the outcome. Throws the first failure after all were tried.
    ///
    /// - Parameter states: the states of the jobs to which the command applies.
    func each(
        in states: Set<JobFilter.State>,
        _ change: (JobService, JobID) async throws(ReelFailure) -> JobService.ControlOutcome
    ) async throws(ReelFailure) {
        let service = try await redis.service(joining: store.open())
        var failures = Failures()
        for name in all ? try await chosen(in: states, service) : jobs {
            await failures.attempt { () throws(ReelFailure) in
                let job = try await service.job(named: name)
                console.say(JobArguments.words(try await change(service, job), job))
            }
        }
        try failures.end()
    }

    /// The ids of the jobs that --all means; says how many there are.
    private func chosen(
        in states: Set<JobFilter.State>, _ service: JobService
    ) async throws(ReelFailure) -> [String] {
        var filter = filter.filter
        filter.states = filter.states.isEmpty ? states : filter.states.intersection(states)
        let ids = filter.states.isEmpty ? [] : try await service.ids(filter)
        console.say(ids.isEmpty ? "no job matches" : "\(ids.count) \(ids.count == 1 ? "job matches" : "jobs match")")
        return ids.map(\.text)
    }

    private static func words(_ outcome: JobService.ControlOutcome, _ job: JobID) -> String {
        switch outcome {
        case .cancelled: "cancelled job \(job)"
        case .hadEnded(let state): "job \(job) had ended already: it is \(state.rawValue)"
        case .paused: "paused job \(job); passes in flight are finished"
        case .resumed: "job \(job) goes on"
        case .weighed: "job \(job) has the new weight"
        case .retried: "job \(job) runs again; finished passes are kept"
        case .removed: "removed job \(job)"
        }
    }
}
