internal import ArgumentParser
internal import Foundation
internal import ReelCore
internal import ReelHost
internal import ReelJobs
internal import ReelTerminal
internal import Subprocess
internal import SystemPackage

struct UICommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ui", abstract: "Open the pages in a browser, with nothing else running.",
        discussion: HelpText.text(
            """
            It starts a Redis, a worker and a server for this machine alone, until Ctrl-C. The jobs stay in the folder, and \
            unfinished ones go on with the next start. Everyone with an account on this machine can use the pages meanwhile.
            """,
            HelpText.examples("reel-coordinator ui", "reel-coordinator ui ~/reversed --sources ~/Videos"),
            HelpText.environment([.sandbox, .configuration, .temporary] + HelpText.Variable.ofNetwork),
            HelpText.exitCodes))

    @Argument(
        help: ArgumentHelp(
            "Where jobs are kept; it is made if it is missing. Default: ~/.local/share/reel, or below XDG_DATA_HOME."),
        completion: .directory)
    var folder: String?

    @Option(
        name: .customLong("sources"),
        help: ArgumentHelp(
            "Let jobs be made of files in this folder, besides files that the browser sends. May be repeated.",
            valueName: "dir"), completion: .directory)
    var sources: [String] = []

    /// The letters of "reel" on the keys of a telephone.
    @Option(help: "The port of this machine at which the pages are; 0 for any that is free.") var port = 7335

    @Flag(help: "Do not open a browser.") var noBrowser = false

    @OptionGroup(title: HelpText.Section.work.rawValue) var sandbox: SandboxOption
    @OptionGroup(title: HelpText.Section.work.rawValue) var slots: SlotOptions

    func validate() throws {
        guard (0...65_535).contains(port) else { throw ValidationError("--port must be 0 to 65535") }
    }

    func run() async throws {
        let folder = try folder ?? UICommand.usualFolder()
        if let warning = slots.warning { console.say("warning: \(warning)") }
        let server = try LocalServer(
            folder: folder, programs: try Programs(), slots: slots.count, memoryTotal: slots.memory,
            sandbox: sandbox.mode)
        do throws(ReelFailure) {
            try await Interruption.cancelling {
                try await server.serve(port: port, sources: sources) { address in
                    console.say("the pages are at \(address), the jobs in \(folder); Ctrl-C ends it")
                    if !noBrowser { UICommand.open(address) }
                }
            }
        } catch {
            guard case .interrupted = error.reason else { throw error }
        }
    }

    /// Where programs keep a user's data (XDG Base Directory Specification), made if it is missing.
    private static func usualFolder() throws(ReelFailure) -> String {
        let environment = ProcessInfo.processInfo.environment
        let data = environment["XDG_DATA_HOME"] ?? NSHomeDirectory() + "/.local/share"
        do {
            try FileManager.default.createDirectory(atPath: data, withIntermediateDirectories: true)
        } catch {
            throw ReelFailure(.folderUnwritable(path: data, errno: nil))
        }
        return data + "/reel"
    }

    /// Opens a browser where there is a screen.
    private static func open(_ address: String) {
        let environment = ProcessInfo.processInfo.environment
        guard environment["DISPLAY"] ?? environment["WAYLAND_DISPLAY"] != nil,
            let opener = Programs.installed("xdg-open")
        else { return }
        Task {
            _ = try? await Subprocess.run(
                .path(.init(opener)), arguments: [address], input: .none, output: .discarded, error: .discarded)
        }
    }
}
