internal import ArgumentParser
internal import ReelCore
internal import ReelJobs
internal import ReelTerminal

struct RetryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry", abstract: "Have failed jobs run again.",
        discussion: HelpText.text(
            "Finished passes stay so; attempts are counted anew, and excluded hosts may try again.",
            HelpText.examples(
                "reel-coordinator retry 3f2a",
                "reel-coordinator retry --all --since 2h"),
            HelpText.ofBoard))

    @OptionGroup var arguments: JobArguments

    func run() async throws {
        try await arguments.each(in: [.failed]) { service, job throws(ReelFailure) in try await service.retry(job) }
    }
}
