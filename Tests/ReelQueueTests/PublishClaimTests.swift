import ReelCore
import ReelQueue
import ReelTestSupport
import Testing

extension BoardTests {
    @Suite struct Publishing {
        let bench: Bench
        init() throws { bench = try Bench() }

        @Test func nothingIsRunnableBeforeTheLastScript() async throws {
            let probe = try await bench.begin(Bench.job(passes: 2))
            #expect(try await bench.state() == .probing)
            // As an interrupted publisher leaves it: everything but the last script.
            try bench.raw("HSET", "reel2:{main}:job:a1:passes", "0", "audio [0]", "1", "audio [0]", "2", "audio [0]")
            #expect(try await bench.claim() == nil)
            #expect(try await bench.publish(Bench.job(passes: 2), holding: probe) == .published)
            #expect(try bench.raw("HLEN", "reel2:{main}:job:a1:passes") == "2")
            #expect(try await bench.take().index == 0)
        }

        @Test func aJobWithoutPassesIsItsAssembly() async throws {
            var job = Bench.job(passes: 0)
            job.frames = 42
            #expect(try await bench.publish(job) == .published)
            #expect(try await bench.state() == .assembling)
            #expect(try await bench.publish(job) == .running)
            let lost = try await bench.take()
            #expect((lost.index, lost.pass, lost.need) == (0, .assembly, 100))
            try bench.lapse()
            #expect(try await bench.reaper().reap() == 1)

            // Its holder's frames count, since no worker made them before.
            let claim = try await bench.take("w2")
            let held = WorkerReport.Held(
                job: claim.job, index: 0, token: claim.token, plan: 1, decoded: 0, encoded: 17, wholeChunks: 0)
            let report = WorkerReport(
                worker: WorkerID("w2"), host: "h2", slots: 1, memoryTotal: 1000, encoders: [], protocolVersion: 1,
                held: [held])
            #expect(try await bench.board.beat(report).answers == [claim.token: .ok])
            let status = try #require(try await bench.board.status(claim.job))
            #expect((status.framesEncoded, status.passes.live, status.passes.ready) == (17, 1, 0))
            #expect(try await bench.board.strip(claim.job, cells: 8) == nil)

            let result = PassResult(segments: [], statistics: PassStatistics(framesEncoded: 42), diagnostics: [])
            #expect(try await bench.board.complete(claim, worker: WorkerID("w2"), result: result) == .ok)
            let end = try #require(try await bench.board.status(claim.job))
            #expect((end.state, end.framesEncoded, end.passes.done) == (.done, 42, 0))
            #expect(try await bench.board.audit().repairs == 0)
        }

        @Test func aPublisherThatDiesLeavesNothingRunnable() async throws {
            let job = Bench.job(passes: 20_000)
            let publisher = Board(try RedisAddress(bench.server.url), name: "publisher")
            let publishing = Task { try await publisher.put(job, passes: Bench.passes(20_000)) }
            let deadline = ContinuousClock.now + .seconds(10)
            while try bench.raw("HLEN", "reel2:{main}:job:a1:passes") == "0", ContinuousClock.now < deadline {
                await Task.yield()
            }
            let line = try #require(
                try bench.raw("CLIENT", "LIST").split(separator: "\n").first { $0.contains("name=publisher") })
            let id = try #require(line.firstMatch(of: /id=(\d+)/)?.1)
            try bench.raw("CLIENT", "KILL", "ID", String(id))
            await #expect(throws: ReelFailure.self) { try await publishing.value }

            #expect(try await bench.state() == .probing)
            #expect(try await bench.claim() == nil)
            // Its lease lapses, and a worker takes the probe.
            try bench.lapse()
            #expect(try await bench.reaper().reap() == 1)
            let probe = try await bench.take()
            #expect((probe.index, probe.pass, probe.plan) == (-1, .probe, 0))
            #expect(try await bench.publish(job, holding: probe) == .published)
            #expect(try bench.raw("HLEN", "reel2:{main}:job:a1:passes") == "20000")
            #expect(try await bench.take().index == 0)
        }

        @Test func publishingAgainAttaches() async throws {
            #expect(try await bench.publish() == .published)
            let claim = try await bench.take()
            #expect(try await bench.publish() == .running)
            #expect(try await bench.take().index == 1)
            #expect(try await bench.complete(claim) == .ok)
            #expect(try await bench.board.status(claim.job)?.passes.done == 1)
        }

        @Test func concurrentPublishersGiveOneJob() async throws {
            let boards = try (0..<4).map { _ in try Bench.open(bench.server) }
            let job = Bench.job(passes: 1200)
            let answers = try await withThrowingTaskGroup(of: Put.self) { group in
                for board in boards { group.addTask { try await board.put(job, passes: Bench.passes(1200)) } }
                return try await group.reduce(into: [Put]()) { $0.append($1) }
            }
            #expect(answers.count { $0 == .published } == 1)
            #expect(answers.count { $0 == .probing || $0 == .running } == 3)
            #expect(try bench.raw("HLEN", "reel2:{main}:job:a1:passes") == "1200")
        }

        @Test func aFailedJobRunsAgainAndKeepsWhatIsFinished() async throws {
            try await bench.publish()
            try await bench.complete(bench.take())
            try await bench.fail(bench.take(), .permanent)
            #expect(try await bench.state() == .failed)
            #expect(try await bench.board.retry(JobID("a1")) == .failed)
            let status = try #require(try await bench.board.status(JobID("a1")))
            #expect(status.state == .running)
            #expect(status.failure == nil)
            #expect(status.failures.isEmpty)
            #expect(status.finished == nil)
            #expect(status.passes.done == 1)
            #expect(try await bench.take().index == 1)
            #expect(try await bench.take().index == 2)
            #expect(try await bench.claimReady() == nil)
            #expect(try bench.raw("TTL", "reel2:{main}:job:a1") == "-1")
            #expect(try bench.raw("TTL", "reel2:{main}:job:a1:done") == "-1")
        }

        @Test func aJobCancelledWhilePublishedStaysCancelled() async throws {
            let probe = try await bench.begin()
            #expect(try await bench.board.cancel(JobID("a1")))
            #expect(try await bench.claim() == nil)
            #expect(try await bench.publish(Bench.job(), holding: probe) == .cancelled)
            #expect(try await bench.state() == .cancelled)
            #expect(try await bench.publish() == .published)
            #expect(try await bench.take().index == 0)
            #expect(try await bench.publish(Bench.job(), holding: probe) == .lost)
        }

        @Test func contradictionsAreRefused() async throws {
            await #expect(throws: ReelFailure.self) {
                try await bench.board.put(Bench.job(passes: 2), passes: Bench.passes(3))
            }
            await #expect(throws: ReelFailure.self) {
                try await bench.board.put(Bench.job(passes: 2, weight: 0), passes: Bench.passes(2))
            }
            var unplanned = Bench.job("b2", passes: 2)
            unplanned.plan = 0
            for job in [unplanned, Bench.job("c3", passes: 2)] {
                let probe = try await bench.begin(Bench.job("b2", passes: 2))
                let refusal = await #expect(throws: ReelFailure.self) {
                    try await bench.publish(job, holding: probe)
                }
                #expect(refusal?.kind == .usage)
                try await bench.board.release(probe)
            }
            #expect(try await bench.state("b2") == .probing)
        }

        @Test func aJobOfNoPassesIsItsAssembly() async throws {
            try await bench.publish(Bench.job(passes: 0))
            let claim = try await bench.take()
            #expect(claim.pass == .assembly)
            #expect(try await bench.complete(claim) == .ok)
            #expect(try await bench.state() == .done)
        }

        @Test func aPassOnTheBoardIsShort() async throws {
            let large = Int.max - 1
            let pass = Pass.video(
                VideoPass(randomAccessPoint: large, frames: large - 1_000_000_000..<large, chunkCount: 1_000_000_000))
            let job = Bench.job(passes: 2)
            _ = try await bench.board.put(job, passes: [pass, .audio(large)])
            for index in ["0", "1"] {
                let bytes = try #require(Int(try bench.raw("HSTRLEN", "reel2:{main}:job:a1:passes", index)))
                #expect((1...200).contains(bytes))
            }
            #expect(try await bench.take().pass == pass)
            #expect(try await bench.take().pass == .audio(large))
        }
    }

    @Suite struct Claiming {
        let bench: Bench
        init() throws { bench = try Bench() }

        @Test func passesComeInOrderThenNothing() async throws {
            try await bench.publish()
            var claims: [Claim] = []
            while let claim = try await bench.claim() { claims.append(claim) }
            #expect(claims.map(\.index) == [0, 1, 2])
            #expect(claims.map(\.pass) == Bench.passes(3))
            #expect(claims.allSatisfy { $0.job == JobID("a1") && $0.token.count == 32 })
            #expect(Set(claims.map(\.token)).count == 3)
            let live = try await bench.board.live(JobID("a1"))
            #expect(live == [0: WorkerID("w1"), 1: WorkerID("w1"), 2: WorkerID("w1")])
        }

        @Test(arguments: [
            Bench.offer(memory: 99), Bench.offer(encoders: ["libx264 2", "aac 2"]), Bench.offer(encoders: []),
            Bench.offer(protocolVersion: 2),
        ])
        func whatDoesNotFitStaysForOthers(_ offer: WorkerOffer) async throws {
            try await bench.beat("w1")
            try await bench.beat("w2")
            try await bench.publish()
            #expect(try await bench.board.claim(offer) == nil)
            #expect(try await bench.board.claim(Bench.offer("w2", memory: 100, encoders: ["libx264 1"]))?.index == 0)
        }

        @Test func aWorkerWithoutTheEncoderIsExcludedByName() async throws {
            try await bench.publish()
            try await bench.beat("w1", host: "one")
            try await bench.beat("w2", host: "two")
            #expect(try await bench.board.claim(Bench.offer("w1", encoders: ["libx264 2"])) == nil)
            let status = try #require(try await bench.board.status(JobID("a1")))
            let missed = ReelFailure(.encoderMissing(build: "libx264 1"))
            #expect(status.excluded == ["w1": JobStatus.Exclusion(host: "one", reason: missed)])
            #expect(status.failureCount == 0 && status.state == .running)
            #expect(try await bench.board.claim(Bench.offer("w2", encoders: [])) == nil)
            let failed = try #require(try await bench.board.status(JobID("a1")))
            #expect(failed.state == .failed && failed.passes.exhausted == 0)
            let missing = ReelFailure(.encoderMissing(build: "libx264 1"))
            #expect(failed.failure == ReelFailure(.noWorkerCan(host: "two", last: missing)))
        }

        @Test func manyJobsThatDoNotFitHideNone() async throws {
            for number in 0..<600 { try await bench.publish(Bench.job("big\(number)", passes: 1, need: 5000)) }
            try await bench.publish(Bench.job("small", passes: 1))
            #expect(try await bench.take().job == JobID("small"))
            #expect(try await bench.claim() == nil)
        }

        @Test func aDueRetryGoesFirst() async throws {
            try await bench.publish()
            let first = try await bench.take()
            try await bench.board.release(first)
            #expect(try await bench.take().index == 0)
            #expect(try await bench.take().index == 1)
        }

        @Test func jobsShareByWeight() async throws {
            try await bench.publish(Bench.job("light", passes: 60))
            try await bench.publish(Bench.job("heavy", passes: 60, weight: 3))
            var counts: [String: Int] = [:]
            for _ in 0..<40 { counts[try await bench.take().job.text, default: 0] += 1 }
            #expect(counts == ["light": 10, "heavy": 30])
        }

        @Test func aSmallJobBesideAHugeOneIsSoonGivenOut() async throws {
            try await bench.publish(Bench.job("huge", passes: 1000))
            for _ in 0..<100 { _ = try await bench.take() }
            try await bench.publish(Bench.job("small", passes: 5))
            var claims = 0
            var left = 5
            while left > 0 {
                claims += 1
                if try await bench.take().job == JobID("small") { left -= 1 }
            }
            #expect(claims <= 10)
        }

        @Test func aJobThatJoinsOwesNothingAndIsOwedNothing() async throws {
            try await bench.publish(Bench.job("old", passes: 60))
            for _ in 0..<20 { _ = try await bench.take() }
            try await bench.publish(Bench.job("new", passes: 60))
            var counts: [String: Int] = [:]
            for _ in 0..<20 { counts[try await bench.take().job.text, default: 0] += 1 }
            // The new one starts where the last claim of the old one did: a pass earlier than the old one is now.
            #expect(counts == ["old": 9, "new": 11])
        }

        @Test func aJobThatLeftTheQueueIsOwedNothing() async throws {
            try await bench.publish(Bench.job("busy", passes: 100))
            try await bench.publish(Bench.job("idle", passes: 30))
            for _ in 0..<10 { _ = try await bench.take() }
            #expect(try await bench.board.pause(JobID("idle")) == .running)
            for _ in 0..<40 { _ = try await bench.take() }
            #expect(try await bench.board.resume(JobID("idle")) == .running)
            var counts: [String: Int] = [:]
            for _ in 0..<20 { counts[try await bench.take().job.text, default: 0] += 1 }
            #expect(counts == ["busy": 10, "idle": 10])
        }

        @Test func aJobThatNoWorkerCanTakeGivesNewOnesNoAdvantage() async throws {
            try await bench.publish(Bench.job("stuck", passes: 10, need: 5000))
            try await bench.publish(Bench.job("old", passes: 100))
            for _ in 0..<50 { _ = try await bench.take() }
            try await bench.publish(Bench.job("new", passes: 60))
            var counts: [String: Int] = [:]
            for _ in 0..<20 { counts[try await bench.take().job.text, default: 0] += 1 }
            #expect(counts == ["old": 9, "new": 11])
        }

        @Test func aJobThatRunsAgainOwesWhatItOwed() async throws {
            try await bench.publish(Bench.job("big", passes: 2, framesEach: 30))
            let held = try await bench.take()
            try await bench.publish(Bench.job("small", passes: 9))
            #expect(try await bench.fail(held, .permanent) == .jobFailed)
            #expect(try await bench.board.retry(JobID("big")) == .failed)
            // One pass of the big job is worth three of the small one.
            var order: [String] = []
            for _ in 0..<4 { order.append(try await bench.take().job.text) }
            #expect(order == ["small", "small", "small", "big"])
        }

        @Test func concurrentClaimsNeverGetTheSamePass() async throws {
            let boards = try (0..<4).map { _ in try Bench.open(bench.server) }
            try await bench.publish(Bench.job(passes: 200))
            let claims = try await withThrowingTaskGroup(of: [Claim].self) { group in
                for (number, board) in boards.enumerated() {
                    group.addTask {
                        var mine: [Claim] = []
                        while let claim = try await board.claim(Bench.offer("w\(number)")) { mine.append(claim) }
                        return mine
                    }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            #expect(claims.map(\.index).sorted() == Array(0..<200))
        }

        @Test func aLongRowOfFinishedPassesIsSkipped() async throws {
            try await bench.publish(Bench.job(passes: 2500))
            for _ in 0..<2499 { try await bench.complete(bench.take()) }
            try await bench.fail(bench.take(), .permanent)
            #expect(try await bench.board.retry(JobID("a1")) == .failed)
            #expect(try await bench.take().index == 2499)
        }

        @Test func waitingEndsWithTheHint() async throws {
            let waiter = try Bench.open(bench.server)
            let started = ContinuousClock.now
            async let waiting: Void = waiter.waitForWork(seconds: 4)
            try await bench.publish()
            try await waiting
            #expect(ContinuousClock.now - started < .seconds(3))
            #expect(try await bench.claim("w2") != nil)
        }

        @Test func waitingEndsByItself() async throws {
            try await bench.board.waitForWork(seconds: 1)
            #expect(try await bench.claim() == nil)
        }
    }
}
