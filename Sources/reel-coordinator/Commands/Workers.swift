internal import ArgumentParser
internal import ReelCore
internal import ReelJobs
internal import ReelTerminal

struct WorkersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "workers", abstract: "Show the workers: host, slots, what each does, last beat.",
        discussion: HelpText.text(
            HelpText.examples("reel-coordinator workers --watch", "reel-coordinator workers --check"),
            HelpText.ofBoard))

    @Flag(help: "End with exit code 4 if no worker takes work, after showing them.")
    var check = false

    @OptionGroup var redis: RedisOption
    @OptionGroup var reading: ReadingOptions

    func validate() throws {
        guard !check || !reading.watch else { throw ValidationError("--check looks once; leave out --watch") }
    }

    func run() async throws {
        try await reading.show(redis) { service throws(ReelFailure) in
            let views = try await service.workers()
            let drained = try await service.drainedHosts()
            return Snapshot(json: views) { WorkerText.lines(views, drainedHosts: drained, on: $0) }
        }
        if check { try await redis.service().checkWorkers() }
    }
}
