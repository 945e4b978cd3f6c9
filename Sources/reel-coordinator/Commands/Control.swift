internal import ArgumentParser
internal import ReelCore
internal import ReelPipeline
internal import ReelQueue
internal import ReelStore

/// Jobs that something is done to.
struct JobArguments: ParsableArguments {
    @Argument(help: "Ids of jobs.")
    var jobs: [String]

    @OptionGroup var redis: RedisOption
    @OptionGroup var store: StoreOption

    /// Does it to each, and says of each what became of it. Throws the first failure after all were tried.
    func each(_ act: (JobControl, JobID) async throws(ReelFailure) -> String) async throws(ReelFailure) {
        let store = try store.open()
        let control = JobControl(board: try await redis.connect(), store: store)
        var failures: [ReelFailure] = []
        for job in jobs.map(JobID.init) {
            do throws(ReelFailure) {
                Console.say(try await act(control, job))
            } catch {
                // The first is said at the program's end.
                if !failures.isEmpty { Console.say(error.message) }
                failures.append(error)
            }
        }
        if let failure = failures.first { throw failure }
    }
}

struct CancelCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel", abstract: "End jobs; their engines are stopped within seconds.")

    @OptionGroup var arguments: JobArguments

    func run() async throws {
        try await arguments.each { control, job throws(ReelFailure) in try await control.cancel(job) }
    }
}

struct PauseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause", abstract: "Hold jobs back: no further pass is given out, what is in flight is finished.")

    @OptionGroup var arguments: JobArguments

    func run() async throws {
        try await arguments.each { control, job throws(ReelFailure) in try await control.setPaused(job, true) }
    }
}

struct ResumeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "resume", abstract: "Let paused jobs go on.")

    @OptionGroup var arguments: JobArguments

    func run() async throws {
        try await arguments.each { control, job throws(ReelFailure) in try await control.setPaused(job, false) }
    }
}

struct RetryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry", abstract: "Have failed jobs run again.",
        discussion: "Finished passes stay so; attempts are counted anew, and excluded hosts may try again.")

    @OptionGroup var arguments: JobArguments

    func run() async throws {
        try await arguments.each { control, job throws(ReelFailure) in try await control.retry(job) }
    }
}

struct RemoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Remove jobs that have ended, and all that the store has of them.",
        discussion: "Their results in the store go as well; what was fetched stays.")

    @OptionGroup var arguments: JobArguments

    func run() async throws {
        try await arguments.each { control, job throws(ReelFailure) in try await control.remove(job) }
    }
}

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
            throw ReelFailure(
                .usage, "there is no worker and no host \(worker); reel-coordinator workers lists those there are")
        }
        for worker in named.map(\.report.worker) where try await board.drain(worker) {
            Console.say("worker \(worker) drains")
        }
    }
}
