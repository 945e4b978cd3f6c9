internal import ArgumentParser
internal import Foundation

struct SuiteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "suite",
        abstract: "Makes sources, runs reel and its peers alternately, and prints medians and ratios.")

    @Option(help: "How often each command runs.")
    var rounds = 3

    @Flag(help: "Short sources, once each: a few minutes.")
    var quick = false

    @Option(help: ArgumentHelp("Keeps the sources, and what is made meanwhile.", valueName: "folder"))
    var folder = NSTemporaryDirectory() + "/reel-benchmarks"

    @Argument(help: "Videos of your own to compare with instead.")
    var files: [String] = []

    func run() async throws {
        let workshop = try Workshop(folder: folder, rounds: quick ? 1 : rounds, isQuick: quick)
        let sources = [
            SuiteSource(name: "720p-closed", seconds: quick ? 20 : 60, coding: .h264(groups: SuiteSource.closedGroups)),
            SuiteSource(
                name: "1080p-closed", width: 1920, height: 1080, rate: ("24000/1001", 24_000.0 / 1001),
                seconds: quick ? 12 : 60, coding: .h264(groups: SuiteSource.closedGroups)),
        ]
        for source in sources {
            let file = try await source.file(in: workshop)
            let (section, _, _) = try await PeerSection(workshop: workshop, source: file, name: source.name).run()
            print("## \(section.title)\n\n\(section.text)")
        }
    }
}
