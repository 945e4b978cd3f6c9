internal import ArgumentParser
internal import Foundation
internal import ReelCore
internal import ReelPipeline
internal import ReelQueue
internal import ReelStore

/// Jobs, or one job in full.
struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show all jobs, or one job's passes, progress, warnings and failures.")

    @Argument(help: "A job's id.")
    var job: String?

    @Flag(help: "Show it again every second, until the job has ended or Ctrl-C.")
    var watch = false

    @OptionGroup var redis: RedisOption
    @OptionGroup var store: StoreOption

    @Flag(help: "Print a line of JSON: an object for a job, else an array of them.")
    var json = false

    func run() async throws {
        let reader = JobReader(board: try await redis.connect(), store: try store.openIfNamed())
        guard watch else {
            _ = try await show(reader)
            return
        }
        let command = self
        try await Interruption.cancelling {
            while true {
                if Console.resultIsTerminal, !command.json { Console.clearScreen() }
                if try await command.show(reader) { return }
                try await Task.sleep(for: .seconds(1))
            }
        }
    }

    /// True where nothing will change any more.
    private func show(_ reader: JobReader) async throws -> Bool {
        guard let job else {
            let views = try await reader.all()
            if json { try Console.json(views) } else { views.forEach { Console.result(JobText.line($0)) } }
            return false
        }
        let view = try await reader.one(JobID(job))
        if json { try Console.json(view) } else { JobText.lines(view).forEach(Console.result) }
        return view.state.isTerminal
    }
}
