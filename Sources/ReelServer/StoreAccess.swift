internal import HTTPTypes
package import Logging
package import ReelStore
internal import ServiceLifecycle
internal import Synchronization

/// The server's access to its store. Work that uses the store runs on threads of its own (`StoreExecutor`), and no
/// request waits long for a store that hangs: it is answered with status 503, while the system call goes on until it
/// returns.
///
/// The store hangs if a reading that is made again and again does not come back in time: the store's disk does not answer,
/// or calls that do not return hold all threads. Then no further call begins, so there are never many of them.
package final class StoreAccess: Service {
    private let threads: StoreExecutor
    private let largeThreads: StoreExecutor
    private let read: @Sendable () async -> Reading
    private let log: Logger
    private let state: Mutex<State>

    /// The state of the store.
    package struct Reading: Hashable, Sendable {
        /// Whether it is at its place.
        package var isThere: Bool
        /// Nil if the store is not at its place, or if its room is unknown.
        package var freeBytes: Int64?

        package init(isThere: Bool, freeBytes: Int64?) { (self.isThere, self.freeBytes) = (isThere, freeBytes) }

        /// Looks at a store; may block.
        init(of store: any JobStore) async {
            isThere = (try? await store.check()) != nil
            // If nothing is mounted at the store's place, the room there is that of another file system.
            freeBytes = isThere ? await store.freeSpace : nil
        }
    }

    private struct State {
        var last: Reading
        /// The beginning of the current reading; nil if there is none.
        var begun: ContinuousClock.Instant?
    }

    /// From one reading to the next, and how long one may take before the store counts as hanging.
    private let (pause, patience): (Duration, Duration)
    /// How long a request waits for its use of the store if it has no limit of its own.
    package static let limit = Duration.seconds(30)

    /// - Parameters:
    ///   - threads: run the work that uses the store.
    ///   - largeThreads: run the work that uses large jobs.
    ///   - first: the state of the store before the first reading.
    ///   - isMetered: as `JobStore.isMetered`: then it is read rarely, and a request may take longer than with a folder.
    ///   - read: reads the state of the store; may block.
    package init(
        threads: StoreExecutor = .shared, largeThreads: StoreExecutor = .forLargeJobs, log: Logger, first: Reading,
        isMetered: Bool = false, read: @escaping @Sendable () async -> Reading
    ) {
        (self.threads, self.largeThreads, self.read, self.log) = (threads, largeThreads, read, log)
        (pause, patience) = isMetered ? (.seconds(30), .seconds(20)) : (.seconds(1), .seconds(3))
        state = Mutex(State(last: first))
    }

    convenience init(to store: any JobStore, first: Reading, log: Logger) {
        self.init(log: log, first: first, isMetered: store.isMetered) { await Reading(of: store) }
    }

    /// Looks at the store again and again until it is shut down gracefully, or cancelled.
    package func run() async {
        await cancelWhenGracefulShutdown { [self] in
            var wasHanging = false
            repeat {
                look()
                if wasHanging != isHanging {
                    wasHanging.toggle()
                    if wasHanging {
                        log.error("the store does not answer; requests that need it get 503")
                    } else {
                        log.info("the store answers again")
                    }
                }
            } while (try? await Task.sleep(for: pause)) != nil
        }
    }

    private func look() {
        let isFree = state.withLock { state in
            guard state.begun == nil else { return false }
            state.begun = .now
            return true
        }
        guard isFree else { return }
        Task(executorPreference: threads) { [self] in
            let reading = await read()
            state.withLock { $0 = State(last: reading) }
        }
    }

    /// The last reading that came back.
    package var reading: Reading { state.withLock(\.last) }

    package var isHanging: Bool { state.withLock { $0.begun.map { .now - $0 > patience } ?? false } }

    private func check() throws { if isHanging { throw Problem.storeHangs } }

    /// Runs work that uses the store. It must not read a request's body: it may go on after the request has been
    /// answered.
    ///
    /// Throws a problem of status 503 if the store hangs, or if it takes longer than the limit.
    ///
    /// - Parameters:
    ///   - begins: begin even if the store hangs already.
    ///   - isLarge: it uses or makes a job that takes long to decode. Such work takes turns; otherwise a few of it
    ///     would hold all threads until the store seems to hang.
    package func use<Result: Sendable>(
        atMost limit: Duration = limit, begins: Bool = false, isLarge: Bool = false,
        _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        if !begins { try check() }
        return try await withThrowingTaskGroup(of: Result.self) { [threads, largeThreads] group in
            group.addTask {
                guard isLarge else { return try await threads.run(body) }
                return try await largeThreads.run {
                    // Its caller may have gone while it waited for its turn.
                    try Task.checkCancellation()
                    return try await body()
                }
            }
            group.addTask { [self] in
                let end = ContinuousClock.now + limit
                while ContinuousClock.now < end {
                    try await Task.sleep(for: .milliseconds(250))
                    try check()
                }
                throw Problem.slow(limit)
            }
            defer { group.cancelAll() }
            guard let answer = try await group.next() else { throw CancellationError() }
            return answer
        }
    }

    /// Runs work that uses the store, or, if the store hangs, the work that can do without it.
    package func use<Result: Sendable>(
        atMost limit: Duration = limit, isLarge: Bool = false, _ body: @escaping @Sendable () async throws -> Result,
        orElse spare: () async throws -> Result
    ) async throws -> Result {
        do {
            return try await use(atMost: limit, isLarge: isLarge, body)
        } catch let problem as Problem where problem.code == Problem.storeHangs.code {
            return try await spare()
        }
    }
}

extension Problem {
    fileprivate static var storeHangs: Problem {
        Problem(
            .serviceUnavailable, "store-hangs", "The store does not answer",
            detail: "Nothing of it is lost; try again.", retryAfter: 5)
    }

    static func slow(_ limit: Duration) -> Problem {
        Problem(
            .serviceUnavailable, "request-slow", "The request takes too long",
            detail: "It had not been answered after \(limit.components.seconds) s.", retryAfter: 5)
    }
}
