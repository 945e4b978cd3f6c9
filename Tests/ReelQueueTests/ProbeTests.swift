import ReelCore
import ReelQueue
import ReelTestSupport
import Testing

extension BoardTests {
    /// A job before it has a plan.
    @Suite struct Probing {
        let fixture: BoardFixture
        let job = JobID("a1")
        init() throws { fixture = try BoardFixture() }

        private func attend(_ waiter: String, _ claim: Claim? = nil) async throws -> Attendance? {
            try await fixture.board.attend(job, waiter: waiter, claim: claim)
        }

        private func leave(_ waiter: String, _ claim: Claim? = nil, abandoning: Bool = false) async throws -> Departure
        {
            try await fixture.board.leave(job, waiter: waiter, claim: claim, abandoning: abandoning)
        }

        private func begin(as holder: String = "c1") async throws -> Begun {
            try await fixture.board.begin(BoardFixture.job(), holder: WorkerID(holder))
        }

        @Test func theBeginningProcessHoldsTheProbe() async throws {
            let claim = try await fixture.begin()
            #expect((claim.index, claim.work, claim.plan, claim.need) == (-1, .planning, 0, 100))
            let status = try #require(try await fixture.board.status(job))
            #expect((status.state, status.passes.live, status.job.passCount, status.job.plan) == (.probing, 1, 0, 0))
            #expect(status.job.source == "film.mkv" && status.job.encoders.isEmpty)
            #expect(try await fixture.board.live(job) == [-1: WorkerID("c1")])
            #expect(try await begin(as: "c2") == .probing)
            #expect(try await fixture.claim() == nil)
            #expect(try await fixture.board.audit() == Audit(jobs: 1, repairs: 0))
            #expect(try await fixture.publish(BoardFixture.job(), holding: claim) == .published)
            #expect(try await begin() == .running)
            #expect(try await fixture.board.live(job).isEmpty)
            #expect(try fixture.raw("ZCARD", "reel2:{main}:lease") == "0")
            // Its reply was lost.
            #expect(try await fixture.publish(BoardFixture.job(), holding: claim) == .published)
            #expect(try await fixture.take().plan == 1)
        }

        @Test func aWorkerGoesOnWithAProbeThatWasHandedBack() async throws {
            let claim = try await fixture.begin()
            try await fixture.beat("w1")
            #expect(try await leave("c1", claim) == .stays)
            #expect(try await attend("c1", claim)?.holds == false)
            #expect(try await fixture.board.claim(BoardFixture.offer(memory: 99)) == nil)
            #expect(try await fixture.board.claim(BoardFixture.offer(protocolVersion: 2)) == nil)
            // No encoders are asked for it.
            let probe = try #require(try await fixture.board.claim(BoardFixture.offer(encoders: [])))
            #expect((probe.index, probe.work, probe.plan) == (-1, .planning, 0))
            #expect(try await fixture.beat(holding: [probe, claim]).answers == [probe.token: .ok, claim.token: .lost])
            let workers = try await fixture.board.workers()
            #expect(workers.first?.holds[probe.token]?.work == .planning)
            #expect(try await fixture.publish(BoardFixture.job(), holding: claim) == .lost)
            #expect(try await fixture.publish(BoardFixture.job(), holding: probe) == .published)
            #expect(try await fixture.beat(holding: [probe]).answers == [probe.token: .lost])
        }

        @Test func aFreeProbeGoesToTheNextSubmitter() async throws {
            let first = try await fixture.begin()
            #expect(try await attend("c2") == Attendance(state: .probing, holds: false, isFree: false))
            try await fixture.board.release(first)
            #expect(try await attend("c2") == Attendance(state: .probing, holds: false, isFree: true))
            let second = try await fixture.begin(as: "c2")
            #expect(second.token != first.token)
            try await fixture.fail(second, .transient, by: "c2")
            // It waits for its next attempt.
            #expect(try await attend("c2")?.isFree == false)
            #expect(try await fixture.claim() == nil)
            try fixture.makeDue()
            #expect(try await attend("c2")?.isFree == true)
            #expect(try await fixture.take().work == .planning)
        }

        @Test func attendingExtendsTheLeaseOfItsOwnProbeOnly() async throws {
            let claim = try await fixture.begin()
            try fixture.lapse()
            #expect(try await attend("c2")?.holds == false)
            #expect(try await attend("c1", claim) == Attendance(state: .probing, holds: true, isFree: false))
            #expect(try await fixture.reaper().reap() == 0)
            try await fixture.lapseOne()
            #expect(try await attend("c1", claim) == Attendance(state: .probing, holds: false, isFree: true))
            #expect(try await fixture.board.attend(JobID("none"), waiter: "c1") == nil)
            #expect(try await fixture.board.workers().isEmpty)
        }

        @Test func aPausedJobIsNotProbedAndStaysPaused() async throws {
            let claim = try await fixture.begin()
            #expect(try await fixture.board.pause(job) == .probing)
            try await fixture.board.release(claim)
            #expect(try await attend("c1")?.isFree == false)
            #expect(try await begin() == .probing)
            #expect(try await fixture.claim() == nil)
            #expect(try await fixture.board.resume(job) == .probing)
            let probe = try await fixture.take()
            _ = try await fixture.board.pause(job)
            #expect(try await fixture.publish(BoardFixture.job(), holding: probe) == .published)
            #expect(try await fixture.claim() == nil)
            #expect(try await fixture.board.status(job)?.isPaused == true)
            _ = try await fixture.board.resume(job)
            #expect(try await fixture.take().index == 0)
        }

        @Test(arguments: [(FailureCause.transient, 5), (.crash, 3), (.lost, 20), (.limit, 2), (.permanent, 1)])
        func attemptsAreChargedAsAPassesAre(_ cause: FailureCause, limit: Int) async throws {
            try await fixture.beat("w1")
            try await fixture.board.release(fixture.begin())
            for attempt in 1...limit {
                let probe = try await fixture.take()
                #expect(probe.need == (cause == .limit && attempt > 1 ? 200 : 100))
                #expect(try await fixture.fail(probe, cause) == (attempt < limit ? .retry : .jobFailed))
                try fixture.makeDue()
            }
            let status = try #require(try await fixture.board.status(job))
            #expect(status.state == .failed && status.isRefused && status.passes.exhausted == 0)
            #expect(status.failures.map(\.index) == [-1])
            let last = ReelFailure.sample(cause, "it broke")
            if cause == .permanent { #expect(status.failure == last) }
            if cause == .crash {
                #expect(status.failure == ReelFailure(.passExhausted(pass: -1, attempts: 3, last: last)))
            }
            // A user may retry it.
            #expect(try await fixture.board.retry(job) == .failed)
            #expect(try await fixture.board.status(job)?.failure == nil)
            #expect(try await fixture.take().work == .planning)
        }

        @Test func aHostThatCannotProbeIsExcluded() async throws {
            try await fixture.beatOnTwoHosts()
            try await fixture.board.release(fixture.begin())
            #expect(try await fixture.fail(fixture.take("w1"), .incompatible) == .retry)
            #expect(try await fixture.claim("w1") == nil)
            #expect(try await fixture.fail(fixture.take("w2"), .incompatible, by: "w2") == .jobFailed)
            let last = ReelFailure.sample(.incompatible, "it broke")
            let status = try await fixture.board.status(job)
            #expect(status?.failure == ReelFailure(.noWorkerCan(host: "two", last: last)))
            #expect(status?.isRefused == true)
        }

        @Test func aFailureAfterThePlanIsNotARefusal() async throws {
            try await fixture.publish()
            _ = try await attend("c1")
            try await fixture.fail(fixture.take(), .permanent)
            #expect(try await fixture.board.status(job)?.isRefused == false)
            #expect(try await leave("c1", abandoning: true) == .stays)
        }

        @Test func aCancelledProbeTellsItsHolder() async throws {
            let claim = try await fixture.begin()
            #expect(try await fixture.board.cancel(job))
            #expect(try await attend("c1", claim) == Attendance(state: .cancelled, holds: false, isFree: false))
            #expect(try await fixture.beat(holding: [claim]).answers == [claim.token: .cancel])
            #expect(try await fixture.publish(BoardFixture.job(), holding: claim) == .cancelled)
        }

        @Test func anEndedJobBeginsAfresh() async throws {
            try await fixture.publish()
            let (first, second) = (try await fixture.take(), try await fixture.take())
            try await fixture.complete(first)
            try await fixture.fail(second, .permanent)
            let before = try #require(try await fixture.board.status(job)).created
            let probe = try await fixture.begin()
            let status = try #require(try await fixture.board.status(job))
            #expect(status.state == .probing && status.failureCount == 0 && status.finished == nil)
            #expect(status.created >= before && status.framesEncoded == 0)
            #expect(try await fixture.board.results(job).isEmpty)
            #expect(try await fixture.board.passDiagnostics(job).isEmpty)
            #expect(try fixture.raw("ZCARD", "reel2:{main}:failed") == "0")
            #expect(try fixture.raw("TTL", "reel2:{main}:job:a1") == "-1")
            // The passes of an earlier publisher are gone, too.
            try fixture.raw("HSET", "reel2:{main}:job:a1:done", "0", "t {}")
            var job = BoardFixture.job(passes: 1)
            job.plan = 2
            #expect(try await fixture.publish(job, holding: probe) == .published)
            #expect(try await fixture.take().plan == 2)
        }

        @Test func theLastThatLeavesARefusedJobRemovesIt() async throws {
            let claim = try await fixture.begin()
            for waiter in ["c1", "c2", "gone"] { _ = try await attend(waiter) }
            #expect(try await fixture.fail(claim, .permanent, by: "c1") == .jobFailed)
            #expect(try fixture.raw("PTTL", "reel2:{main}:job:a1:waiters") != "-1")
            #expect(try await leave("c1", claim) == .stays)
            try fixture.raw("ZADD", "reel2:{main}:job:a1:waiters", "1", "gone")
            let removal: Removal = try #require(try await leave("c2").removal)
            // No other process removes it at the same time, and it cannot begin again before that.
            #expect(try await leave("c3") == .stays)
            #expect(try await leave("c2").removal == removal)
            #expect(try await begin() == .busy)
            #expect(try await fixture.board.retry(job) == nil)
            try await fixture.board.forget(job, removal: removal)
            #expect(try await fixture.state() == nil)
            #expect(try fixture.raw("KEYS", "*a1*").isEmpty)
            #expect(try await begin() != .busy)
        }

        @Test func aRemovalThatComesTooLateChangesNothing() async throws {
            let claim = try await fixture.begin()
            let removal: Removal = try #require(try await leave("c1", claim, abandoning: true).removal)
            #expect(try await fixture.state() == .cancelled)
            // A lease later.
            try fixture.raw("HSET", "reel2:{main}:job:a1", "removing", "c1 1")
            let next = try await fixture.begin(as: "c2")
            try await fixture.board.forget(job, removal: removal)
            #expect(try await attend("c2", next)?.holds == true)
            #expect(try await fixture.fail(next, .permanent, by: "c2") == .jobFailed)
            try await fixture.board.forget(job, removal: removal)
            #expect(try await fixture.state() == .failed)
        }

        @Test func anAbandonedJobIsLeftToTheProcessesThatWait() async throws {
            let claim = try await fixture.begin()
            for waiter in ["c1", "c2"] { _ = try await attend(waiter) }
            #expect(try await leave("c1", claim, abandoning: true) == .stays)
            // It was handed back without charge, and a worker takes it.
            let probe = try await fixture.take()
            #expect(try await fixture.board.status(job)?.failureCount == 0)
            #expect(try await leave("c2", abandoning: true) == .stays)
            #expect(try await fixture.state() == .probing)
            try await fixture.board.release(probe)
            #expect(try await leave("c2", abandoning: true) != .stays)
            #expect(try await fixture.state() == .cancelled)
            #expect(try fixture.raw("ZCARD", "reel2:{main}:lease") == "0")
        }
    }

    /// Which programs may use a board.
    @Suite struct Versions {
        let fixture: BoardFixture
        init() throws { fixture = try BoardFixture() }

        private func refusal(_ call: () async throws -> Void) async -> FailureReason? {
            do {
                try await call()
                return nil
            } catch {
                return (error as? ReelFailure)?.reason
            }
        }

        private func everyRefusal() async -> [FailureReason?] {
            [
                await refusal { _ = try await fixture.begin() }, await refusal { _ = try await fixture.claim() },
                await refusal { try await fixture.beat() },
            ]
        }

        @Test func anEmptyBoardIsOfThisVersionWithItsFirstUse() async throws {
            try await fixture.publish()
            #expect(try fixture.raw("GET", "reel2:{main}:schema") == "2")
            #expect(try await fixture.take().index == 0)
        }

        @Test func aLaterBoardIsRefused() async throws {
            try fixture.raw("SET", "reel2:{main}:schema", "3")
            let refused = FailureReason.boardOfOtherVersion(found: 3, known: 2)
            #expect(await everyRefusal() == [refused, refused, refused])
            #expect(ReelFailure(refused).cause == .incompatible && ReelFailure(refused).exitCode == 4)
            #expect(try fixture.raw("KEYS", "*") == "reel2:{main}:schema")
        }
    }
}
