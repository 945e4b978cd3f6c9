package import ReelCore
package import ReelQueue

extension Board {
    /// Repeats a call as long as Redis cannot be reached, for a minute. Throws what the call throws.
    package func patiently<Answer: Sendable>(
        _ call: () async throws(ReelFailure) -> Answer
    ) async throws(ReelFailure) -> Answer {
        let deadline = ContinuousClock.now + .seconds(60)
        while true {
            do throws(ReelFailure) {
                return try await call()
            } catch {
                guard error.kind == .unreachable, error.cause == .transient, ContinuousClock.now < deadline else {
                    throw error
                }
                do { try await Task.sleep(for: .milliseconds(250)) } catch { throw .of(error) }
            }
        }
    }
}
