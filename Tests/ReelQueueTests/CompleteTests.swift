import ReelCore
import ReelQueue
import ReelTestSupport
import Testing

extension BoardTests {
    @Suite struct Completing {
        let fixture: BoardFixture
        let job = JobID("a1")
        init() throws { fixture = try BoardFixture() }

        @Test func theLastPassReleasesTheAssemblyAndThatEndsTheJob() async throws {
            try await fixture.publish(BoardFixture.job(passes: 2))
            let (first, second) = (try await fixture.take(), try await fixture.take())
            #expect(try await fixture.complete(second) == .ok)
            #expect(try await fixture.state() == .running)
            #expect(try await fixture.claim() == nil)
            #expect(try await fixture.complete(first) == .ok)
            #expect(try await fixture.state() == .assembling)

            let assembly = try await fixture.take()
            #expect(assembly.index == 2)
            #expect(assembly.work == .assembly)
            #expect(try await fixture.claim() == nil)
            #expect(try await fixture.complete(assembly) == .ok)

            let status = try #require(try await fixture.board.status(first.job))
            #expect(status.state == .done)
            #expect(status.passes.done == 2)
            #expect(status.passes.live == 0)
            #expect(status.framesDecoded == 24)
            #expect(status.framesEncoded == 20)
            #expect(status.peakRSS == 1002)
            #expect(try #require(status.finished) >= status.created)
            #expect(status.failure == nil)
            #expect(try fixture.raw("ZCARD", "reel2:{main}:lease") == "0")
            #expect(try fixture.raw("ZCARD", "reel2:{main}:run") == "0")
            #expect(try #require(Int(try fixture.raw("TTL", "reel2:{main}:job:a1"))) > 600_000)
        }

        @Test("crash point: complete applied, reply lost") func againIsADuplicateAlsoAfterTheEnd() async throws {
            try await fixture.publish(BoardFixture.job(passes: 1))
            let claim = try await fixture.take()
            #expect(try await fixture.complete(claim) == .ok)
            #expect(try await fixture.complete(claim) == .duplicate)
            let assembly = try await fixture.take()
            #expect(try await fixture.complete(assembly) == .ok)
            #expect(try await fixture.complete(assembly) == .duplicate)
            #expect(try await fixture.complete(claim) == .duplicate)
            #expect(try await fixture.state() == .done)
        }

        @Test func trimmedResultsLeaveTokensAndTotals() async throws {
            let job = BoardFixture.job(passes: 1200)
            try await fixture.publish(job)
            let first = try await fixture.take()
            try await fixture.complete(first)
            for _ in 1..<1200 { try await fixture.complete(fixture.take()) }
            try await fixture.board.trim(job.id)
            #expect(try await fixture.board.results(job.id).count == 1200, "it is not done")
            let assembly = try await fixture.take()
            try await fixture.complete(assembly)
            let before = try #require(try await fixture.board.status(job.id))
            let full = try #require(Int(try fixture.raw("MEMORY", "USAGE", "reel2:{main}:job:a1:done", "SAMPLES", "0")))
            try await fixture.board.trim(job.id)
            try await fixture.board.trim(job.id)
            let rest = try #require(Int(try fixture.raw("MEMORY", "USAGE", "reel2:{main}:job:a1:done", "SAMPLES", "0")))
            #expect(rest * 2 < full, "\(full) bytes become \(rest)")
            #expect(try fixture.raw("HGET", "reel2:{main}:job:a1:done", "0") == first.token)
            #expect(try await fixture.board.results(job.id).isEmpty)
            let after = try #require(try await fixture.board.status(job.id))
            #expect(after.framesEncoded == before.framesEncoded)
            #expect(after.passes == before.passes)
            #expect(try await fixture.board.strip(job.id, cells: 3)?.cells.map(\.done) == [400, 400, 400])
            #expect(try await fixture.complete(assembly) == .duplicate)
            #expect(try await fixture.complete(first) == .duplicate)
        }

        @Test func theFirstRecordedResultStays() async throws {
            try await fixture.publish(BoardFixture.job(passes: 1))
            let stalled = try await fixture.take()
            try await fixture.lapseOne()
            let other = try await fixture.take("w2")
            #expect(other.token != stalled.token)
            #expect(try await fixture.complete(stalled) == .late)
            #expect(try await fixture.board.live(other.job) == [0: WorkerID("w2")])
            #expect(try await fixture.complete(other, by: "w2") == .ok)
            #expect(try await fixture.complete(stalled) == .late)
            #expect(try await fixture.board.results(other.job) == [0: BoardFixture.result(of: other)])
        }

        @Test func aLapsedPassThatWasNotTakenCanStillBeCompleted() async throws {
            try await fixture.publish(BoardFixture.job(passes: 1))
            let claim = try await fixture.take()
            try await fixture.lapseOne()
            #expect(try await fixture.complete(claim) == .ok)
            #expect(try await fixture.take("w2").work == .assembly)
            #expect(try await fixture.claim("w2") == nil)
        }

        @Test func aTokenThatWasHandedBackCannotComplete() async throws {
            try await fixture.publish(BoardFixture.job(passes: 1))
            let claim = try await fixture.take()
            try await fixture.board.release(claim)
            #expect(try await fixture.complete(claim) == .late)
            #expect(try await fixture.take().index == 0)
        }

        @Test func afterTheEndOfTheJobItIsCancelled() async throws {
            try await fixture.publish()
            let claim = try await fixture.take()
            #expect(try await fixture.board.cancel(claim.job))
            #expect(try await fixture.complete(claim) == .cancelled)
            #expect(try await fixture.board.results(claim.job).isEmpty)
            let unknown = Claim(job: JobID("b2"), index: 0, work: .assembly, token: claim.token, need: 100, plan: 1)
            #expect(try await fixture.complete(unknown) == .cancelled)
        }

        @Test func anAssemblyBeforeItsPassesIsRefused() async throws {
            try await fixture.publish(BoardFixture.job(passes: 2))
            let claim = try await fixture.take()
            for index in [2, 3] {
                let early = Claim(job: claim.job, index: index, work: .assembly, token: claim.token, need: 100, plan: 1)
                await #expect(throws: ReelFailure.self) { try await fixture.complete(early) }
            }
            #expect(try await fixture.board.results(claim.job).isEmpty)
        }

        @Test func resultsOfAnotherPlanChangeNothing() async throws {
            try await fixture.publish(BoardFixture.job(passes: 1))
            let old = try await fixture.take()
            #expect(try await fixture.board.cancel(old.job))
            var job = BoardFixture.job(passes: 1)
            job.plan = 2
            try await fixture.publish(job)
            #expect(try await fixture.beat(holding: [old]).answers == [old.token: .lost])
            #expect(try await fixture.complete(old) == .late)
            #expect(try await fixture.fail(old, .permanent) == .late)
            try await fixture.board.release(old)
            let status = try #require(try await fixture.board.status(old.job))
            #expect((status.state, status.job.plan, status.failureCount) == (.running, 2, 0))
            #expect((status.passes.live, status.passes.done) == (0, 0))
            let new = try await fixture.take("w2")
            #expect((new.index, new.plan) == (0, 2))
            var forged = new
            forged.plan = 1
            #expect(try await fixture.beat("w2", holding: [forged]).answers == [new.token: .lost])
            #expect(try await fixture.fail(forged, .permanent, by: "w2") == .late)
            try await fixture.board.release(forged)
            #expect(try await fixture.complete(forged, by: "w2") == .late)
            #expect(try await fixture.complete(new, by: "w2") == .ok)
        }

        @Test func theProbeHasNoResult() async throws {
            let probe = try await fixture.begin()
            #expect(try await fixture.complete(probe) == .late)
            #expect(try await fixture.beat(holding: [probe]).answers == [probe.token: .ok])
        }

        @Test func concurrentCompletesReleaseTheAssemblyOnce() async throws {
            let boards = try (0..<4).map { _ in try BoardFixture.open(fixture.server) }
            for round in 0..<10 {
                try await fixture.publish(BoardFixture.job("j\(round)", passes: 8))
                var claims: [Claim] = []
                for _ in 0..<8 { claims.append(try await fixture.take()) }
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for (number, claim) in claims.enumerated() {
                        // Each twice, as after a lost reply.
                        for copy in 0..<2 {
                            group.addTask {
                                let board = boards[(number + copy) % 4]
                                _ = try await board.complete(
                                    claim, worker: WorkerID("w"), result: BoardFixture.result(of: claim))
                            }
                        }
                    }
                    try await group.waitForAll()
                }
                let assembly = try await fixture.take()
                #expect(assembly.work == .assembly)
                #expect(try await fixture.claim() == nil)
                let status = try #require(try await fixture.board.status(assembly.job))
                #expect(status.framesEncoded == 80)
                #expect(try await fixture.complete(assembly) == .ok)
            }
        }

        @Test func sumsAreReadFromResultsIfTheTotalsFellBehind() async throws {
            try await fixture.publish()
            for _ in 0..<3 { try await fixture.complete(fixture.take()) }
            let whole = try #require(try await fixture.board.status(JobID("a1")))
            #expect((whole.framesDecoded, whole.framesEncoded, whole.peakRSS) == (36, 30, 1002))
            try fixture.raw("HSET", "reel2:{main}:job:a1", "sum", "2 24 20 1001 0")
            let added = try #require(try await fixture.board.status(JobID("a1")))
            #expect((added.framesDecoded, added.framesEncoded, added.peakRSS) == (36, 30, 1002))
        }

        @Test func theTotalsOfAJobOfRelease010AreRead() async throws {
            try await fixture.publish()
            try await fixture.complete(fixture.take())
            let result = """
                {"diagnostics":[],"segments":[{"name":"v0-10.5f0a.nut","version":2}],"statistics":{"decodeSeconds":0.25,\
                "encodeSeconds":1.5,"framesDecoded":13,"framesEncoded":11,"peakRSS":1003,"waitSeconds":0.125}}
                """
            try fixture.raw("HSET", "reel2:{main}:job:a1", "sum", "1 13 11 1003")
            try fixture.raw("HSET", "reel2:{main}:job:a1:done", "0", "5f0a " + result)
            let status = try #require(try await fixture.board.status(JobID("a1")))
            #expect((status.framesDecoded, status.framesEncoded, status.peakRSS) == (13, 11, 1003))
        }

        /// What a job that never runs again has no use for leaves Redis when the job ends.
        @Test(arguments: [JobState.done, .cancelled, .failed])
        func onlyAFailedJobKeepsTimes(end: JobState) async throws {
            let job = BoardFixture.job(passes: 3)
            try await fixture.publish(job)
            func size(_ part: String) throws -> Int {
                Int(try fixture.raw("HLEN", "reel2:{main}:job:a1:" + part)) ?? -1
            }
            var held = try await fixture.take()
            for _ in 0..<2 {
                try await fixture.complete(held)
                held = try await fixture.take()
            }
            let before = try #require(try await fixture.board.status(job.id))
            switch end {
            case .cancelled: #expect(try await fixture.board.cancel(job.id))
            case .failed: try await fixture.fail(held, .permanent)
            default:
                try await fixture.complete(held)
                let assembly = try await fixture.take()
                #expect(try await fixture.complete(assembly) == .ok)
                // Their answers were lost.
                #expect(try await fixture.complete(assembly) == .duplicate)
                #expect(try await fixture.complete(held) == .duplicate)
            }
            #expect(try await fixture.state() == end)
            // The worker's time for a pass; the failed job may run again.
            #expect(try size("returned") == 0 && size("times") == (end == .failed ? 1 : 0))
            #expect(try size("done") == (end == .done ? 4 : 2))
            let status = try #require(try await fixture.board.status(job.id))
            #expect(status.passes.done == (end == .done ? 3 : 2))
            #expect(status.framesEncoded == (end == .done ? 30 : before.framesEncoded))
            #expect(try await fixture.board.strip(job.id, cells: 3)?.cells.map(\.done) == [1, 1, end == .done ? 1 : 0])
            for part in ["done", "map"] where try fixture.raw("EXISTS", "reel2:{main}:job:a1:" + part) == "1" {
                #expect(try fixture.raw("PTTL", "reel2:{main}:job:a1:" + part) != "-1")
            }
        }

        @Test func cpuTimeAddsUpOverThePassesOfAJob() async throws {
            try await fixture.publish(BoardFixture.job(passes: 2))
            #expect(try await fixture.board.status(JobID("a1"))?.elapsed == nil)
            for _ in 0..<2 {
                let claim = try await fixture.take()
                var result = BoardFixture.result(of: claim)
                result.statistics.cpuSeconds = 1.5
                #expect(try await fixture.board.complete(claim, worker: WorkerID("w1"), result: result) == .ok)
            }
            let status = try #require(try await fixture.board.status(JobID("a1")))
            #expect(status.cpuSeconds == 3)
            #expect(status.elapsed ?? -1 >= 0)
        }

        @Test func thousandsOfResultsAreReadInPages() async throws {
            let job = BoardFixture.job(passes: 3000)
            try await fixture.publish(job)
            for _ in 0..<3000 { try await fixture.complete(fixture.take()) }
            let results = try await fixture.board.results(job.id)
            #expect(results.count == 3000)
            #expect(results[2999]?.statistics.peakRSS == 3999)
            #expect(try await fixture.board.status(job.id)?.framesEncoded == 30_000)
        }

        // MARK: An assembly that begins while passes are still in hand

        /// The first of three passes is finished, the others are held.
        private func tail() async throws -> [Claim] {
            try await fixture.publish()
            try await fixture.complete(fixture.take())
            return [try await fixture.take(), try await fixture.take()]
        }

        @Test func itWaitsForTheLastPassesAndEndsTheJob() async throws {
            let held = try await tail()
            let assembly = try await fixture.take("w2")
            #expect(assembly.work == .assembly && assembly.index == 3)
            #expect(try await fixture.state() == .running)
            #expect(try await fixture.claim("w3") == nil)
            await #expect(throws: ReelFailure.self) { try await fixture.complete(assembly, by: "w2") }
            for pass in held { #expect(try await fixture.complete(pass) == .ok) }
            #expect(try await fixture.state() == .assembling)
            #expect(try await fixture.claim("w3") == nil)
            #expect(try await fixture.beat("w2", holding: [assembly]).answers[assembly.token] == .ok)
            #expect(try await fixture.complete(assembly, by: "w2") == .ok)
            #expect(try await fixture.state() == .done)
        }

        @Test func itBeginsWithTheSoundAndTheVideosEnd() async throws {
            try await fixture.publish(BoardFixture.job(passes: 4, audio: 1))
            let (sound, end, middle, start) = (
                try await fixture.take(), try await fixture.take(), try await fixture.take(), try await fixture.take()
            )
            #expect(sound.work == .audio)
            try await fixture.complete(middle)
            #expect(try await fixture.claim("w2") == nil)
            try await fixture.complete(end)
            #expect(try await fixture.claim("w2") == nil)
            try await fixture.complete(sound)
            #expect(try await fixture.take("w2").work == .assembly)
            try await fixture.complete(start)
            #expect(try await fixture.state() == .assembling)
        }

        @Test func passesThatWaitGoFirst() async throws {
            let held = try await tail()
            try await fixture.fail(held[0], .transient)
            #expect(try await fixture.claim("w2") == nil)
            try fixture.makeDue()
            #expect(try await fixture.take("w2").index == 1)
            #expect(try await fixture.take("w3").work == .assembly)
        }

        /// The next worker would only wait, too; the next pass that is finished offers the assembly again.
        @Test(arguments: ["released", "lost", "failed"])
        func oneThatIsGivenBackComesAgainWithTheNextPass(_ how: String) async throws {
            let held = try await tail()
            let assembly = try await fixture.take("w2")
            switch how {
            case "released": try await fixture.board.release(assembly)
            case "failed": #expect(try await fixture.fail(assembly, .transient, by: "w2") == .retry)
            default:
                try fixture.raw("ZADD", "reel2:{main}:lease", "1", "a1/3/\(assembly.token)")
                #expect(try await fixture.reaper().reap() == 0)
            }
            #expect(try await fixture.claim("w2") == nil)
            #expect(try await fixture.board.retries(job) == 0)
            try await fixture.complete(held[0])
            let again = try await fixture.take("w2")
            #expect(again.work == .assembly && again.token != assembly.token)
            try await fixture.complete(held[1])
            #expect(try await fixture.complete(again, by: "w2") == .ok)
            #expect(try await fixture.state() == .done)
        }

        @Test func onlyExistingResultsAreListed() async throws {
            let held = try await tail()
            #expect(try await fixture.board.results(job, at: [1, 2]).isEmpty)
            try await fixture.complete(held[1])
            #expect(try await fixture.board.results(job, at: [1, 2]) == [2: BoardFixture.result(of: held[1])])
        }
    }
}
