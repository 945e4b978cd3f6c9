internal import ArgumentParser
internal import ReelCore
internal import ReelJobs
internal import ReelTerminal

struct CancelCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel", abstract: "End jobs; their engines are stopped within seconds.",
        discussion: HelpText.text(
            HelpText.examples("reel-coordinator cancel @", "reel-coordinator cancel --all --label project=trailer"),
            HelpText.ofBoard))

    @OptionGroup var arguments: JobArguments

    func run() async throws {
        try await arguments.each(in: JobFilter.State.open) { service, job throws(ReelFailure) in
            try await service.cancel(job)
        }
    }
}
