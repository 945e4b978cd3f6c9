internal import ArgumentParser
internal import ReelCore
internal import ReelPipeline

@main
struct ReelCoordinator: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reel-coordinator",
        abstract: "Reverses videos, frame by frame exact, on one machine or many.",
        subcommands: [
            RunCommand.self, SubmitCommand.self, PlanCommand.self, StatusCommand.self, QueueCommand.self,
            WorkersCommand.self, FetchCommand.self, VerifyCommand.self, CancelCommand.self, RetryCommand.self,
            PauseCommand.self,
            ResumeCommand.self, RemoveCommand.self, DrainCommand.self, RecoverCommand.self,
            InitCommand.self,
        ])

    static func main() async {
        do {
            try CommandArguments.check()
            var command = try parseAsRoot()
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
        } catch {
            Console.exit(self, with: error)
        }
    }
}
