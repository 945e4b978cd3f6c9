internal import ArgumentParser
internal import ReelCore
internal import ReelJobs
internal import ReelQueue
internal import ReelTerminal

/// What reading commands have in common: shown once or watched, for people or for machines.
struct ReadingOptions: ParsableArguments {
    @Flag(help: "Show it again when something happens, and every two seconds; on a terminal redrawn in place.")
    var watch = false

    @Flag(help: "Print JSON: one line, with --watch a line for each look.")
    var json = false

    /// Shows what `look` finds.
    ///
    /// - Parameter job: whose end ends watching; without one Ctrl-C is how it is meant to end.
    func show(
        _ redis: RedisOption, job: JobID? = nil,
        _ look: @escaping @Sendable (any Board) async throws(ReelFailure) -> Snapshot
    ) async throws {
        let board = try await redis.connect()
        let output: Output = json ? .json : .people(console.canvas)
        guard watch else { return try output.write(try await look(board), on: console) }
        // A connection of its own, which waiting for events blocks.
        let feed = EventFeed(try await redis.connect(), of: job)
        try await feed.begin()
        let watch = Watch(
            address: redis.redis, output: output, on: console,
            change: { () async throws(ReelFailure) in _ = try await feed.wait(atMost: Watch.slowest) },
            look: { () async throws(ReelFailure) in try await look(board) })
        do {
            try await Interruption.cancelling { try await watch.run() }
        } catch {
            guard error.kind == .interrupted else { throw error }
            if let job { throw ReelFailure(.jobGoesOn(job: job)) }
        }
    }
}
