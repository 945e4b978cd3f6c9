internal import ArgumentParser
internal import Foundation
internal import ReelCore
internal import ReelJobs
internal import ReelQueue
internal import ReelTerminal

struct QueueCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "queue",
        abstract: "Show the queue: passes ready, in flight, retrying, exhausted, oldest wait, throughput, ETA.",
        discussion: HelpText.text(
            "In all, and for each job that has not ended or failed; for a job that waits, why.",
            HelpText.examples(
                "reel-coordinator queue", "reel-coordinator queue --watch", "reel-coordinator queue --json | jq .ready"),
            HelpText.ofBoard))

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
        try await reading.show(redis, store.openIfNamed(console)) { service throws(ReelFailure) in
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
