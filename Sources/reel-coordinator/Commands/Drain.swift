internal import ArgumentParser
internal import ReelCore
internal import ReelJobs
internal import ReelQueue
internal import ReelTerminal

struct DrainCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "drain", abstract: "Give hosts or workers nothing more: they finish what they hold, and wait.",
        discussion: HelpText.text(
            """
            A host stays drained until undrain, also when its workers end and start again; a worker until it ends, since \
            its id changes with each start. reel-coordinator workers shows what is drained.
            """,
            HelpText.examples("reel-coordinator drain node-3"), HelpText.ofBoard))

    @OptionGroup var arguments: WorkerArguments

    func run() async throws {
        try await arguments.each { service, name throws(ReelFailure) in
            let outcome = try await service.drain(name)
            let words =
                switch outcome {
                case .drained(let host, .host, let workers):
                    "host \(host) is drained: its workers (\(workers)) finish what they hold, and claim nothing more until undrain"
                case .drained(let worker, .worker, _):
                    "worker \(worker) is drained: it finishes what it holds, and claims nothing more until it ends or undrain"
                case .gone(let worker): "worker \(worker) is gone: there is nothing to drain"
                }
            return (words, WorkerChangeView(outcome))
        }
    }
}
