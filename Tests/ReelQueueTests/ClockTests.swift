import ReelCore
import ReelQueue
import ReelTestSupport
import Testing

extension BoardTests {
    /// Redis's clock is set. What scripts read of it is its time, and when a worker reaped last.
    @Suite struct Clocks {
        let fixture: BoardFixture
        init() throws { fixture = try BoardFixture() }

        /// The present by Redis's clock, in milliseconds.
        private func now() throws -> Int {
            let parts = try fixture.raw("TIME").split(separator: "\n").compactMap { Int($0) }
            return parts[0] * 1000 + parts[1] / 1000
        }

        private func score(_ list: String, _ member: String) throws -> Int {
            try #require(Double(try fixture.raw("ZSCORE", "reel2:{main}:\(list)", member)).map { Int($0) })
        }

        @Test func dueTimesMoveBackIfTheClockWasSetBack() async throws {
            try await fixture.publish(BoardFixture.job(passes: 2))
            try await fixture.beat()
            let held = try await fixture.take()
            try await fixture.fail(fixture.take(), .transient)
            #expect(try await fixture.claim() == nil)
            let hour = 3_600_000
            let before = try now() + hour
            try fixture.raw("HSET", "reel2:{main}:control", "reaped", String(before))
            let lease = "a1/0/\(held.token)"
            try fixture.raw("ZADD", "reel2:{main}:lease", String(before + 20_000), lease)
            try fixture.raw("ZADD", "reel2:{main}:workers", String(before), "w1")
            try fixture.raw("ZADD", "reel2:{main}:job:a1:retry", String(before + 2000), "1")
            try fixture.raw("ZADD", "reel2:{main}:timer", String(before + 2000), "a1")
            #expect(try await fixture.board.reap() == 0)
            let after = try now()
            #expect(try score("lease", lease) <= after + 20_000)
            #expect(try score("workers", "w1") <= after)
            for (list, member) in [("job:a1:retry", "1"), ("timer", "a1")] {
                #expect(try (after...after + 2000).contains(score(list, member)))
            }
            #expect(try fixture.raw("HGET", "reel2:{main}:control", "reaped") != String(before))
        }

        /// Nothing was reaped before, so that `reaped` does not show that the clock was set back.
        @Test func aBeatAheadOfTheClockIsBroughtNear() async throws {
            try await fixture.beat()
            try fixture.raw("ZADD", "reel2:{main}:workers", String(now() + 259_200_000), "w1")
            #expect(try await fixture.board.reap() == 0)
            #expect(try score("workers", "w1") <= now())
        }

        /// Everything lapses at once, and live workers beat first.
        @Test func leasesLastOneLeaseMoreIfTheClockWasSetForward() async throws {
            try await fixture.publish(BoardFixture.job(passes: 1))
            let held = try await fixture.take()
            let board = try BoardFixture.open(fixture.server, timing: BoardTiming(lease: .milliseconds(300)))
            while try Int(fixture.raw("INFO", "server").firstMatch(of: /uptime_in_seconds:(\d+)/)?.1 ?? "0") ?? 0 < 1 {
                try await Task.sleep(for: .milliseconds(50))
            }
            #expect(try await board.reap() == 0)
            try fixture.raw("HSET", "reel2:{main}:control", "reaped", String(now() - 3_600_000))
            try fixture.lapse()
            #expect(try await board.reap() == 0)
            #expect(try await board.reap() == 0)
            #expect(try await fixture.board.live(held.job).count == 1)
            let deadline = ContinuousClock.now + .seconds(180)
            var reaped = 0
            while reaped == 0, ContinuousClock.now < deadline {
                try await Task.sleep(for: .milliseconds(50))
                reaped = try await board.reap()
            }
            #expect(reaped == 1)
        }
    }
}
