package import ReelCore

extension ReelFailure {
    /// Runs a body that may throw any error, and throws it as a `ReelFailure`: the libraries for tasks and processes have no
    /// typed throws.
    package static func unifying<Result>(
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
    ) async throws(ReelFailure) -> Result {
        do {
            return try await body()
        } catch {
            throw ReelFailure.of(error)
        }
    }

    /// An error as a failure: a cancelled task is `.interrupted`, and an error that is no failure is `.unexpected`.
    package static func of(_ error: any Error) -> ReelFailure {
        switch error {
        case let failure as ReelFailure: failure
        case is CancellationError: ReelFailure(.interrupted)
        default: ReelFailure(.unexpected(said: "\(error)"))
        }
    }
}
