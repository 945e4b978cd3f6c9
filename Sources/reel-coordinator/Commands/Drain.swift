internal import ArgumentParser
internal import ReelCore
internal import ReelJobs
internal import ReelQueue
internal import ReelTerminal

/// Has workers claim no more.
struct DrainCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "drain", abstract: "Have workers claim no more: they finish what they hold, and end.")

    @Argument(help: "A worker's id, or a host's name for all of its workers.")
    var worker: String

    @OptionGroup var redis: RedisOption

    func run() async throws {
        let board = try await redis.connect()
        let named = try await board.workers().filter { [$0.report.worker.text, $0.report.host].contains(worker) }
        guard !named.isEmpty else {
            throw ReelFailure(.workerUnknown(name: worker))
        }
        for worker in named.map(\.report.worker) where try await board.drain(worker) {
            console.say("worker \(worker) drains")
        }
    }
}
