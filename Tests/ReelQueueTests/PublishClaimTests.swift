import ReelCore
import ReelQueue
import ReelTestSupport
import Testing

extension BoardTests {
    @Suite struct Publishing {
        let fixture: BoardFixture
        init() throws { fixture = try BoardFixture() }

        @Test func nothingIsRunnableBeforeTheLastScript() async throws {
            let probe = try await fixture.begin(BoardFixture.job(passes: 2))
            #expect(try await fixture.state() == .probing)
            // As an interrupted publisher of release 0.1.0 leaves it: everything but the last script.
            try fixture.raw("HSET", "reel2:{main}:job:a1:passes", "0", "audio [0]", "1", "audio [0]", "2", "audio [0]")
            #expect(try await fixture.claim() == nil)
            #expect(try await fixture.publish(BoardFixture.job(passes: 2), holding: probe) == .published)
            #expect(try fixture.raw("HLEN", "reel2:{main}:job:a1:passes") == "0")
            #expect(try await fixture.take().index == 0)
        }

        @Test func aJobWithoutPassesIsItsAssembly() async throws {
            var job = BoardFixture.job(passes: 0)
            job.frames = 42
            #expect(try await fixture.publish(job) == .published)
            #expect(try await fixture.state() == .assembling)
            #expect(try await fixture.publish(job) == .running)
            let lost = try await fixture.take()
            #expect((lost.index, lost.work, lost.need) == (0, .assembly, 100))
            try await fixture.lapseOne()

            // Its holder's frames count, since no worker made them before.
            let claim = try await fixture.take("w2")
            let held = WorkerReport.Held(
                job: claim.job, index: 0, token: claim.token, plan: 1, decoded: 0, encoded: 17, wholeChunks: 0)
            let report = WorkerReport(
                worker: WorkerID("w2"), host: "h2", slots: 1, memoryTotal: 1000, encoders: [], protocolVersion: 1,
                held: [held])
            #expect(try await fixture.board.beat(report).answers == [claim.token: .ok])
            let status = try #require(try await fixture.board.status(claim.job))
            #expect((status.framesEncoded, status.passes.live, status.passes.ready) == (17, 1, 0))
            #expect(try await fixture.board.strip(claim.job, cells: 8) == nil)

            let result = PassResult(segments: [], statistics: PassStatistics(framesEncoded: 42), diagnostics: [])
            #expect(try await fixture.board.complete(claim, worker: WorkerID("w2"), result: result) == .ok)
            let end = try #require(try await fixture.board.status(claim.job))
            #expect((end.state, end.framesEncoded, end.passes.done) == (.done, 42, 0))
            #expect(try await fixture.board.audit().repairs == 0)
        }

        @Test func aPublisherThatDiesLeavesNothingRunnable() async throws {
            let job = BoardFixture.job(passes: 2)
            _ = try await fixture.begin(job)
            #expect(try await fixture.state() == .probing)
            #expect(try await fixture.claim() == nil)
            // Its lease lapses, and a worker takes the probe.
            try await fixture.lapseOne()
            let probe = try await fixture.take()
            #expect((probe.index, probe.work, probe.plan) == (-1, .planning, 0))
            #expect(try await fixture.publish(job, holding: probe) == .published)
            #expect(try await fixture.take().index == 0)
        }

        /// However many results there are, they come with the plan in one call.
        @Test func aJobIsPublishedWithAllItsResults() async throws {
            let job = BoardFixture.job(passes: 5001)
            let results = (0..<5000).map { index in
                let told = index % 100 == 7 ? [Diagnostic.said("from \(index)"), .said("again")] : []
                let statistics = PassStatistics(framesDecoded: 3, framesEncoded: 2, peakRSS: Int64(index))
                return RecordedResult(
                    token: "t\(index)", result: PassResult(segments: [], statistics: statistics, diagnostics: told))
            }
            let finished = Dictionary(uniqueKeysWithValues: results.enumerated().map { ($0, $1) })
            #expect(try await fixture.board.put(job, finished: finished) == .published)
            #expect(try fixture.raw("HGET", "reel2:{main}:job:a1", "sum") == "5000 15000 10000 4999 0")
            #expect(try fixture.raw("BITCOUNT", "reel2:{main}:job:a1:map") == "5000")
            #expect(try await fixture.board.recordedResults(job.id) == finished)
            let told = try await fixture.board.passDiagnostics(job.id)
            #expect(told.count == 51 && told.prefix(2) == [.said("again"), .said("from 7")])
            #expect(try await fixture.take().index == 5000)
            #expect(try await fixture.board.audit().repairs == 0)
        }

        @Test func publishingAgainAttaches() async throws {
            #expect(try await fixture.publish() == .published)
            let claim = try await fixture.take()
            #expect(try await fixture.publish() == .running)
            #expect(try await fixture.take().index == 1)
            #expect(try await fixture.complete(claim) == .ok)
            #expect(try await fixture.board.status(claim.job)?.passes.done == 1)
        }

        @Test func concurrentPublishersGiveOneJob() async throws {
            let boards = try (0..<4).map { _ in try BoardFixture.open(fixture.server) }
            let job = BoardFixture.job(passes: 1200)
            let answers = try await withThrowingTaskGroup(of: Put.self) { group in
                for board in boards { group.addTask { try await board.put(job) } }
                return try await group.reduce(into: [Put]()) { $0.append($1) }
            }
            #expect(answers.count { $0 == .published } == 1)
            #expect(answers.count { $0 == .probing || $0 == .running } == 3)
            #expect(try fixture.raw("HGET", "reel2:{main}:job:a1", "passes") == "1200")
        }

        @Test func aFailedJobRunsAgainAndKeepsWhatIsFinished() async throws {
            try await fixture.publish()
            try await fixture.complete(fixture.take())
            try await fixture.fail(fixture.take(), .permanent)
            #expect(try await fixture.state() == .failed)
            #expect(try await fixture.board.retry(JobID("a1")) == .failed)
            let status = try #require(try await fixture.board.status(JobID("a1")))
            #expect(status.state == .running)
            #expect(status.failure == nil)
            #expect(status.failures.isEmpty)
            #expect(status.finished == nil)
            #expect(status.passes.done == 1)
            #expect(try await fixture.take().index == 1)
            #expect(try await fixture.take().index == 2)
            #expect(try await fixture.claimReady() == nil)
            #expect(try fixture.raw("TTL", "reel2:{main}:job:a1") == "-1")
            #expect(try fixture.raw("TTL", "reel2:{main}:job:a1:done") == "-1")
        }

        @Test func aJobCancelledWhilePublishedStaysCancelled() async throws {
            let probe = try await fixture.begin()
            #expect(try await fixture.board.cancel(JobID("a1")))
            #expect(try await fixture.claim() == nil)
            #expect(try await fixture.publish(BoardFixture.job(), holding: probe) == .cancelled)
            #expect(try await fixture.state() == .cancelled)
            #expect(try await fixture.publish() == .published)
            #expect(try await fixture.take().index == 0)
            #expect(try await fixture.publish(BoardFixture.job(), holding: probe) == .lost)
        }

        @Test func contradictionsAreRefused() async throws {
            await #expect(throws: ReelFailure.self) {
                try await fixture.board.put(BoardFixture.job(passes: 2, audio: 3))
            }
            await #expect(throws: ReelFailure.self) {
                try await fixture.board.put(BoardFixture.job(passes: 2, weight: 0))
            }
            var unplanned = BoardFixture.job("b2", passes: 2)
            unplanned.plan = 0
            for job in [unplanned, BoardFixture.job("c3", passes: 2)] {
                let probe = try await fixture.begin(BoardFixture.job("b2", passes: 2))
                let refusal = await #expect(throws: ReelFailure.self) { try await fixture.publish(job, holding: probe) }
                #expect(refusal?.kind == .usage)
                try await fixture.board.release(probe)
            }
            #expect(try await fixture.state("b2") == .probing)
        }

        @Test func aJobOfNoPassesIsItsAssembly() async throws {
            try await fixture.publish(BoardFixture.job(passes: 0))
            let claim = try await fixture.take()
            #expect(claim.work == .assembly)
            #expect(try await fixture.complete(claim) == .ok)
            #expect(try await fixture.state() == .done)
        }

        @Test func theKindOfAPassFollowsFromItsPlace() async throws {
            try await fixture.publish(BoardFixture.job(passes: 3, audio: 2))
            var claims: [Claim] = []
            while let claim = try await fixture.claim() { claims.append(claim) }
            #expect(claims.map(\.work) == [.audio, .audio, .video])
            let job = try #require(try await fixture.board.status(JobID("a1"))?.job)
            #expect((-1...3).map(job.work) == [.planning, .audio, .audio, .video, .assembly])
        }
    }

    @Suite struct Claiming {
        let fixture: BoardFixture
        init() throws { fixture = try BoardFixture() }

        @Test func passesComeInOrderThenNothing() async throws {
            try await fixture.publish()
            var claims: [Claim] = []
            while let claim = try await fixture.claim() { claims.append(claim) }
            #expect(claims.map(\.index) == [0, 1, 2])
            #expect(claims.allSatisfy { $0.work == .video && $0.planHash == "hash of the plan" })
            #expect(claims.allSatisfy { $0.job == JobID("a1") && $0.token.count == 32 })
            #expect(Set(claims.map(\.token)).count == 3)
            let live = try await fixture.board.live(JobID("a1"))
            #expect(live == [0: WorkerID("w1"), 1: WorkerID("w1"), 2: WorkerID("w1")])
        }

        @Test(arguments: [
            BoardFixture.offer(memory: 99), BoardFixture.offer(encoders: ["libx264 2", "aac 2"]),
            BoardFixture.offer(encoders: []), BoardFixture.offer(protocolVersion: 2),
        ])
        func whatDoesNotFitStaysForOthers(_ offer: WorkerOffer) async throws {
            try await fixture.beat("w1")
            try await fixture.beat("w2")
            try await fixture.publish()
            #expect(try await fixture.board.claim(offer) == nil)
            #expect(
                try await fixture.board.claim(BoardFixture.offer("w2", memory: 100, encoders: ["libx264 1"]))?.index
                    == 0)
        }

        @Test func aWorkerWithoutTheEncoderIsExcludedByName() async throws {
            try await fixture.publish()
            try await fixture.beatOnTwoHosts()
            #expect(try await fixture.board.claim(BoardFixture.offer("w1", encoders: ["libx264 2"])) == nil)
            let status = try #require(try await fixture.board.status(JobID("a1")))
            let missed = ReelFailure(.encoderMissing(build: "libx264 1"))
            #expect(status.excluded == ["w1": JobStatus.HostFailure(host: "one", reason: missed)])
            #expect(status.failureCount == 0 && status.state == .running)
            #expect(try await fixture.board.claim(BoardFixture.offer("w2", encoders: [])) == nil)
            let failed = try #require(try await fixture.board.status(JobID("a1")))
            #expect(failed.state == .failed && failed.passes.exhausted == 0)
            let missing = ReelFailure(.encoderMissing(build: "libx264 1"))
            #expect(failed.failure == ReelFailure(.noWorkerCan(host: "two", last: missing)))
        }

        @Test func manyJobsThatDoNotFitHideNone() async throws {
            for number in 0..<600 { try await fixture.publish(BoardFixture.job("big\(number)", passes: 1, need: 5000)) }
            try await fixture.publish(BoardFixture.job("small", passes: 1))
            #expect(try await fixture.take().job == JobID("small"))
            #expect(try await fixture.claim() == nil)
        }

        @Test func aDueRetryGoesFirst() async throws {
            try await fixture.publish()
            let first = try await fixture.take()
            try await fixture.board.release(first)
            #expect(try await fixture.take().index == 0)
            #expect(try await fixture.take().index == 1)
        }

        @Test func jobsShareByWeight() async throws {
            try await fixture.publish(BoardFixture.job("light", passes: 60))
            try await fixture.publish(BoardFixture.job("heavy", passes: 60, weight: 3))
            var counts: [String: Int] = [:]
            for _ in 0..<40 { counts[try await fixture.take().job.text, default: 0] += 1 }
            #expect(counts == ["light": 10, "heavy": 30])
        }

        @Test func aSmallJobBesideAHugeOneIsSoonGivenOut() async throws {
            try await fixture.publish(BoardFixture.job("huge", passes: 1000))
            for _ in 0..<100 { _ = try await fixture.take() }
            try await fixture.publish(BoardFixture.job("small", passes: 5))
            var claims = 0
            var left = 5
            while left > 0 {
                claims += 1
                if try await fixture.take().job == JobID("small") { left -= 1 }
            }
            #expect(claims <= 10)
        }

        @Test func aJobThatJoinsOwesNothingAndIsOwedNothing() async throws {
            try await fixture.publish(BoardFixture.job("old", passes: 60))
            for _ in 0..<20 { _ = try await fixture.take() }
            try await fixture.publish(BoardFixture.job("new", passes: 60))
            var counts: [String: Int] = [:]
            for _ in 0..<20 { counts[try await fixture.take().job.text, default: 0] += 1 }
            // The new one starts where the last claim of the old one did: a pass earlier than the old one is now.
            #expect(counts == ["old": 9, "new": 11])
        }

        @Test func aJobThatLeftTheQueueIsOwedNothing() async throws {
            try await fixture.publish(BoardFixture.job("busy", passes: 100))
            try await fixture.publish(BoardFixture.job("idle", passes: 30))
            for _ in 0..<10 { _ = try await fixture.take() }
            #expect(try await fixture.board.pause(JobID("idle")) == .running)
            for _ in 0..<40 { _ = try await fixture.take() }
            #expect(try await fixture.board.resume(JobID("idle")) == .running)
            var counts: [String: Int] = [:]
            for _ in 0..<20 { counts[try await fixture.take().job.text, default: 0] += 1 }
            #expect(counts == ["busy": 10, "idle": 10])
        }

        @Test func aJobThatNoWorkerCanTakeGivesNewOnesNoAdvantage() async throws {
            try await fixture.publish(BoardFixture.job("stuck", passes: 10, need: 5000))
            try await fixture.publish(BoardFixture.job("old", passes: 100))
            for _ in 0..<50 { _ = try await fixture.take() }
            try await fixture.publish(BoardFixture.job("new", passes: 60))
            var counts: [String: Int] = [:]
            for _ in 0..<20 { counts[try await fixture.take().job.text, default: 0] += 1 }
            #expect(counts == ["old": 9, "new": 11])
        }

        @Test func aJobThatRunsAgainOwesWhatItOwed() async throws {
            try await fixture.publish(BoardFixture.job("big", passes: 2, framesEach: 30))
            let held = try await fixture.take()
            try await fixture.publish(BoardFixture.job("small", passes: 9))
            #expect(try await fixture.fail(held, .permanent) == .jobFailed)
            #expect(try await fixture.board.retry(JobID("big")) == .failed)
            // One pass of the big job is worth three of the small one.
            var order: [String] = []
            for _ in 0..<4 { order.append(try await fixture.take().job.text) }
            #expect(order == ["small", "small", "small", "big"])
        }

        @Test func concurrentClaimsNeverGetTheSamePass() async throws {
            let boards = try (0..<4).map { _ in try BoardFixture.open(fixture.server) }
            try await fixture.publish(BoardFixture.job(passes: 200))
            let claims = try await withThrowingTaskGroup(of: [Claim].self) { group in
                for (number, board) in boards.enumerated() {
                    group.addTask {
                        var mine: [Claim] = []
                        while let claim = try await board.claim(BoardFixture.offer("w\(number)")) { mine.append(claim) }
                        return mine
                    }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            #expect(claims.map(\.index).sorted() == Array(0..<200))
        }

        @Test func aLongRowOfFinishedPassesIsSkipped() async throws {
            try await fixture.publish(BoardFixture.job(passes: 2500))
            for _ in 0..<2499 { try await fixture.complete(fixture.take()) }
            try await fixture.fail(fixture.take(), .permanent)
            #expect(try await fixture.board.retry(JobID("a1")) == .failed)
            #expect(try await fixture.take().index == 2499)
        }

        @Test(.timeLimit(.minutes(10))) func waitingEndsWithTheHint() async throws {
            let waiter = try BoardFixture.open(fixture.server, timing: BoardTiming(answerTimeout: .seconds(7200)))
            async let waiting: Void = waiter.waitForWork(seconds: 3600)
            try await fixture.publish()
            try await waiting
            #expect(try await fixture.claim("w2") != nil)
        }

        @Test func waitingEndsByItself() async throws {
            try await fixture.board.waitForWork(seconds: 1)
            #expect(try await fixture.claim() == nil)
        }
    }
}
