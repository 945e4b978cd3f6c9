internal import ArgumentParser
internal import ReelCore
internal import ReelJobs
internal import ReelTerminal

struct RetryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry", abstract: "Have failed jobs run again.",
        discussion: "Finished passes stay so; attempts are counted anew, and excluded hosts may try again.")

    @OptionGroup var arguments: JobArguments

    func run() async throws {
        try await arguments.each(in: [.failed]) { service, job throws(ReelFailure) in try await service.retry(job) }
    }
}
