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
    var jobs: [String]

    @OptionGroup var redis: RedisOption
    @OptionGroup var store: StoreOption

    /// Changes each job, and prints the outcome. Throws the first failure after all were tried.
    func each(
        _ change: (JobService, JobID) async throws(ReelFailure) -> JobService.ControlOutcome
    ) async throws(ReelFailure) {
        let service = try await redis.service(joining: store.open())
        var failures: [ReelFailure] = []
        for name in jobs {
            do throws(ReelFailure) {
                let job = try await service.job(named: name)
                console.say(JobArguments.words(try await change(service, job), job))
            } catch {
                // The first is printed when the program ends.
                if !failures.isEmpty { console.say(error) }
                failures.append(error)
            }
        }
        if let failure = failures.first { throw failure }
    }

    private static func words(_ outcome: JobService.ControlOutcome, _ job: JobID) -> String {
        switch outcome {
        case .cancelled: "cancelled job \(job)"
        case .hadEnded(let state): "job \(job) had ended already: it is \(state.rawValue)"
        case .paused: "paused job \(job); passes in flight are finished"
        case .resumed: "job \(job) goes on"
        case .retried: "job \(job) runs again; finished passes are kept"
        case .removed: "removed job \(job)"
        }
    }
}
