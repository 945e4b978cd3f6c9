internal import ReelCore
internal import ReelStore

/// The work of engines that people wait for: pictures, and readings of sources that no job has yet. The same work is
/// done once for all who ask for it meanwhile, few engines work at a time, and work that has failed is not tried again
/// for a while.
package actor PictureQueue {
    /// Identifies a piece of work.
    struct Key: Hashable, Sendable {
        let job: JobID
        let name: String
        /// What fails from a segment may not from the output.
        let files: Set<Locator>
    }

    typealias Work = @Sendable () async throws -> Void

    /// Engines at a time, and pieces of work that wait for one.
    private static let (mostEngines, mostWaiting) = (2, 24)
    /// After which a piece of work is given up, and for how long it is not tried again.
    static let (limit, rest) = (Duration.seconds(120), Duration.seconds(60))

    private var making: [Key: [AsyncStream<Result<Void, ReelFailure>>.Continuation]] = [:]
    private var waiting: [(Key, Work)] = []
    private var engines = 0
    private var failed: [Key: (failure: ReelFailure, until: ContinuousClock.Instant)] = [:]

    package init() {}

    /// Returns when the work is done. If the task is cancelled, it is done all the same.
    ///
    /// Throws what the work throws, and `PictureAbsence.busy` if too much other work waits.
    func make(_ key: Key, _ work: @escaping Work) async throws {
        if let known = failed[key], known.until > .now { throw known.failure }
        let (ends, waiter) = AsyncStream<Result<Void, ReelFailure>>.makeStream()
        if making[key] == nil {
            guard waiting.count < PictureQueue.mostWaiting else { throw PictureAbsence.busy }
            waiting.append((key, work))
        }
        making[key, default: []].append(waiter)
        startNext()
        for await end in ends { return try end.get() }
        throw CancellationError()
    }

    private func startNext() {
        guard engines < PictureQueue.mostEngines, !waiting.isEmpty else { return }
        engines += 1
        let (key, work) = waiting.removeFirst()
        Task {
            ended(key, await PictureQueue.end(of: work))
            engines -= 1
            startNext()
        }
    }

    private static func end(of work: Work) async -> Result<Void, ReelFailure> {
        do { return .success(try await work()) } catch { return .failure(.of(error)) }
    }

    private func ended(_ key: Key, _ end: Result<Void, ReelFailure>) {
        failed = failed.filter { $0.value.until > .now }
        if case .failure(let failure) = end { failed[key] = (failure, .now + PictureQueue.rest) }
        for waiter in making.removeValue(forKey: key) ?? [] {
            waiter.yield(end)
            waiter.finish()
        }
    }

    /// Has an engine work, and gives it up after `limit`: then throws `.engineHung`.
    static func limiting(_ work: @escaping Work) async throws {
        let late = ReelFailure(
            .engineHung(
                place: .pictures, hang: .silent, seconds: Rational(limit.components.seconds), lastWords: nil))
        try await ReelFailure.limiting(until: .now + limit, orThrow: late, work)
    }
}
