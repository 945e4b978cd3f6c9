import ReelCore
import ReelQueue
import ReelTestSupport
import Testing

extension BoardTests {
    /// Results that are taken back: their segments were lost or have changed.
    @Suite struct Invalidating {
        let fixture: BoardFixture
        let job = JobID("a1")
        init() throws { fixture = try BoardFixture() }

        /// A job of three finished passes whose assembly a worker holds; gives the claims on the passes and on that.
        private func assembling() async throws -> (passes: [Claim], assembly: Claim) {
            try await fixture.publish()
            var passes: [Claim] = []
            for _ in 0..<3 { passes.append(try await fixture.take()) }
            for pass in passes { try await fixture.complete(pass) }
            return (passes, try await fixture.take())
        }

        @Test func theJobRunsAgainAndIsAssembledAfterThat() async throws {
            let (passes, assembly) = try await assembling()
            #expect(assembly.work == .assembly)
            #expect(try await fixture.invalidate(assembly, index: 1, token: passes[1].token) == 1)
            #expect(try await fixture.state() == .running)
            #expect(try await fixture.board.results(job).keys.sorted() == [0, 2])
            #expect(try await fixture.board.strip(job, cells: 3)?.cells.map(\.done) == [1, 0, 1])
            // The sums are there at once: readers need not add up.
            #expect(try fixture.raw("HGET", "reel2:{main}:job:a1", "sum") == "2 24 20 1002 0")
            // It waits like one that began early, and is handed back uncharged.
            try await fixture.board.release(assembly)
            let again = try await fixture.take("w2")
            #expect(again.index == 1)
            #expect(try await fixture.claimReady("w3") == nil)
            #expect(try await fixture.complete(again, by: "w2") == .ok)
            #expect(try await fixture.state() == .assembling)
            #expect(try await fixture.complete(fixture.take()) == .ok)
            #expect(try await fixture.state() == .done)
            #expect(try await fixture.board.status(job)?.framesEncoded == 30)
            #expect(try fixture.raw("ZCARD", "reel2:{main}:lease") == "0")
        }

        /// Its completion is repeated, since the reply was lost, or its worker still beats.
        @Test func theTokenOfATakenBackResultRecordsNothingMore() async throws {
            let (passes, assembly) = try await assembling()
            #expect(try await fixture.invalidate(assembly, index: 0, token: passes[0].token) == 1)
            #expect(try await fixture.complete(passes[0]) == .late)
            #expect(try await fixture.beat(holding: [passes[0]]).answers == [passes[0].token: .lost])
            #expect(try await fixture.board.results(job).keys.sorted() == [1, 2])
        }

        @Test func onlyTheNamedResultIsTakenBack() async throws {
            let (passes, assembly) = try await assembling()
            #expect(try await fixture.invalidate(assembly, index: 0, token: passes[1].token) == 0)
            let before = try await fixture.invalidate(assembly, index: 0, token: passes[0].token)
            // Asked again it finds nothing: neither does another that found the same.
            let after = try await fixture.invalidate(assembly, index: 0, token: passes[0].token)
            #expect((before, after) == (1, 0))
            let other = try await fixture.board.invalidate(
                job, passes: [(1, passes[1].token)], plan: 2, by: WorkerID("w1"), reason: .sample(.transient))
            #expect(other == 0)
            #expect(try await fixture.board.status(job)?.failures.map(\.attempts) == [["transient": 1]])
        }

        @Test func aResultThatIsTakenBackTooOftenFailsTheJob() async throws {
            var (passes, assembly) = try await assembling()
            for round in 1...5 {
                #expect(try await fixture.invalidate(assembly, index: 0, token: passes[0].token, by: "w2") == 1)
                guard round < 5 else { break }
                try await fixture.board.release(assembly)
                passes[0] = try await fixture.take()
                try await fixture.complete(passes[0])
                assembly = try await fixture.take()
            }
            let last = ReelFailure.sample(.transient, "torn")
            let expected = ReelFailure(.passExhausted(pass: 0, attempts: 5, last: last))
            #expect(try await fixture.board.status(job)?.failure == expected)
        }

        /// A user retries it: lost segments are made again, and no others.
        @Test func aFailedJobLosesItsResultAlone() async throws {
            let (passes, assembly) = try await assembling()
            try await fixture.fail(assembly, .permanent)
            #expect(try await fixture.invalidate(assembly, index: 2, token: passes[2].token) == 1)
            #expect(try await fixture.state() == .failed)
            #expect(try await fixture.claim() == nil)
            #expect(try await fixture.board.retry(job) == .failed)
            let again = try await fixture.take()
            #expect(again.index == 2)
            try await fixture.complete(again)
            #expect(try await fixture.take().work == .assembly)
        }

        @Test func aPausedJobWaitsWithIt() async throws {
            let (passes, assembly) = try await assembling()
            _ = try await fixture.board.pause(job)
            #expect(try await fixture.invalidate(assembly, index: 1, token: passes[1].token) == 1)
            #expect(try await fixture.claim("w2") == nil)
            _ = try await fixture.board.resume(job)
            #expect(try await fixture.take("w2").index == 1)
        }
    }
}
