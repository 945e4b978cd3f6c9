internal import ReelCore
internal import ReelJobs

extension PassAllowance {
    /// Does a piece of work, and cancels it when its time is over.
    ///
    /// Throws `.quotaExceeded` then, and what the work throws.
    func timed<Result: Sendable>(
        _ work: @escaping @Sendable () async throws -> Result
    ) async throws(ReelFailure) -> Result {
        try await ReelFailure.unifying {
            guard let time else { return try await work() }
            return try await withThrowingTaskGroup(of: Result.self) { group in
                group.addTask { try await work() }
                group.addTask {
                    try await Task.sleep(for: .seconds(time.seconds))
                    throw time.exceeded
                }
                defer { group.cancelAll() }
                guard let result = try await group.next() else { throw CancellationError() }
                return result
            }
        }
    }
}
