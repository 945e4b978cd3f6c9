internal import ArgumentParser
internal import ReelCore
internal import ReelJobs
internal import ReelTerminal

/// Lets paused jobs go on.
struct ResumeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "resume", abstract: "Let paused jobs go on.")

    @OptionGroup var arguments: JobArguments

    func run() async throws {
        try await arguments.each { control, job throws(ReelFailure) in try await control.setPaused(job, false) }
    }
}
