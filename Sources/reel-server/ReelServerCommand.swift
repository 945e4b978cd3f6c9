internal import ArgumentParser
internal import Foundation
internal import Logging
internal import ReelCore
internal import ReelEngine
internal import ReelHost
internal import ReelJobs
internal import ReelQueue
internal import ReelServer
internal import ReelTerminal

/// Where this program writes messages to its user; its log is separate.
let console = Console(name: "reel-server") { reason in
    switch reason {
    case .storeMissing: "reel-coordinator init makes one"
    case .boardUnprepared: "reel-coordinator init --redis loads them, as a user that may"
    case .storeNotNamed, .storeNameEmpty: "name it with --store or REEL_STORE"
    case .namespaceInvalid: "REEL_NAMESPACE names it"
    case .sandboxIncomplete: "--sandbox try confines engines as far as the kernel can"
    case .secretFileUnusable(let path, ENOENT): "reel-server token NAME --role admin --tokens \(path) makes it"
    case .addressUnusable: "choose another with --listen"
    case .redisUnusable: "start redis-server there, or name another with --redis or REEL_REDIS"
    default: nil
    }
}

@main
struct ReelServerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reel-server", abstract: "Serves jobs over HTTP, to programs and to people.",
        version: Release.version, subcommands: [ServeCommand.self, TokenCommand.self],
        defaultSubcommand: ServeCommand.self)

    static func main() async {
        OwnProcess.protect()
        OwnProcess.silenceDispatch()
        await console.run(self)
    }
}
