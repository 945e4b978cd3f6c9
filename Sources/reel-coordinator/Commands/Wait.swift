internal import ArgumentParser
internal import ReelCore
internal import ReelJobs
internal import ReelTerminal

struct WaitCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "wait", abstract: "Wait until jobs have ended.",
        discussion: HelpText.text(
            """
            Exit code 0 if all are done. The first that failed or was cancelled, or had not ended in time, decides \
            otherwise, after the others have been waited for.
            """,
            HelpText.examples(
                "reel-coordinator wait @",
                "reel-coordinator wait 3f2a 81c0 --timeout 3600"),
            HelpText.ofBoard))

    @Argument(help: JobArguments.help, completion: .jobs)
    var jobs: [String]

    @Option(help: ArgumentHelp("How long to wait for all of them together.", valueName: "seconds"))
    var timeout: Int64?

    @OptionGroup var endCommand: EndCommandOption
    @OptionGroup var redis: RedisOption
    @OptionGroup var store: StoreOption

    @Flag(help: "Print each job as it ended, as a line of JSON.")
    var json = false

    func validate() throws {
        try JobArguments.check(jobs)
        guard timeout ?? 0 >= 0 else { throw ValidationError("--timeout must not be negative") }
    }

    func run() async throws {
        let service = try await redis.service(store.openIfNamed(console))
        let clock = ContinuousClock()
        let deadline = timeout.map { clock.now + .seconds($0) }
        var first: ReelFailure?
        for name in jobs {
            var job: JobID?
            do throws(ReelFailure) {
                let id = try await service.job(named: name)
                job = id
                let rest = deadline.map { Int64(max(0, (($0 - clock.now) / .seconds(1)).rounded(.up))) }
                let notes = Notes()
                let view = try await Interruption.cancelling {
                    try await service.wait(for: id, seconds: rest) { view throws(ReelFailure) in
                        if let reason = view.waitReason { notes.say("job \(id) waits: \(reason)") }
                    }
                }
                console.say("job \(id) is done")
                if json { console.json(view) }
                await endCommand.tell(JobEnd(done: id, source: view.source, output: view.output))
            } catch {
                guard error.kind != .interrupted else { throw error }
                console.report(error, of: job)
                if let job, let view = try? await service.view(job), view.state.isTerminal {
                    await endCommand.tell(JobEnd(error, of: job, source: view.source, output: view.output))
                }
                first = first ?? error
            }
        }
        if let first { throw ReportedFailure(first) }
    }
}
