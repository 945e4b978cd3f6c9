internal import ArgumentParser

@main
struct ReelBench: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reel-bench", abstract: "Measures reel's board, and simulates what reel could do otherwise.",
        subcommands: [BoardCommand.self, StraggleCommand.self])
}
