internal import ArgumentParser
internal import ReelCore
internal import ReelJobs
internal import ReelQueue
internal import ReelTerminal

struct DrainCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "drain", abstract: "Have workers claim no more: they finish what they hold, and end.")

    @Argument(help: "A worker's id, or a host's name for all of its workers.", completion: .workers)
    var worker: String

    @OptionGroup var redis: RedisOption

    func run() async throws {
        for worker in try await redis.service().drain(worker) { console.say("worker \(worker) drains") }
    }
}
