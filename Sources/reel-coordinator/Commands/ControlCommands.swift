internal import ArgumentParser
internal import ReelCore
internal import ReelJobs
internal import ReelTerminal

struct CancelCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration.ofBoard(
        "cancel", "End jobs; their engines are stopped within seconds.",
        examples: "cancel @", "cancel --all --label project=trailer")

    @OptionGroup var arguments: JobArguments

    func run() async throws { try await arguments.each(in: JobFilter.State.open, JobService.cancel) }
}

struct RetryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration.ofBoard(
        "retry", "Have failed jobs run again.",
        text: "Finished passes stay so; attempts are counted anew, and excluded hosts may try again.",
        examples: "retry 3f2a", "retry --all --since 2h")

    @OptionGroup var arguments: JobArguments

    func run() async throws { try await arguments.each(in: [.failed], JobService.retry) }
}

struct PauseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration.ofBoard(
        "pause", "Pause jobs: workers claim no more of their passes; passes in flight are finished.",
        examples: "pause @", "pause --all")

    @OptionGroup var arguments: JobArguments

    func run() async throws { try await arguments.each(in: JobFilter.State.open, JobService.pause) }
}

struct ResumeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration.ofBoard(
        "resume", "Let paused jobs go on.", examples: "resume @", "resume --all")

    @OptionGroup var arguments: JobArguments

    func run() async throws { try await arguments.each(in: [.paused], JobService.resume) }
}

struct WeighCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration.ofBoard(
        "weigh", "Give jobs another share of the work beside other jobs.",
        text: "It counts from the next pass on that a worker claims.",
        examples: "weigh 3f2a --weight 3", "weigh --all --label project=trailer --weight 0.5")

    @OptionGroup var arguments: JobArguments
    @Option(help: "Share of the work beside other jobs: 3 gets three times as much as 1.") var weight: Double

    func validate() throws { try TermsOptions.check(weight: weight) }

    func run() async throws {
        try await arguments.each(in: JobFilter.State.open) { service in
            { job throws(ReelFailure) in try await service.weigh(job, weight) }
        }
    }
}

struct RemoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration.ofBoard(
        "remove", "Remove jobs that have ended, and all that the store has of them.",
        text: "Their results in the store are removed, too; fetched copies are kept.",
        examples: "remove 3f2a", "remove --all --state done --label project=trailer")

    @OptionGroup var arguments: JobArguments

    func run() async throws { try await arguments.each(in: JobFilter.State.ended, JobService.remove) }
}

extension CommandConfiguration {
    /// A command that uses a board and a store. Its help has the text, examples of its use, and what environment
    /// variables and exit codes mean.
    static func ofBoard(
        _ name: String, _ abstract: String, text: String? = nil, examples: String...
    ) -> CommandConfiguration {
        let parts = [text, HelpText.examples(examples.map { "reel-coordinator " + $0 }), HelpText.ofBoard]
        return CommandConfiguration(
            commandName: name, abstract: abstract, discussion: HelpText.text(parts.compactMap(\.self)))
    }
}

struct JobArguments: ParsableArguments {
    static let help: ArgumentHelp = "Ids of jobs, or the beginnings of ids; @ for the job that was submitted last."

    @Argument(help: JobArguments.help, completion: .jobs) var jobs: [String] = []

    @Flag(help: "All jobs of the board to which the command applies, or those of them that the options below choose.")
    var all = false

    @OptionGroup var filter: FilterOptions
    @OptionGroup var redis: RedisOption
    @OptionGroup var store: StoreOption
    @Flag(help: "Print each job with what became of it, as a line of JSON.") var json = false

    func validate() throws {
        try JobArguments.check(jobs)
        guard jobs.isEmpty == all else {
            throw ValidationError(all ? "name jobs or use --all, not both" : "name the jobs, or use --all")
        }
        guard all || filter.filter.isOpen else {
            throw ValidationError("--state, --label, --since and --limit choose among all jobs: use --all")
        }
    }

    /// Throws `ValidationError` if a job's name is empty, such as an unset variable of a script.
    static func check(_ names: [String]) throws {
        guard !names.contains("") else { throw ValidationError("a job's id is empty") }
    }

    /// Changes each job, and prints the outcome. Reports each failure, and throws the first after all were tried.
    ///
    /// - Parameter states: the states of the jobs to which the command applies.
    func each(
        in states: Set<JobFilter.State>,
        _ change: (JobService) -> (JobID) async throws(ReelFailure) -> JobService.ControlOutcome
    ) async throws {
        let service = try await redis.service(joining: store.open(redis))
        var failures = Failures()
        for name in all ? try await chosen(in: states, service) : jobs {
            var job: JobID?
            do throws(ReelFailure) {
                let id = try await service.job(named: name)
                job = id
                let outcome = try await change(service)(id)
                console.say(JobArguments.words(outcome, id))
                if json { console.json(JobChangeView(id, outcome)) }
            } catch {
                failures.note(error, of: job)
            }
        }
        try failures.end()
    }

    /// The ids of the jobs that --all means. Prints how many they are.
    private func chosen(in states: Set<JobFilter.State>, _ service: JobService) async throws(ReelFailure) -> [String] {
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

/// What a change led to. docs/json.md documents it; names only ever get added.
struct JobChangeView: Encodable {
    var id: String
    var outcome: String
    /// How the job had ended, if it was too late to cancel it.
    var state: JobState?
    /// Its new share of the work, if that was changed.
    var weight: Double?
    /// The finished passes of a job that was put back on the board.
    var passesDone: Int?

    init(_ job: JobID, _ change: JobService.ControlOutcome) {
        id = job.text
        switch change {
        case .cancelled: outcome = "cancelled"
        case .hadEnded(let end): (outcome, state) = ("had-ended", end)
        case .paused: outcome = "paused"
        case .resumed: outcome = "resumed"
        case .weighed(let weight): (outcome, self.weight) = ("weighed", weight)
        case .retried: outcome = "retried"
        case .removed: outcome = "removed"
        }
    }

    /// A job on the board, after a recovery.
    ///
    /// - Parameter passesDone: nil if the board had it.
    init(onBoard job: JobID, passesDone: Int?) {
        (id, outcome) = (job.text, passesDone == nil ? "known" : "recovered")
        self.passesDone = passesDone
    }
}
