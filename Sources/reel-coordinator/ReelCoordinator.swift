internal import ArgumentParser
internal import ReelCore
internal import ReelHost
internal import ReelTerminal

let console = Console(name: "reel-coordinator") { Advice.text(for: $0) }

@main
struct ReelCoordinator: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reel-coordinator", abstract: "Reverses videos, frame by frame exact, on one machine or many.",
        discussion: HelpText.text(
            HelpText.examples(
                "reel-coordinator run clip.mp4",
                "reel-coordinator submit clip.mp4 --wait",
                "reel-coordinator queue --watch"),
            HelpText.environment(HelpText.Variable.allCases), HelpText.exitCodes, HelpText.completions),
        version: Release.version,
        subcommands: [
            RunCommand.self, SubmitCommand.self, PlanCommand.self, StatusCommand.self, QueueCommand.self,
            WorkersCommand.self, WaitCommand.self, FetchCommand.self, VerifyCommand.self, CancelCommand.self,
            RetryCommand.self, PauseCommand.self, ResumeCommand.self, WeighCommand.self, RemoveCommand.self,
            DrainCommand.self, UndrainCommand.self, RecoverCommand.self, InitCommand.self,
        ])

    static func main() async {
        OwnProcess.prepare()
        await console.run(self)
    }
}
