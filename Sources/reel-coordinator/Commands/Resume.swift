internal import ArgumentParser
internal import ReelCore
internal import ReelJobs
internal import ReelTerminal

struct ResumeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume", abstract: "Let paused jobs go on.",
        discussion: HelpText.text(
            HelpText.examples("reel-coordinator resume @", "reel-coordinator resume --all"), HelpText.ofBoard))

    @OptionGroup var arguments: JobArguments

    func run() async throws {
        try await arguments.each(in: [.paused]) { service, job throws(ReelFailure) in try await service.resume(job) }
    }
}
