internal import ArgumentParser
internal import Foundation
internal import ReelCore
package import ReelJobs
internal import ReelQueue
internal import ReelStore
internal import ReelTerminal

struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration.ofBoard(
        "status", "Show all jobs, or one job's passes, progress, warnings and failures.",
        text: """
            Without a job it lists the jobs that have not ended and the latest 50 of the others; --state, --label, --since \
            and --limit choose among all jobs of the board. With a job's id and --watch it ends when the job does, with the \
            exit code of wait; Ctrl-C before that exits with 130. Options of jobs, times of the source and the last words \
            of engines are shown if --store or REEL_STORE names the store.
            """, examples: "status", "status @ --watch", "status --state failed --since 1d --json")

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
        let store = try await store.openIfNamed(redis, console)
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
        do throws(ReelFailure) { _ = try await redis.service(store).wait(for: job, seconds: nil) } catch {
            // The screen has said why.
            throw ReportedFailure(error)
        }
    }
}

struct QueueCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration.ofBoard(
        "queue", "Show the queue: passes ready, in flight, retrying, exhausted, oldest wait, throughput, ETA.",
        text: "In all, and for each job that has not ended or failed; for a job that waits, why.",
        examples: "queue", "queue --watch", "queue --json | jq .ready")

    @OptionGroup var filter: FilterOptions
    @OptionGroup var redis: RedisOption
    @OptionGroup var store: StoreOption
    @OptionGroup var reading: ReadingOptions

    func validate() throws {
        guard Set(filter.state).isDisjoint(with: [.done, .cancelled]) else {
            throw ValidationError(
                "the queue has no jobs that are done or cancelled; reel-coordinator status shows them")
        }
    }

    func run() async throws {
        let isForPeople = !reading.json
        let filter = filter
        try await reading.show(redis, store.openIfNamed(redis, console)) { service throws(ReelFailure) in
            let view = try await service.queue(filter.filter)
            var strips: [String: PassStrip] = [:]
            for job in view.jobs where isForPeople {
                strips[job.id] = try await service.strip(JobID(job.id), cells: console.canvas.columns)
            }
            let (seen, now) = (strips, Date().timeIntervalSince1970)
            return Snapshot(json: view, jobs: view.jobs) {
                QueueText.lines(view, strips: seen, at: now, as: $0, on: $1)
            }
        }
    }
}

/// The options of commands that show jobs or workers, once or again and again, as text or as JSON.
struct ReadingOptions: ParsableArguments {
    @Flag(
        help: """
            Show it again when something happens, and every two seconds; on a terminal redrawn in place: q ends it, arrow \
            keys, PageUp and PageDown scroll, or in a list choose a job, Enter shows that one, Esc the list again, and s \
            sorts the list.
            """)
    var watch = false

    @Flag(help: "Print JSON: one line, with --watch a line for each update.") var json = false

    /// Prints what `look` returns.
    ///
    /// - Parameter job: watching ends when this job does. Without one, only Ctrl-C ends it, which is no failure then.
    func show(
        _ redis: RedisOption, _ store: (any JobStore)? = nil, job: JobID? = nil,
        _ look: @escaping @Sendable (JobService) async throws(ReelFailure) -> Snapshot
    ) async throws {
        let service = try await redis.service(store)
        let output: Output = json ? .json : .people(console.canvas)
        guard watch else { return try output.write(try await look(service), on: console) }
        let feed = service.events(after: try await service.now(), of: job)
        let watch = Watch(
            address: "\(try redis.address())", output: output, on: console,
            change: { () async throws(ReelFailure) in _ = try await feed.wait(atMost: Watch.slowest) },
            look: { (chosen) async throws(ReelFailure) in
                guard let chosen else { return try await look(service) }
                return try await service.snapshot(of: chosen, isForPeople: true)
            })
        do { try await Interruption.cancelling { try await watch.run() } } catch {
            guard error.kind == .interrupted else { throw error }
            if let job { throw ReelFailure(.jobGoesOn(job: job)) }
        }
    }
}

extension JobService {
    /// All about one job, as it is now.
    ///
    /// - Parameter isForPeople: whether its lines are wanted, too.
    func snapshot(of job: JobID, isForPeople: Bool) async throws(ReelFailure) -> Snapshot {
        let view = try await view(job)
        let strip = isForPeople ? try await strip(job, cells: console.canvas.columns) : nil
        let now = Date().timeIntervalSince1970
        return Snapshot(json: view, isFinal: view.state.isTerminal) {
            JobText.lines(view, strip: strip, at: now, on: $1)
        }
    }
}

extension JobFilter.State: ExpressibleByArgument {}

struct FilterOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Only jobs in this state; several times for several.", valueName: "state"))
    var state: [JobFilter.State] = []

    @Option(help: ArgumentHelp("Only jobs with this label; several times for all of several.", valueName: "name=value"))
    var label: [String] = []

    @Option(
        help: ArgumentHelp(
            "Only jobs submitted since then: 2h, 3d, 2026-11-26 or 2026-11-26T18:30.", valueName: "time"))
    var since: String?

    @Option(help: ArgumentHelp("The most jobs: those submitted last.", valueName: "number")) var limit: Int?

    func validate() throws {
        _ = try LabelOption.labels(label)
        if let since, Moment(since, now: 0) == nil {
            throw ValidationError(
                "--since takes a span as 2h or 3d, a day as 2026-11-26, or a time as 2026-11-26T18:30; it is \(since)")
        }
        if let limit, limit < 1 { throw ValidationError("--limit must be 1 or more") }
    }

    var filter: JobFilter {
        JobFilter(
            states: Set(state), labels: (try? LabelOption.labels(label)) ?? [:],
            since: since.flatMap { Moment($0, now: Date().timeIntervalSince1970)?.seconds }, limit: limit)
    }
}
