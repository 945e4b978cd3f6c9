package import ReelCore
package import ReelQueue
package import ReelStore

/// All that a program can do with jobs. It prints nothing and handles no signals: it returns values or throws failures.
///
/// A program that reverses one video with nothing else running uses `LocalRun` instead.
///
/// Guarantees:
/// - A service keeps no state. Any number of them, in any number of processes, can use the same board and store.
/// - The store learns of each change of a job before the board, so that a board that is rebuilt from the store revives
///   no job that was cancelled.
/// - Repeating a call does no harm. Submitting the same source with the same spec again makes no second job.
/// - A task that is cancelled while it submits or follows a job stops waiting, and the job goes on.
/// - A call that needs a store throws `.storeNotNamed` if the service has none. A call throws `.unreachable` if Redis
///   or the store cannot be reached, and `.usage` if there is no such job or its state does not allow the change.
package struct JobService: Sendable {
    let board: any Board
    /// Makes a board for one caller alone: waiting for events blocks a board.
    let connect: @Sendable () -> any Board
    private(set) var store: (any JobStore)?
    let advice: @Sendable (WaitReason) -> String?

    /// A service on a board and a store. Nothing is reached yet.
    ///
    /// - Parameters:
    ///   - store: nil for a program that only looks at the board: views then lack what only the store knows.
    ///   - advice: a user's remedy for a job that waits, in the program's own words; nil if the reason says it all.
    ///   - connect: makes a board. Called once for the service, and once for each `events` and `follow`.
    package init(
        store: (any JobStore)?, advice: @escaping @Sendable (WaitReason) -> String? = { _ in nil },
        board connect: @escaping @Sendable () -> any Board
    ) {
        self.store = store
        self.advice = advice
        self.connect = connect
        board = connect()
    }

    /// Makes sure that Redis answers. Throws `.redisUnusable` if it does not.
    package func reach() async throws(ReelFailure) {
        do {
            try await board.ping()
        } catch {
            throw ReelFailure(.redisUnusable(last: error))
        }
    }

    /// As `Board.diagnostics`.
    package func diagnostics() async throws(ReelFailure) -> [Diagnostic] { try await board.diagnostics() }

    /// As `Board.prepare`.
    package func prepareBoard() async throws(ReelFailure) -> Bool { try await board.prepare() }

    /// Makes sure that board and store belong together: call it before the first call that changes a job. A board that
    /// belongs to no store takes this one. An empty folder becomes the store of a board that has none.
    ///
    /// Throws `.storeDiffers` if the board belongs to another store, and `.storeEmpty` if this folder is empty instead.
    package func join() async throws(ReelFailure) { try await requiredStore().join(board) }

    /// The results of jobs, which are in the store. A program without a board makes a `JobResults` itself.
    package func results() throws(ReelFailure) -> JobResults { JobResults(in: try requiredStore()) }

    package var withoutStore: JobService {
        var service = self
        service.store = nil
        return service
    }

    func requiredStore() throws(ReelFailure) -> any JobStore {
        guard let store else { throw ReelFailure(.storeNotNamed) }
        return store
    }
}

extension ReelFailure {
    /// Throws any error of a body as a `ReelFailure`: the libraries for tasks and processes have no typed throws.
    package static func unifying<Result>(
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
    ) async throws(ReelFailure) -> Result {
        do {
            return try await body()
        } catch {
            throw ReelFailure.of(error)
        }
    }

    /// Does a piece of work. If it is not done at a moment, cancels it and throws `late`.
    package static func limiting<Result: Sendable>(
        until end: ContinuousClock.Instant, orThrow late: ReelFailure,
        _ work: @escaping @Sendable () async throws -> Result
    ) async throws(ReelFailure) -> Result {
        try await unifying {
            try await withThrowingTaskGroup(of: Result.self) { group in
                group.addTask { try await work() }
                group.addTask {
                    try await Task.sleep(until: end, clock: .continuous)
                    throw late
                }
                defer { group.cancelAll() }
                guard let result = try await group.next() else { throw CancellationError() }
                return result
            }
        }
    }

    /// An error as a failure: a cancelled task is `.interrupted`, an error of another type `.unexpected`.
    package static func of(_ error: any Error) -> ReelFailure {
        switch error {
        case let failure as ReelFailure: failure
        case is CancellationError: ReelFailure(.interrupted)
        default: ReelFailure(.unexpected(said: "\(error)"))
        }
    }
}
