internal import ArgumentParser
internal import ReelCore
internal import ReelJobs
internal import ReelTerminal

struct PauseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause",
        abstract: "Pause jobs: workers claim no more of their passes; passes in flight are finished.",
        discussion: HelpText.text(
            HelpText.examples("reel-coordinator pause @", "reel-coordinator pause --all"), HelpText.ofBoard))

    @OptionGroup var arguments: JobArguments

    func run() async throws {
        try await arguments.each(in: JobFilter.State.open) { service, job throws(ReelFailure) in
            try await service.pause(job)
        }
    }
}
