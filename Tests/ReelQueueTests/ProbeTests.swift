import ReelCore
import ReelQueue
import ReelTestSupport
import Testing

extension BoardTests {
    /// A job before it has a plan.
    @Suite struct Probing {
        let bench: Bench
        let job = JobID("a1")
        init() throws { bench = try Bench() }

        private func attend(_ waiter: String, _ claim: Claim? = nil) async throws -> Attendance? {
            try await bench.board.attend(job, waiter: waiter, claim: claim)
        }

        private func leave(_ waiter: String, _ claim: Claim? = nil, abandoning: Bool = false) async throws -> Departure
        {
            try await bench.board.leave(job, waiter: waiter, claim: claim, abandoning: abandoning)
        }

        private func begin(as holder: String = "c1") async throws -> Begun {
            try await bench.board.begin(Bench.job(), holder: WorkerID(holder))
        }

        @Test func theBeginningProcessHoldsTheProbe() async throws {
            let claim = try await bench.begin()
            #expect((claim.index, claim.pass, claim.plan, claim.need) == (-1, .probe, 0, 100))
            let status = try #require(try await bench.board.status(job))
            #expect((status.state, status.passes.live, status.job.passCount, status.job.plan) == (.probing, 1, 0, 0))
            #expect(status.job.source == "film.mkv" && status.job.encoders.isEmpty)
            #expect(try await bench.board.live(job) == [-1: WorkerID("c1")])
            #expect(try await begin(as: "c2") == .probing)
            #expect(try await bench.claim() == nil)
            #expect(try await bench.board.audit() == Audit(jobs: 1, repairs: 0))
            #expect(try await bench.publish(Bench.job(), holding: claim) == .published)
            #expect(try await begin() == .running)
            #expect(try await bench.board.live(job).isEmpty)
            #expect(try bench.raw("ZCARD", "reel2:{main}:lease") == "0")
            // Its reply was lost.
            #expect(try await bench.publish(Bench.job(), holding: claim) == .published)
            #expect(try await bench.take().plan == 1)
        }

        @Test func aWorkerGoesOnWithAProbeThatWasHandedBack() async throws {
            let claim = try await bench.begin()
            try await bench.beat("w1")
            #expect(try await leave("c1", claim) == .stays)
            #expect(try await attend("c1", claim)?.holds == false)
            #expect(try await bench.board.claim(Bench.offer(memory: 99)) == nil)
            #expect(try await bench.board.claim(Bench.offer(protocolVersion: 2)) == nil)
            // No encoders are asked for it.
            let probe = try #require(try await bench.board.claim(Bench.offer(encoders: [])))
            #expect((probe.index, probe.pass, probe.plan) == (-1, .probe, 0))
            #expect(try await bench.beat(holding: [probe, claim]).answers == [probe.token: .ok, claim.token: .lost])
            let workers = try await bench.board.workers()
            #expect(workers.first?.holds[probe.token]?.pass == .probe)
            #expect(try await bench.publish(Bench.job(), holding: claim) == .lost)
            #expect(try await bench.publish(Bench.job(), holding: probe) == .published)
            #expect(try await bench.beat(holding: [probe]).answers == [probe.token: .lost])
        }

        @Test func aFreeProbeGoesToTheNextSubmitter() async throws {
            let first = try await bench.begin()
            #expect(try await attend("c2") == Attendance(state: .probing, holds: false, isFree: false))
            try await bench.board.release(first)
            #expect(try await attend("c2") == Attendance(state: .probing, holds: false, isFree: true))
            let second = try await bench.begin(as: "c2")
            #expect(second.token != first.token)
            try await bench.fail(second, .transient, by: "c2")
            // It waits for its next attempt.
            #expect(try await attend("c2")?.isFree == false)
            #expect(try await bench.claim() == nil)
            try bench.makeDue()
            #expect(try await attend("c2")?.isFree == true)
            #expect(try await bench.take().pass == .probe)
        }

        @Test func attendingExtendsTheLeaseOfItsOwnProbeOnly() async throws {
            let claim = try await bench.begin()
            try bench.lapse()
            #expect(try await attend("c2")?.holds == false)
            #expect(try await attend("c1", claim) == Attendance(state: .probing, holds: true, isFree: false))
            #expect(try await bench.reaper().reap() == 0)
            try bench.lapse()
            #expect(try await bench.reaper().reap() == 1)
            #expect(try await attend("c1", claim) == Attendance(state: .probing, holds: false, isFree: true))
            #expect(try await bench.board.attend(JobID("none"), waiter: "c1") == nil)
            #expect(try await bench.board.workers().isEmpty)
        }

        @Test func aPausedJobIsNotProbedAndStaysPaused() async throws {
            let claim = try await bench.begin()
            #expect(try await bench.board.pause(job) == .probing)
            try await bench.board.release(claim)
            #expect(try await attend("c1")?.isFree == false)
            #expect(try await begin() == .probing)
            #expect(try await bench.claim() == nil)
            #expect(try await bench.board.resume(job) == .probing)
            let probe = try await bench.take()
            _ = try await bench.board.pause(job)
            #expect(try await bench.publish(Bench.job(), holding: probe) == .published)
            #expect(try await bench.claim() == nil)
            #expect(try await bench.board.status(job)?.isPaused == true)
            _ = try await bench.board.resume(job)
            #expect(try await bench.take().index == 0)
        }

        @Test(arguments: [
            (FailureCause.transient, 5), (.crash, 3), (.lost, 20), (.limit, 2), (.permanent, 1),
        ])
        func attemptsAreChargedAsAPassesAre(_ cause: FailureCause, limit: Int) async throws {
            try await bench.beat("w1")
            try await bench.board.release(bench.begin())
            for attempt in 1...limit {
                let probe = try await bench.take()
                #expect(probe.need == (cause == .limit && attempt > 1 ? 200 : 100))
                #expect(try await bench.fail(probe, cause) == (attempt < limit ? .retry : .jobFailed))
                try bench.makeDue()
            }
            let status = try #require(try await bench.board.status(job))
            #expect(status.state == .failed && status.isRefused && status.passes.exhausted == 0)
            #expect(status.failures.map(\.index) == [-1])
            let last = ReelFailure.sample(cause, "it broke")
            if cause == .permanent { #expect(status.failure == last) }
            if cause == .crash {
                #expect(status.failure == ReelFailure(.passExhausted(pass: -1, attempts: 3, last: last)))
            }
            // A user may retry it.
            #expect(try await bench.board.retry(job) == .failed)
            #expect(try await bench.board.status(job)?.failure == nil)
            #expect(try await bench.take().pass == .probe)
        }

        @Test func aHostThatCannotProbeIsExcluded() async throws {
            try await bench.beat("w1", host: "one")
            try await bench.beat("w2", host: "two")
            try await bench.board.release(bench.begin())
            #expect(try await bench.fail(bench.take("w1"), .incompatible) == .retry)
            #expect(try await bench.claim("w1") == nil)
            #expect(try await bench.fail(bench.take("w2"), .incompatible, by: "w2") == .jobFailed)
            let last = ReelFailure.sample(.incompatible, "it broke")
            let status = try await bench.board.status(job)
            #expect(status?.failure == ReelFailure(.noWorkerCan(host: "two", last: last)))
            #expect(status?.isRefused == true)
        }

        @Test func aFailureAfterThePlanIsNotARefusal() async throws {
            try await bench.publish()
            _ = try await attend("c1")
            try await bench.fail(bench.take(), .permanent)
            #expect(try await bench.board.status(job)?.isRefused == false)
            #expect(try await leave("c1", abandoning: true) == .stays)
        }

        @Test func aCancelledProbeTellsItsHolder() async throws {
            let claim = try await bench.begin()
            #expect(try await bench.board.cancel(job))
            #expect(try await attend("c1", claim) == Attendance(state: .cancelled, holds: false, isFree: false))
            #expect(try await bench.beat(holding: [claim]).answers == [claim.token: .cancel])
            #expect(try await bench.publish(Bench.job(), holding: claim) == .cancelled)
        }

        @Test func anEndedJobBeginsAfresh() async throws {
            try await bench.publish()
            let (first, second) = (try await bench.take(), try await bench.take())
            try await bench.complete(first)
            try await bench.fail(second, .permanent)
            let before = try #require(try await bench.board.status(job)).created
            let probe = try await bench.begin()
            let status = try #require(try await bench.board.status(job))
            #expect(status.state == .probing && status.failureCount == 0 && status.finished == nil)
            #expect(status.created >= before && status.framesEncoded == 0)
            #expect(try await bench.board.results(job).isEmpty)
            #expect(try await bench.board.passDiagnostics(job).isEmpty)
            #expect(try bench.raw("ZCARD", "reel2:{main}:failed") == "0")
            #expect(try bench.raw("TTL", "reel2:{main}:job:a1") == "-1")
            // The passes of an earlier publisher are gone, too.
            try bench.raw("HSET", "reel2:{main}:job:a1:done", "0", "t {}")
            var job = Bench.job(passes: 1)
            job.plan = 2
            #expect(try await bench.publish(job, holding: probe) == .published)
            #expect(try await bench.take().plan == 2)
        }

        @Test func theLastThatLeavesARefusedJobRemovesIt() async throws {
            let claim = try await bench.begin()
            for waiter in ["c1", "c2", "gone"] { _ = try await attend(waiter) }
            #expect(try await bench.fail(claim, .permanent, by: "c1") == .jobFailed)
            #expect(try bench.raw("PTTL", "reel2:{main}:job:a1:waiters") != "-1")
            #expect(try await leave("c1", claim) == .stays)
            try bench.raw("ZADD", "reel2:{main}:job:a1:waiters", "1", "gone")
            let removal: Removal = try #require(try await leave("c2").removal)
            // No other process removes it at the same time, and it cannot begin again before that.
            #expect(try await leave("c3") == .stays)
            #expect(try await leave("c2").removal == removal)
            #expect(try await begin() == .busy)
            #expect(try await bench.board.retry(job) == nil)
            try await bench.board.forget(job, removal: removal)
            #expect(try await bench.state() == nil)
            #expect(try bench.raw("KEYS", "*a1*").isEmpty)
            #expect(try await begin() != .busy)
        }

        @Test func aRemovalThatComesTooLateChangesNothing() async throws {
            let claim = try await bench.begin()
            let removal: Removal = try #require(try await leave("c1", claim, abandoning: true).removal)
            #expect(try await bench.state() == .cancelled)
            // A lease later.
            try bench.raw("HSET", "reel2:{main}:job:a1", "removing", "c1 1")
            let next = try await bench.begin(as: "c2")
            try await bench.board.forget(job, removal: removal)
            #expect(try await attend("c2", next)?.holds == true)
            #expect(try await bench.fail(next, .permanent, by: "c2") == .jobFailed)
            try await bench.board.forget(job, removal: removal)
            #expect(try await bench.state() == .failed)
        }

        @Test func anAbandonedJobIsLeftToTheProcessesThatWait() async throws {
            let claim = try await bench.begin()
            for waiter in ["c1", "c2"] { _ = try await attend(waiter) }
            #expect(try await leave("c1", claim, abandoning: true) == .stays)
            // It was handed back without charge, and a worker takes it.
            let probe = try await bench.take()
            #expect(try await bench.board.status(job)?.failureCount == 0)
            #expect(try await leave("c2", abandoning: true) == .stays)
            #expect(try await bench.state() == .probing)
            try await bench.board.release(probe)
            #expect(try await leave("c2", abandoning: true) != .stays)
            #expect(try await bench.state() == .cancelled)
            #expect(try bench.raw("ZCARD", "reel2:{main}:lease") == "0")
        }
    }

    /// Which programs may use a board.
    @Suite struct Versions {
        let bench: Bench
        init() throws { bench = try Bench() }

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
                await refusal { _ = try await bench.begin() }, await refusal { _ = try await bench.claim() },
                await refusal { try await bench.beat() },
            ]
        }

        @Test func anEmptyBoardIsOfThisVersionWithItsFirstUse() async throws {
            try await bench.publish()
            #expect(try bench.raw("GET", "reel2:{main}:schema") == "2")
            #expect(try await bench.take().index == 0)
        }

        @Test func aLaterBoardIsRefused() async throws {
            try bench.raw("SET", "reel2:{main}:schema", "3")
            let refused = FailureReason.boardOfOtherVersion(found: 3, known: 2)
            #expect(await everyRefusal() == [refused, refused, refused])
            #expect(ReelFailure(refused).cause == .incompatible && ReelFailure(refused).exitCode == 4)
            #expect(try bench.raw("KEYS", "*") == "reel2:{main}:schema")
        }

        /// A board as programs of version 1 left it.
        private func makeOld(active: Bool) throws {
            for id in ["x", "y"] {
                try bench.raw("ZADD", "reel:{main}:jobs", "1", id)
                try bench.raw("HSET", "reel:{main}:job:\(id)", "state", "done")
                try bench.raw("HSET", "reel:{main}:job:\(id):passes", "0", #"{"audio":{"_0":0}}"#)
            }
            if active { try bench.raw("ZADD", "reel:{main}:active", "1", "y") }
            try bench.raw("ZADD", "reel:{main}:workers", "1", "w")
            try bench.raw("HSET", "reel:{main}:worker:w", "host", "h")
            try bench.raw("XADD", "reel:{main}:events", "*", "event", "done")
        }

        @Test func anOldBoardWithRunningJobsIsRefused() async throws {
            try makeOld(active: true)
            let before = try bench.raw("DBSIZE")
            let refused = FailureReason.boardOfOtherVersion(found: 1, known: 2)
            #expect(await everyRefusal() == [refused, refused, refused])
            #expect(try bench.raw("DBSIZE") == before)
        }

        @Test func anOldBoardWhoseJobsHaveEndedIsTakenOver() async throws {
            try makeOld(active: false)
            try bench.raw("SET", "other", "stays")
            #expect(try await bench.claim() == nil)
            #expect(try bench.raw("KEYS", "*").split(separator: "\n").sorted() == ["other", "reel2:{main}:schema"])
        }

        @Test func aTornTakeoverContinues() async throws {
            try makeOld(active: false)
            let before = try bench.server.log().count
            #expect(try await bench.claim() == nil)
            let log = try bench.server.log().dropFirst(before)
            #expect(log.count > 5)
            for length in 1..<log.count {
                try bench.raw("FLUSHALL")
                try makeOld(active: false)
                for command in log.prefix(length) { try bench.raw.send(command) }
                #expect(try await bench.claim() == nil)
                #expect(try bench.raw("KEYS", "*") == "reel2:{main}:schema", "torn after \(length)")
            }
        }
    }
}
