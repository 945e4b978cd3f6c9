import ReelCore
import ReelJobs
import ReelQueue
import Testing

/// What a process that follows a job does while Redis cannot answer.
@Suite struct FollowTests {
    @Test func aRedisThatRefusesIsNotAskedMoreOften() async throws {
        let refused = Counter()
        // After a start it is still reading its log.
        let redis = try FakeRedis { words in
            if words.contains("PING") { return "+PONG\r\n" }
            refused.count()
            return "-LOADING Redis is loading the dataset in memory\r\n"
        }
        let board = RedisBoard(
            try RedisAddress(redis.url), name: "test", patience: RedisPatience(.seconds(1)))
        try await board.ping()
        let follow = Follow(JobID("a1"), on: board, interval: .milliseconds(100))
        let failure = try #require(await #expect(throws: ReelFailure.self) { try await follow.untilEnd { _ in } })
        #expect(failure.kind == .unreachable && failure.cause == .transient)
        guard case .redisRefused(_, let said, true) = failure.reason else {
            Issue.record("\(failure.reason)")
            return
        }
        #expect(said.hasPrefix("LOADING"))
        #expect(refused.now <= 12)
    }
}

extension ServiceTests {
    /// What a process that follows a job does with the job's events.
    @Suite struct FollowingTests {
        @Test("The end of a job is noticed at once, however lately something else happened", .timeLimit(.minutes(10)))
        func theEndIsNoticedAtOnce() async throws {
            let jobs = try await JobFixture()
            let id = try await jobs.publish(try jobs.job())
            let follow = Follow(
                id, on: jobs.board, interval: .seconds(3600), rest: .seconds(3600))
            let looks = Counter()
            let status = try await follow.untilEnd { _ throws(ReelFailure) in
                guard looks.count() == 1 else { return }
                // Both events come after the first look.
                do {
                    try await jobs.fail(id)
                } catch {
                    throw .of(error)
                }
            }
            #expect(status.state == .failed)
            #expect(looks.now == 2)
        }
    }
}
