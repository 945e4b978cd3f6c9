internal import ArgumentParser
internal import Foundation
internal import ReelCore
internal import ReelJobs
internal import ReelQueue
internal import ReelStore
internal import ReelTerminal

struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show all jobs, or one job's passes, progress, warnings and failures.",
        discussion: HelpText.text(
            """
            All jobs are those that have not ended and the latest 50 of the others, or with --state, --label, --since or \
            --limit all of the board that these choose. With a job's id and --watch it ends when the job does, with the exit \
            code of wait; Ctrl-C before that exits with 130. Options of jobs, times of the source \
            and the last words of engines are shown where --store or REEL_STORE names the store.
            """,
            HelpText.examples(
                "reel-coordinator status", "reel-coordinator status @ --watch",
                "reel-coordinator status --state failed --since 1d --json"),
            HelpText.ofBoard))

    @Argument(help: "A job's id, or its beginning; @ for the job that was submitted last.", completion: .jobs)
    var job: String?

    @OptionGroup var filter: FilterOptions
    @OptionGroup var redis: RedisOption
    @OptionGroup var store: StoreOption
    @OptionGroup var reading: ReadingOptions

    func validate() throws {
        try JobArguments.check([job].compactMap(\.self))
        guard job == nil || filter.filter.isOpen else {
            throw ValidationError("--state, --label, --since and --limit choose among all jobs; leave out the job")
        }
    }

    func run() async throws {
        let store = try store.openIfNamed(console)
        let (filter, isChosen, isOnce, isForPeople) = (filter, !filter.filter.isOpen, !reading.watch, !reading.json)
        guard let name = job else {
            return try await reading.show(redis, store) { service throws(ReelFailure) in
                let list = try await service.jobs(filter.filter)
                if isOnce, !isForPeople, let more = JobText.more(list.others) { console.say(more) }
                // That reads every record of the store.
                let forgotten = isOnce && list.jobs.isEmpty ? try await service.forgottenJobs().count : 0
                let now = Date().timeIntervalSince1970
                return Snapshot(json: list.jobs, jobs: list.jobs) {
                    JobText.lines(
                        list.jobs, unreadable: list.unreadable, isChosen: isChosen, others: list.others,
                        forgotten: forgotten, at: now, as: $0, on: $1)
                }
            }
        }
        let job = try await redis.service(store).job(named: name)
        try await console.reporting(of: job) {
            try await reading.show(redis, store, job: job) { service throws(ReelFailure) in
                try await service.snapshot(of: job, isForPeople: isForPeople)
            }
        }
        guard reading.watch else { return }
        do throws(ReelFailure) {
            _ = try await redis.service(store).wait(for: job, seconds: nil)
        } catch {
            // The screen has said why.
            throw ReportedFailure(error)
        }
    }
}
