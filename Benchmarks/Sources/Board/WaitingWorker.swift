internal import ReelCore
internal import ReelQueue

/// A worker that has nothing to do and waits for a hint, on a second connection as real workers do.
struct WaitingWorker {
    private let claims: RedisBoard
    private let hints: RedisBoard
    private let id = WorkerID("host-1-10001-5f3a")

    init(_ address: RedisAddress) {
        (claims, hints) = (RedisBoard(address, name: "claims"), RedisBoard(address, name: "waits"))
    }

    /// Connects, and finds the board empty.
    func claimNothing() async throws {
        try await hints.ping()
        _ = try await claims.beat(SampleJob.report(id, holding: nil, encoded: 0))
        guard try await claims.claim(SampleJob.offer(id)) == nil else { throw Trouble("the board is not empty") }
    }

    /// When a claim was answered with a pass.
    func waitForClaim() async throws -> ContinuousClock.Instant {
        while true {
            try await hints.waitForWork(seconds: 1)
            if try await claims.claim(SampleJob.offer(id)) != nil { return .now }
        }
    }
}
