internal import ArgumentParser
internal import ReelCore
internal import ReelJobs
internal import ReelTerminal

/// Holds jobs back.
struct PauseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause", abstract: "Hold jobs back: no further pass is given out, what is in flight is finished.")

    @OptionGroup var arguments: JobArguments

    func run() async throws {
        try await arguments.each { control, job throws(ReelFailure) in try await control.setPaused(job, true) }
    }
}
