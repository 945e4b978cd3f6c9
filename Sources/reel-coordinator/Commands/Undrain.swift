internal import ArgumentParser
internal import ReelCore
internal import ReelJobs
internal import ReelQueue
internal import ReelTerminal

struct UndrainCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "undrain", abstract: "Let drained hosts or workers claim again.")

    @OptionGroup var arguments: WorkerArguments

    func run() async throws {
        try await arguments.each { service, name throws(ReelFailure) in
            switch try await service.undrain(name) {
            case .undrained(let host, .host): "the workers of host \(host) claim again"
            case .undrained(let worker, .worker): "worker \(worker) claims again"
            case .hostIsDrained(let worker, let host):
                "worker \(worker) claims nothing, since host \(host) is drained: reel-coordinator undrain \(host)"
            case .wasNotDrained(let name): "\(name) was not drained"
            }
        }
    }
}
