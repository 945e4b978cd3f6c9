package import ReelCore

extension ReelFailure {
    /// Runs what throws anything and throws only `ReelFailure`: libraries of tasks and processes are not typed.
    package static func unifying<Result>(
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
    ) async throws(ReelFailure) -> Result {
        do {
            return try await body()
        } catch {
            throw ReelFailure.of(error)
        }
    }

    package static func of(_ error: any Error) -> ReelFailure {
        switch error {
        case let failure as ReelFailure: failure
        case is CancellationError: ReelFailure(.interrupted)
        default: ReelFailure(.unexpected(said: "\(error)"))
        }
    }
}
