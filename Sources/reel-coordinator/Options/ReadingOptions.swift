internal import ArgumentParser
internal import Foundation
internal import ReelCore
internal import ReelJobs
internal import ReelStore
internal import ReelTerminal

/// The options of commands that show jobs or workers, once or again and again, as text or as JSON.
struct ReadingOptions: ParsableArguments {
    @Flag(
        help: """
            Show it again when something happens, and every two seconds; on a terminal redrawn in place: q ends it, arrow \
            keys, PageUp and PageDown scroll, or in a list choose a job, Enter shows that one, Esc the list again, and s \
            sorts the list.
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
            look: { (chosen) async throws(ReelFailure) in
                guard let chosen else { return try await look(service) }
                return try await service.snapshot(of: chosen, isForPeople: true)
            })
        do {
            try await Interruption.cancelling { try await watch.run() }
        } catch {
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
            JobText.lines(view, strip: strip, at: now, on: $0)
        }
    }
}
