internal import ReelCore
internal import ReelJobs

extension PassAllowance {
    /// Does a piece of work, and cancels it when its time is over.
    ///
    /// Throws `.quotaExceeded` then, and what the work throws.
    ///
    /// - Parameter begun: from when on the time counts.
    func timed<Result: Sendable>(
        since begun: ContinuousClock.Instant = .now, _ work: @escaping @Sendable () async throws -> Result
    ) async throws(ReelFailure) -> Result {
        try await ReelFailure.unifying {
            guard let time else { return try await work() }
            return try await withThrowingTaskGroup(of: Result.self) { group in
                group.addTask { try await work() }
                group.addTask {
                    try await Task.sleep(until: begun + .seconds(time.seconds), clock: .continuous)
                    throw time.exceeded
                }
                defer { group.cancelAll() }
                guard let result = try await group.next() else { throw CancellationError() }
                return result
            }
        }
    }
}
