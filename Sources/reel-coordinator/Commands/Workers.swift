internal import ArgumentParser
internal import ReelCore
internal import ReelJobs
internal import ReelTerminal

struct WorkersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "workers", abstract: "Show the workers: host, slots, what each does, last beat.")

    @OptionGroup var redis: RedisOption
    @OptionGroup var reading: ReadingOptions

    func run() async throws {
        try await reading.show(redis) { service throws(ReelFailure) in
            let views = try await service.workers()
            let drained = try await service.drainedHosts()
            return Snapshot(json: views) { _ in WorkerText.lines(views, drainedHosts: drained) }
        }
    }
}
