internal import ArgumentParser
internal import ReelCore
internal import ReelJobs
internal import ReelQueue
internal import ReelStore
internal import ReelTerminal

struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show all jobs, or one job's passes, progress, warnings and failures.",
        discussion: """
            All jobs are those that have not ended and the latest 50 of the others. With a job's id and --watch it ends \
            when the job does; Ctrl-C before that exits with 130. Failures show times of the source and the engine's last \
            words where --store or REEL_STORE names the store.
            """)

    @Argument(help: "A job's id, or its beginning; @ for the job that was submitted last.", completion: .jobs)
    var job: String?

    @OptionGroup var redis: RedisOption
    @OptionGroup var store: StoreOption
    @OptionGroup var reading: ReadingOptions

    func run() async throws {
        let store = try store.openIfNamed()
        guard let name = job else {
            return try await reading.show(redis, store) { service throws(ReelFailure) in
                let list = try await service.jobs()
                return Snapshot(json: list.jobs) { JobText.lines(list.jobs, unreadable: list.unreadable, on: $0) }
            }
        }
        let job = try await redis.service(store).job(named: name)
        let isForPeople = !reading.json
        try await reading.show(redis, store, job: job) { service throws(ReelFailure) in
            let view = try await service.view(job)
            let strip = isForPeople ? try await service.strip(job, cells: console.canvas.columns) : nil
            return Snapshot(json: view, isFinal: view.state.isTerminal) { JobText.lines(view, strip: strip, on: $0) }
        }
    }
}
