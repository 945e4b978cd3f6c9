internal import ArgumentParser
internal import ReelCore
internal import ReelJobs
internal import ReelStore
internal import ReelTerminal

/// The options of commands that show jobs or workers, once or again and again, as text or as JSON.
struct ReadingOptions: ParsableArguments {
    @Flag(
        help: """
            Show it again when something happens, and every two seconds; on a terminal redrawn in place: q ends it, arrow \
            keys, PageUp and PageDown scroll.
            """)
    var watch = false

    @Flag(help: "Print JSON: one line, with --watch a line for each update.")
    var json = false

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
            look: { () async throws(ReelFailure) in try await look(service) })
        do {
            try await Interruption.cancelling { try await watch.run() }
        } catch {
            guard error.kind == .interrupted else { throw error }
            if let job { throw ReelFailure(.jobGoesOn(job: job)) }
        }
    }
}
