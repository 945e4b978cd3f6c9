internal import ArgumentParser
internal import ReelCore
internal import ReelJobs
internal import ReelQueue
internal import ReelTerminal

/// The machines.
struct WorkersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "workers", abstract: "Show the workers: host, slots, what each does, last beat.")

    @OptionGroup var redis: RedisOption
    @OptionGroup var reading: ReadingOptions

    func run() async throws {
        try await reading.show(redis) { board throws(ReelFailure) in
            let views = try await board.workers().map(WorkerView.init)
            return Snapshot(json: views) { _ in WorkerText.lines(views) }
        }
    }
}
