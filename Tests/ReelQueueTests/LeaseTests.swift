import ReelCore
import ReelQueue
import ReelTestSupport
import Testing

extension BoardTests {
    @Suite struct Leases {
        let bench: Bench
        init() throws { bench = try Bench() }

        @Test func aBeatExtendsLeasesAndStoresProgress() async throws {
            try await bench.publish()
            let claim = try await bench.take()
            try bench.lapse()
            let reply = try await bench.beat(holding: [claim], encoded: 7)
            #expect(reply.answers == [claim.token: .ok])
            #expect(reply.drain == false)
            #expect(try await bench.reaper().reap() == 0)
            let status = try #require(try await bench.board.status(claim.job))
            #expect(status.passes.live == 1)
            #expect(status.framesEncoded == 7)
            #expect(status.framesDecoded == 8)
        }

        @Test func aLapsedLeaseIsRequeuedAndChargedAsLost() async throws {
            try await bench.publish(Bench.job(passes: 250))
            for _ in 0..<250 { _ = try await bench.take() }
            try bench.lapse()
            #expect(try await bench.reaper().reap() == 250)
            #expect(try await bench.reaper().reap() == 0)
            let status = try #require(try await bench.board.status(JobID("a1")))
            #expect(status.passes.live == 0)
            #expect(status.failureCount == 250)
            // The status lists a page of them.
            #expect(status.failures.count >= 100 && status.failures.count < 250)
            #expect(status.failures.allSatisfy { $0.attempts == ["lost": 1] })
            #expect(
                status.failures.allSatisfy { $0.recent.map(\.reason) == [ReelFailure(.workerVanished(worker: "w1"))] })
            var again: [Int] = []
            while let claim = try await bench.claim("w2") { again.append(claim.index) }
            #expect(again.sorted() == Array(0..<250))
        }

        @Test func reapWaitsOneLeaseAfterAStartOfRedis() async throws {
            try await bench.publish()
            _ = try await bench.take()
            try bench.lapse()
            let patient = try Bench.open(bench.server, timing: BoardTiming(lease: .seconds(3600)))
            #expect(try await patient.reap() == 0)
            #expect(try await bench.reaper().reap() == 1)
        }

        @Test func aPassLostTooOftenFailsTheJob() async throws {
            try await bench.publish(Bench.job(passes: 1))
            let reaper = try bench.reaper()
            for round in 1...20 {
                _ = try await bench.take()
                try bench.lapse()
                #expect(try await reaper.reap() == (round < 20 ? 1 : 0))
            }
            let failure = try #require(try await bench.board.status(JobID("a1"))?.failure)
            #expect(failure == ReelFailure(.passLost(pass: 0, attempts: 20, worker: "w1")))
            #expect(try bench.raw("ZCARD", "reel2:{main}:lease") == "0")
        }

        @Test func aVanishedLeaseIsAdoptedIfNoOtherWorkerHoldsThePass() async throws {
            try await bench.publish(Bench.job(passes: 2))
            let (first, second) = (try await bench.take(), try await bench.take())
            // As after Redis lost its last second.
            try bench.raw("DEL", "reel2:{main}:lease", "reel2:{main}:job:a1:live")
            try bench.raw("HSET", "reel2:{main}:job:a1", "cursor", "0")
            #expect(try await bench.beat(holding: [first]).answers == [first.token: .ok])
            let other = try await bench.take("w2")
            #expect(other.index == 1)
            #expect(try await bench.beat(holding: [first, second]).answers == [first.token: .ok, second.token: .lost])
            #expect(try await bench.claim("w2") == nil)
            #expect(try await bench.complete(first) == .ok)
            #expect(try await bench.complete(second) == .late)
        }

        @Test func aReapedPassThatWasNotTakenIsAdopted() async throws {
            try await bench.publish(Bench.job(passes: 1))
            let claim = try await bench.take()
            try bench.lapse()
            #expect(try await bench.reaper().reap() == 1)
            #expect(try await bench.beat(holding: [claim]).answers == [claim.token: .ok])
            #expect(try await bench.claim("w2") == nil)
        }

        @Test func aTokenThatWasHandedBackIsNotAdopted() async throws {
            try await bench.publish(Bench.job(passes: 2))
            let (first, second) = (try await bench.take(), try await bench.take())
            try await bench.board.release(first)
            try await bench.fail(second, .crash)
            // A beat that was under way meanwhile.
            let answers = try await bench.beat(holding: [first, second]).answers
            #expect(answers == [first.token: .lost, second.token: .lost])
            #expect(try await bench.board.live(first.job).isEmpty)
        }

        @Test func aPassThatThePlanHasNoMoreIsNotAdopted() async throws {
            try await bench.publish(Bench.job(passes: 3))
            _ = (try await bench.take(), try await bench.take())
            let third = try await bench.take()
            #expect(try await bench.board.cancel(third.job))
            try await bench.board.forget(third.job)
            try await bench.publish(Bench.job(passes: 1))
            try await bench.complete(bench.take())
            #expect(try await bench.beat(holding: [third]).answers == [third.token: .lost])
            #expect(try await bench.board.live(third.job).isEmpty)
        }

        @Test func aTokenGivenAwayIsLost() async throws {
            try await bench.publish(Bench.job(passes: 1))
            let stalled = try await bench.take()
            try bench.lapse()
            #expect(try await bench.reaper().reap() == 1)
            let other = try await bench.take("w2")
            #expect(try await bench.beat(holding: [stalled]).answers == [stalled.token: .lost])
            #expect(try await bench.complete(other, by: "w2") == .ok)
            #expect(try await bench.beat(holding: [stalled]).answers == [stalled.token: .lost])
            #expect(try await bench.beat("w2", holding: [other]).answers == [other.token: .ok])
        }

        @Test func aCancelledJobTellsItsHolders() async throws {
            try await bench.publish()
            let claim = try await bench.take()
            #expect(try await bench.board.cancel(claim.job))
            #expect(try await bench.board.cancel(claim.job) == false)
            #expect(try await bench.beat(holding: [claim]).answers == [claim.token: .cancel])
            #expect(try await bench.claim() == nil)
            #expect(try bench.raw("ZCARD", "reel2:{main}:lease") == "0")
            #expect(try await bench.board.live(claim.job).isEmpty)
        }

        @Test func aJobThatRedisForgotIsLost() async throws {
            try await bench.publish()
            let claim = try await bench.take()
            try bench.raw("FLUSHALL")
            #expect(try await bench.beat(holding: [claim]).answers == [claim.token: .lost])
            #expect(try await bench.state() == nil)
        }

        @Test func leasesOfEndedJobsAreDroppedNotRequeued() async throws {
            try await bench.publish()
            let claim = try await bench.take()
            #expect(try await bench.board.cancel(claim.job))
            try bench.lapse()
            #expect(try await bench.reaper().reap() == 0)
            #expect(try await bench.board.live(claim.job).isEmpty)
            #expect(try await bench.claim() == nil)
        }

        @Test func workersAreListedAndDepart() async throws {
            try await bench.beat("w1", host: "one")
            try await bench.beat("w2", host: "two")
            try bench.raw("HSET", "reel2:{main}:control", "drain:w2", "1")
            #expect(try await bench.beat("w2", host: "two").drain)
            let workers = try await bench.board.workers()
            #expect(workers.map(\.report.worker.text) == ["w1", "w2"])
            #expect(workers.map(\.report.host) == ["one", "two"])
            #expect(workers.map(\.draining) == [false, true])
            #expect(workers.allSatisfy { $0.beatAge < 10 && !$0.isGone })
            let hasty = try Bench.open(bench.server, timing: BoardTiming(lease: .milliseconds(-1)))
            #expect(try await hasty.workers().allSatisfy(\.isGone))
            try await bench.board.depart(WorkerID("w2"))
            #expect(try await bench.board.workers().map(\.report.worker.text) == ["w1"])
            #expect(try bench.raw("KEYS", "*w2*").isEmpty)
            #expect(try await bench.beat("w2").drain == false)
        }

        @Test func workersSilentForAnHourLeave() async throws {
            try await bench.beat("w1")
            try await bench.beat("w2")
            try bench.raw("ZADD", "reel2:{main}:workers", "1", "w2")
            _ = try await bench.reaper().reap()
            #expect(try await bench.board.workers().map(\.report.worker.text) == ["w1"])
            #expect(try bench.raw("EXISTS", "reel2:{main}:worker:w2") == "0")
        }
    }
}
