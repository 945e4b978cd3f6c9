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

    @Option(
        help: ArgumentHelp(
            "Only this part; several times for several parts. Any of \(SuitePart.names).", valueName: "part"))
    var only: [SuitePart] = []

    @Option(help: ArgumentHelp("Keeps the sources, and what is made meanwhile.", valueName: "folder"))
    var folder = NSTemporaryDirectory() + "/reel-benchmarks"

    @Option(help: ArgumentHelp("Where a whole run writes its results, between two marks.", valueName: "file"))
    var page: String?

    @Argument(help: "Videos of your own to compare with instead.")
    var files: [String] = []

    func validate() throws {
        guard rounds > 0 else { throw ValidationError("--rounds must be above 0") }
    }

    func run() async throws {
        let runner = try SuiteRunner(folder: folder, rounds: quick ? 1 : rounds, isQuick: quick)
        defer { runner.clear() }
        let began = ContinuousClock.now
        var page = SuitePage(heading: try await Machine.describe(runner))
        var isWhole = true
        if files.isEmpty {
            (page.sections, isWhole) = await Suite(
                runner: runner, parts: only.isEmpty ? SuitePart.allCases : only
            ).run()
        } else {
            for file in files {
                page.sections.append(
                    try await PeerSection(runner: runner, source: file, name: (file as NSString).lastPathComponent)
                        .run().0)
            }
        }
        runner.say(String(format: "that took %.0f minutes", (ContinuousClock.now - began) / .seconds(60)))
        if let path = self.page, files.isEmpty, only.isEmpty, !quick {
            try page.write(to: path)
        } else {
            // Without the pictures, which only a page shows.
            print(page.text.replacing(/!\[.*\n\n/, with: ""))
        }
        guard isWhole else { throw ExitCode.failure }
    }
}

/// Parts of the suite.
enum SuitePart: String, CaseIterable, Sendable, ExpressibleByArgument {
    case peers, memory, recon, assembly, copy, edits, sandbox, slots, bitrate, board, cluster, stores

    static let names = allCases.map(\.rawValue).joined(separator: ", ")
}
