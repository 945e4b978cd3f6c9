internal import ArgumentParser
internal import ReelCore
internal import ReelJobs
internal import ReelTerminal

struct RemoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Remove jobs that have ended, and all that the store has of them.",
        discussion: HelpText.text(
            "Their results in the store are removed, too; fetched copies are kept.",
            HelpText.examples(
                "reel-coordinator remove 3f2a",
                "reel-coordinator remove --all --state done --label project=trailer"),
            HelpText.ofBoard))

    @OptionGroup var arguments: JobArguments

    func run() async throws {
        try await arguments.each(in: JobFilter.State.ended) { service, job throws(ReelFailure) in
            try await service.remove(job)
        }
    }
}
