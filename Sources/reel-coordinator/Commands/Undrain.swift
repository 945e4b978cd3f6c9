internal import ArgumentParser
internal import ReelCore
internal import ReelJobs
internal import ReelQueue
internal import ReelTerminal

struct UndrainCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "undrain", abstract: "Let drained hosts or workers claim again.",
        discussion: HelpText.text(HelpText.examples("reel-coordinator undrain node-3"), HelpText.ofBoard))

    @OptionGroup var arguments: WorkerArguments

    func run() async throws {
        try await arguments.each { service, name throws(ReelFailure) in
            let outcome = try await service.undrain(name)
            let words =
                switch outcome {
                case .undrained(let host, .host, let left) where !left.isEmpty:
                    "host \(host) is drained no more; still drained: \(left.map(\.text).joined(separator: ", "))"
                case .undrained(let host, .host, _): "the workers of host \(host) claim again"
                case .undrained(let worker, .worker, _): "worker \(worker) claims again"
                case .hostIsDrained(let worker, let host):
                    "worker \(worker) claims nothing, since host \(host) is drained: reel-coordinator undrain \(host)"
                case .wasNotDrained(let name): "\(name) was not drained"
                }
            return (words, WorkerChangeView(outcome))
        }
    }
}
