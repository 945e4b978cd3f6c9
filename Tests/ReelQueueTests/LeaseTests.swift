import ReelCore
import ReelQueue
import ReelTestSupport
import Testing

extension BoardTests {
    @Suite struct Leases {
        let fixture: BoardFixture
        init() throws { fixture = try BoardFixture() }

        @Test func aBeatExtendsLeasesAndStoresProgress() async throws {
            try await fixture.publish()
            let claim = try await fixture.take()
            try fixture.lapse()
            let reply = try await fixture.beat(holding: [claim], encoded: 7)
            #expect(reply.answers == [claim.token: .ok])
            #expect(reply.drained == nil)
            #expect(try await fixture.reaper().reap() == 0)
            let status = try #require(try await fixture.board.status(claim.job))
            #expect(status.passes.live == 1)
            #expect(status.framesEncoded == 7)
            #expect(status.framesDecoded == 8)
        }

        @Test func aLapsedLeaseIsRequeuedAndChargedAsLost() async throws {
            try await fixture.publish(BoardFixture.job(passes: 250))
            for _ in 0..<250 { _ = try await fixture.take() }
            try fixture.lapse()
            #expect(try await fixture.reaper().reap() == 250)
            #expect(try await fixture.reaper().reap() == 0)
            let status = try #require(try await fixture.board.status(JobID("a1")))
            #expect(status.passes.live == 0)
            #expect(status.failureCount == 250)
            // The status lists a page of them.
            #expect(status.failures.count >= 100 && status.failures.count < 250)
            #expect(status.failures.allSatisfy { $0.attempts == ["lost": 1] })
            #expect(
                status.failures.allSatisfy { $0.recent.map(\.reason) == [ReelFailure(.workerVanished(worker: "w1"))] })
            var again: [Int] = []
            while let claim = try await fixture.claim("w2") { again.append(claim.index) }
            #expect(again.sorted() == Array(0..<250))
        }

        @Test func reapWaitsOneLeaseAfterAStartOfRedis() async throws {
            try await fixture.publish()
            _ = try await fixture.take()
            try fixture.lapse()
            let patient = try BoardFixture.open(fixture.server, timing: BoardTiming(lease: .seconds(3600)))
            #expect(try await patient.reap() == 0)
            #expect(try await fixture.reaper().reap() == 1)
        }

        @Test func aPassLostTooOftenFailsTheJob() async throws {
            try await fixture.publish(BoardFixture.job(passes: 1))
            let reaper = try fixture.reaper()
            for round in 1...20 {
                _ = try await fixture.take()
                try fixture.lapse()
                #expect(try await reaper.reap() == (round < 20 ? 1 : 0))
            }
            let failure = try #require(try await fixture.board.status(JobID("a1"))?.failure)
            #expect(failure == ReelFailure(.passLost(pass: 0, attempts: 20, worker: "w1")))
            #expect(try fixture.raw("ZCARD", "reel2:{main}:lease") == "0")
        }

        @Test func aVanishedLeaseIsAdoptedIfNoOtherWorkerHoldsThePass() async throws {
            try await fixture.publish(BoardFixture.job(passes: 2))
            let (first, second) = (try await fixture.take(), try await fixture.take())
            // As after Redis lost its last second.
            try fixture.raw("DEL", "reel2:{main}:lease", "reel2:{main}:job:a1:live")
            try fixture.raw("HSET", "reel2:{main}:job:a1", "cursor", "0")
            #expect(try await fixture.beat(holding: [first]).answers == [first.token: .ok])
            let other = try await fixture.take("w2")
            #expect(other.index == 1)
            #expect(
                try await fixture.beat(holding: [first, second]).answers == [first.token: .ok, second.token: .lost])
            #expect(try await fixture.claim("w2") == nil)
            #expect(try await fixture.complete(first) == .ok)
            #expect(try await fixture.complete(second) == .late)
        }

        @Test func aReapedPassThatWasNotTakenIsAdopted() async throws {
            try await fixture.publish(BoardFixture.job(passes: 1))
            let claim = try await fixture.take()
            try await fixture.lapseOne()
            #expect(try await fixture.beat(holding: [claim]).answers == [claim.token: .ok])
            #expect(try await fixture.claim("w2") == nil)
        }

        @Test func aTokenThatWasHandedBackIsNotAdopted() async throws {
            try await fixture.publish(BoardFixture.job(passes: 2))
            let (first, second) = (try await fixture.take(), try await fixture.take())
            try await fixture.board.release(first)
            try await fixture.fail(second, .crash)
            // A beat that was under way meanwhile.
            let answers = try await fixture.beat(holding: [first, second]).answers
            #expect(answers == [first.token: .lost, second.token: .lost])
            #expect(try await fixture.board.live(first.job).isEmpty)
        }

        @Test func aPassThatThePlanHasNoMoreIsNotAdopted() async throws {
            try await fixture.publish(BoardFixture.job(passes: 3))
            _ = (try await fixture.take(), try await fixture.take())
            let third = try await fixture.take()
            #expect(try await fixture.board.cancel(third.job))
            try await fixture.board.forget(third.job)
            try await fixture.publish(BoardFixture.job(passes: 1))
            try await fixture.complete(fixture.take())
            #expect(try await fixture.beat(holding: [third]).answers == [third.token: .lost])
            #expect(try await fixture.board.live(third.job).isEmpty)
        }

        @Test func aTokenGivenAwayIsLost() async throws {
            try await fixture.publish(BoardFixture.job(passes: 1))
            let stalled = try await fixture.take()
            try await fixture.lapseOne()
            let other = try await fixture.take("w2")
            #expect(try await fixture.beat(holding: [stalled]).answers == [stalled.token: .lost])
            #expect(try await fixture.complete(other, by: "w2") == .ok)
            #expect(try await fixture.beat(holding: [stalled]).answers == [stalled.token: .lost])
            #expect(try await fixture.beat("w2", holding: [other]).answers == [other.token: .ok])
        }

        @Test func aCancelledJobTellsItsHolders() async throws {
            try await fixture.publish()
            let claim = try await fixture.take()
            #expect(try await fixture.board.cancel(claim.job))
            #expect(try await fixture.board.cancel(claim.job) == false)
            #expect(try await fixture.beat(holding: [claim]).answers == [claim.token: .cancel])
            #expect(try await fixture.claim() == nil)
            #expect(try fixture.raw("ZCARD", "reel2:{main}:lease") == "0")
            #expect(try await fixture.board.live(claim.job).isEmpty)
        }

        @Test func aJobThatRedisForgotIsLost() async throws {
            try await fixture.publish()
            let claim = try await fixture.take()
            try fixture.raw("FLUSHALL")
            #expect(try await fixture.beat(holding: [claim]).answers == [claim.token: .lost])
            #expect(try await fixture.state() == nil)
        }

        @Test func leasesOfEndedJobsAreDroppedNotRequeued() async throws {
            try await fixture.publish()
            let claim = try await fixture.take()
            #expect(try await fixture.board.cancel(claim.job))
            try fixture.lapse()
            #expect(try await fixture.reaper().reap() == 0)
            #expect(try await fixture.board.live(claim.job).isEmpty)
            #expect(try await fixture.claim() == nil)
        }

        @Test func workersAreListedAndDepart() async throws {
            try await fixture.beatOnTwoHosts()
            #expect(try await fixture.board.drain(.worker, "w2"))
            let workers = try await fixture.board.workers()
            #expect(workers.map(\.report.worker.text) == ["w1", "w2"])
            #expect(workers.map(\.report.host) == ["one", "two"])
            #expect(workers.map(\.drained) == [nil, .worker])
            #expect(workers.allSatisfy { $0.beatAge < 10 && !$0.isGone })
            let hasty = try BoardFixture.open(fixture.server, timing: BoardTiming(lease: .milliseconds(-1)))
            #expect(try await hasty.workers().allSatisfy(\.isGone))
            try await fixture.board.depart(WorkerID("w2"))
            #expect(try await fixture.board.workers().map(\.report.worker.text) == ["w1"])
            #expect(try fixture.raw("KEYS", "*w2*").isEmpty)
            #expect(try await fixture.beat("w2").drained == nil)
        }

        @Test func workersSilentForAnHourLeave() async throws {
            try await fixture.beat("w1")
            try await fixture.beat("w2")
            try fixture.raw("ZADD", "reel2:{main}:workers", "1", "w2")
            _ = try await fixture.reaper().reap()
            #expect(try await fixture.board.workers().map(\.report.worker.text) == ["w1"])
            #expect(try fixture.raw("EXISTS", "reel2:{main}:worker:w2") == "0")
        }

        // MARK: Clocks

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
            for list in ["timer", "ready", "later"] {
                try fixture.raw("ZADD", "reel2:{main}:\(list)", String(before + 2000), "a1")
            }
            #expect(try await fixture.board.reap() == 0)
            let after = try now()
            #expect(try score("lease", lease) <= after + 20_000)
            #expect(try score("workers", "w1") <= after)
            for (list, member) in [("job:a1:retry", "1"), ("timer", "a1"), ("ready", "a1"), ("later", "a1")] {
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

        @Test("a job tells how much of its assembly is done, which is no frame that was decoded")
        func progressOfAnAssembly() async throws {
            let (_, assembly) = try await assembling()
            #expect(try await fixture.board.status(job)?.assembled == 0)
            let before = try #require(try await fixture.board.status(job)?.framesDecoded)
            // The fixture reports one more as decoded.
            #expect(try await fixture.beat(holding: [assembly], encoded: 419).answers == [assembly.token: .ok])
            let status = try #require(try await fixture.board.status(job))
            #expect(status.assembled == 0.42 && status.framesDecoded == before)
            try await fixture.complete(assembly)
            #expect(try await fixture.board.status(job)?.assembled == nil)
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
