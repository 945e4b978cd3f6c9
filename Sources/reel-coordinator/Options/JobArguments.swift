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

    @Flag(help: "Print each job with what became of it, as a line of JSON.")
    var json = false

    func validate() throws {
        try JobArguments.check(jobs)
        guard jobs.isEmpty == all else {
            throw ValidationError(all ? "name jobs or use --all, not both" : "name the jobs, or use --all")
        }
        guard all || filter.filter.isOpen else {
            throw ValidationError("--state, --label, --since and --limit choose among all jobs: use --all")
        }
    }

    /// Throws `ValidationError` if a job's name is empty, as a variable of a script that is not set.
    static func check(_ names: [String]) throws {
        guard !names.contains("") else { throw ValidationError("a job's id is empty") }
    }

    /// Changes each job, and prints the outcome. Reports each failure, and throws the first after all were tried.
    ///
    /// - Parameter states: the states of the jobs to which the command applies.
    func each(
        in states: Set<JobFilter.State>,
        _ change: (JobService, JobID) async throws(ReelFailure) -> JobService.ControlOutcome
    ) async throws {
        let service = try await redis.service(joining: store.open())
        var failures = Failures()
        for name in all ? try await chosen(in: states, service) : jobs {
            var job: JobID?
            do throws(ReelFailure) {
                let id = try await service.job(named: name)
                job = id
                let outcome = try await change(service, id)
                console.say(JobArguments.words(outcome, id))
                if json { console.json(JobChangeView(id, outcome)) }
            } catch {
                failures.note(error, of: job)
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
        case .weighed(let weight): "job \(job) has weight \(Figures.number(weight)) from its next pass on"
        case .retried: "job \(job) runs again; finished passes are kept"
        case .removed: "removed job \(job)"
        }
    }
}
