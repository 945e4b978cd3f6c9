internal import ArgumentParser
internal import ReelCore
internal import ReelJobs
internal import ReelQueue
internal import ReelTerminal

struct QueueCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "queue",
        abstract: "Show the queue: passes ready, in flight, retrying, exhausted, oldest wait, throughput, ETA.",
        discussion: "In all, and for each job that has not ended or failed; for a job that waits, why.")

    @OptionGroup var redis: RedisOption
    @OptionGroup var reading: ReadingOptions

    func run() async throws {
        let isForPeople = !reading.json
        try await reading.show(redis) { service throws(ReelFailure) in
            let view = try await service.queue()
            var strips: [String: PassStrip] = [:]
            for job in view.jobs where isForPeople {
                strips[job.id] = try await service.strip(JobID(job.id), cells: console.canvas.columns)
            }
            let seen = strips
            return Snapshot(json: view) { QueueText.lines(view, strips: seen, on: $0) }
        }
    }
}
