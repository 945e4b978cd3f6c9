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
            try fixture.lapse()
            #expect(try await fixture.reaper().reap() == 1)
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
            try fixture.lapse()
            #expect(try await fixture.reaper().reap() == 1)
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
            try await fixture.beat("w1", host: "one")
            try await fixture.beat("w2", host: "two")
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
    }
}
