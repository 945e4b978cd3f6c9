internal import ArgumentParser

@main
struct ReelBench: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reel-bench",
        abstract: "Measures reel, its peers and its board, and simulates what reel could do otherwise.",
        subcommands: [
            SuiteCommand.self, MeasureCommand.self, FootageCommand.self, BoardCommand.self, JobsCommand.self,
            ServerCommand.self, StraggleCommand.self, AdmissionCommand.self, CurveCommand.self,
        ])
}
