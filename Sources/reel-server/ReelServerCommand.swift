internal import ArgumentParser
internal import Foundation
internal import Logging
internal import ReelCore
internal import ReelEngine
internal import ReelHost
internal import ReelJobs
internal import ReelQueue
internal import ReelServer
internal import ReelStore
internal import ReelTerminal

/// Messages to the user; the log is separate.
let console = Console(name: "reel-server") { reason in
    switch reason {
    case .secretFileUnusable(let path, ENOENT): "reel-server token NAME --role admin --tokens \(path) makes it"
    case .redisUnusable: "start redis-server there, or name another with --redis or REEL_REDIS"
    default: Console.usualAdvice(for: reason)
    }
}

@main
struct ReelServerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reel-server", abstract: "Serves jobs over HTTP, to programs and to people.",
        version: Release.version, subcommands: [ServeCommand.self, TokenCommand.self],
        defaultSubcommand: ServeCommand.self)

    static func main() async {
        OwnProcess.prepare()
        await console.run(self)
    }
}

struct TokenCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token", abstract: "Make a token, and print it once.",
        discussion: HelpText.text(
            """
            The file keeps a salted hash of the token. A server that runs takes it from the next second on. To take a token \
            back, remove its line.
            """,
            HelpText.examples("reel-server token phone-app --role operator --tokens /etc/reel/tokens")))

    @Argument(help: "Who it is for; the audit log calls its bearer so.") var name: String

    @Option(
        help: ArgumentHelp(
            "What its bearer may do: viewer, operator (also submits, changes and downloads) or admin (also removes and drains).",
            valueName: "role"))
    var role: Role

    @Option(
        help: ArgumentHelp("The file to add it to; it is made if it is missing.", valueName: "file"),
        completion: .file())
    var tokens: String

    func validate() throws {
        guard Submission.isText(name) else {
            throw ValidationError("NAME has 1 to 100 characters without line breaks or tabs")
        }
    }

    func run() async throws { console.result(try TokenFile(path: tokens).add(name, role)) }
}

extension Role: ExpressibleByArgument {}
