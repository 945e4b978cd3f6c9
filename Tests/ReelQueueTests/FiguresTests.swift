import ReelCore
import ReelQueue
import ReelTestSupport
import Testing

extension BoardTests {
    /// What the board counts, and what is where.
    @Suite struct Figures {
        let fixture: BoardFixture
        init() throws { fixture = try BoardFixture() }

        /// Seconds since 1970, by Redis's clock.
        private func now() throws -> Int { Int(try fixture.raw("TIME").split(separator: "\n")[0]) ?? 0 }

        /// Attempts that ended so, without outcomes that never occurred.
        private func attempts() async throws -> [BoardFigures.Attempt: Int] {
            try await fixture.board.figures().attempts.filter { $0.value > 0 }
        }

        private func beat(
            _ worker: String, host: String, slots: Int, out: Int = 0, holding claims: [Claim] = []
        ) async throws {
            _ = try await fixture.board.beat(
                WorkerReport(
                    worker: WorkerID(worker), host: host, slots: slots, slotsOut: out, memoryTotal: 4000,
                    encoders: ["libx264 1", "aac 2"], protocolVersion: 1,
                    held: claims.map {
                        WorkerReport.Held(
                            job: $0.job, index: $0.index, token: $0.token, plan: $0.plan, decoded: 0, encoded: 0,
                            wholeChunks: 0)
                    }))
        }

        @Test func anEmptyBoard() async throws {
            let figures = try await fixture.board.figures()
            #expect(figures.attempts.count == 3 + FailureCause.allCases.count)
            #expect(figures.attempts.values.allSatisfy { $0 == 0 })
            var rest = figures
            rest.attempts = [:]
            #expect(rest == BoardFigures())
            #expect(figures.slotsWanted == 0)
        }

        @Test func jobsAndPassesByState() async throws {
            try await fixture.beat("w1")
            try await fixture.publish(BoardFixture.job("a1", passes: 5))
            let done = try await fixture.take()
            try await fixture.complete(done)
            try await fixture.fail(fixture.take(), .transient)
            let held = try await fixture.take()
            try await fixture.publish(BoardFixture.job("b2", passes: 4))
            _ = try await fixture.board.pause(JobID("b2"))
            _ = try await fixture.begin(BoardFixture.job("c3"))
            // Two passes of a1 were never given out.
            var figures = try await fixture.board.figures()
            #expect(figures.jobs == BoardFigures.Jobs(probing: 1, running: 1, paused: 1))
            #expect(figures.passes == BoardFigures.Passes(ready: 2, live: 2, retrying: 1, paused: 4, done: 1))
            #expect(figures.oldestReady ?? -1 >= 0 && figures.oldestReady ?? 1e9 < 60)
            try await beat("w1", host: "one", slots: 2, holding: [held])
            figures = try await fixture.board.figures()
            #expect(figures.slotsWanted == 3 && figures.slots.busy == 1 && figures.oldestReady != nil)
            #expect(figures.passes.ready == 2 && figures.passes.live == 2)

            // The retry that is due since 1970 waits longest; then everything of a1 is held.
            try fixture.makeDue()
            figures = try await fixture.board.figures()
            #expect(figures.passes == BoardFigures.Passes(ready: 3, live: 2, retrying: 0, paused: 4, done: 1))
            #expect(abs((figures.oldestReady ?? 0) - Double(try now())) < 5)
            let others = [try await fixture.take(), try await fixture.take(), try await fixture.take()]
            figures = try await fixture.board.figures()
            #expect(figures.passes == BoardFigures.Passes(live: 5, paused: 4, done: 1))
            #expect(figures.oldestReady == nil)
            // Once all video passes but the last are finished, the assembly begins early.
            for claim in [others[0], others[1], others[2]] { try await fixture.complete(claim) }
            let early = try await fixture.take()
            #expect(early.work == .assembly)
            #expect(try await fixture.board.figures().passes == BoardFigures.Passes(live: 3, paused: 4, done: 4))
            try await fixture.board.release(early)
            try await fixture.complete(held)
            figures = try await fixture.board.figures()
            #expect(figures.jobs == BoardFigures.Jobs(probing: 1, assembling: 1, paused: 1))
            #expect(figures.passes == BoardFigures.Passes(ready: 1, live: 1, paused: 4, done: 5))
            try await fixture.complete(fixture.take())
            figures = try await fixture.board.figures()
            #expect(figures.jobs == BoardFigures.Jobs(probing: 1, paused: 1, done: 1))
            #expect(figures.passes == BoardFigures.Passes(live: 1, paused: 4))
            #expect((figures.framesDecoded, figures.framesEncoded) == (60, 50))
            // Three were published, one of them by none yet; five passes and an assembly.
            #expect(try await attempts() == [.done: 8, .failed(.transient): 1, .released: 1])
            #expect(figures.passDuration.count == 5)
            #expect(figures.passWait.count == 6)
        }

        @Test func endedJobsAndHowTheyEnded() async throws {
            func jobs() async throws -> BoardFigures.Jobs { try await fixture.board.figures().jobs }
            try await fixture.publish(BoardFixture.job("a1", passes: 0))
            try await fixture.complete(fixture.take())
            try await fixture.publish(BoardFixture.job("b2", passes: 1))
            try await fixture.fail(fixture.take(), .permanent)
            try await fixture.publish(BoardFixture.job("c3", passes: 1))
            _ = try await fixture.board.cancel(JobID("c3"))
            #expect(try await jobs() == BoardFigures.Jobs(done: 1, failed: 1, cancelled: 1))
            // A job that runs again is in no list of ended jobs, and what it counted stays.
            _ = try await fixture.board.retry(JobID("b2"))
            #expect(try await jobs() == BoardFigures.Jobs(running: 1, done: 1, cancelled: 1))
            try await fixture.fail(fixture.take(), .permanent)
            _ = try await fixture.begin(BoardFixture.job("c3"))
            try await fixture.board.forget(JobID("a1"))
            #expect(try await jobs() == BoardFigures.Jobs(probing: 1, failed: 1))
            #expect(
                try await fixture.board.figures().jobsEnded == BoardFigures.Ended(done: 1, failed: 2, cancelled: 1))
            // One whose keys have expired is on its list until a later job begins.
            try fixture.raw("ZADD", "reel2:{main}:failed", "1", "b2")
            #expect(try await jobs() == BoardFigures.Jobs(probing: 1))
        }

        @Test func attemptsByOutcomeAndCause() async throws {
            try await fixture.beat("w1")
            try await fixture.beat("w2", memory: 4000)
            try await fixture.publish(BoardFixture.job(passes: 8))
            let causes: [FailureCause] = [.transient, .crash, .lost, .limit, .noSpace, .incompatible]
            for cause in causes { #expect(try await fixture.fail(fixture.take("w1"), cause) == .retry) }
            let (released, late) = (try await fixture.take("w2"), try await fixture.take("w2"))
            try await fixture.board.release(released)
            try await fixture.board.release(released)
            #expect(try await fixture.fail(released, .transient) == .late)
            try await fixture.lapseOne()
            // Its work is done all the same: it gets the pass back, and completes it.
            try await fixture.beat("w2", holding: [late])
            #expect(try await fixture.complete(late, by: "w2") == .ok)
            #expect(try await fixture.complete(late, by: "w2") == .duplicate)
            var expected: [BoardFigures.Attempt: Int] = [.done: 2, .lost: 1, .released: 1]
            for cause in causes { expected[.failed(cause)] = 1 }
            #expect(try await attempts() == expected)
            #expect(try await fixture.board.figures().leasesLost == 1)
        }

        @Test func leasesThatLapseWithoutALoss() async throws {
            try await fixture.publish(BoardFixture.job(passes: 2))
            _ = try await fixture.take()
            _ = try await fixture.board.cancel(JobID("a1"))
            try fixture.lapse()
            #expect(try await fixture.reaper().reap() == 0)
            #expect(try await fixture.board.figures().leasesLost == 1)
            #expect(try await attempts() == [.done: 1])
        }

        @Test(
            "a time is in the bucket of the least bound that is not below it",
            arguments: [(2001, 3), (5001, 4), (30_001, 7), (900_001, 11), (3_600_001, 12)])
        func histograms(_ milliseconds: Int, _ bucket: Int) async throws {
            // Offered, and claimed, so long ago.
            func then() throws -> Int {
                let parts = try fixture.raw("TIME").split(separator: "\n").compactMap { Int($0) }
                return parts[0] * 1000 + parts[1] / 1000 - milliseconds
            }
            try await fixture.publish(BoardFixture.job(passes: 1))
            try fixture.raw("HSET", "reel2:{main}:job:a1", "offered", "\(try then())")
            let claim = try await fixture.take()
            try fixture.raw("HSET", "reel2:{main}:job:a1:live", "0", "\(claim.token) \(try then()) 0 0 w1")
            try await fixture.complete(claim)
            // The probe, which took no time, is not counted, nor is the assembly.
            try await fixture.complete(fixture.take())
            let figures = try await fixture.board.figures()
            for histogram in [figures.passWait, figures.passDuration] {
                #expect(histogram.counts.firstIndex(of: 1) == bucket)
                #expect(histogram.count == 1)
                #expect(histogram.counts.count == BoardFigures.Histogram.bounds.count + 1)
                let seconds = Double(milliseconds) / 1000
                #expect(histogram.sum >= seconds && histogram.sum < seconds + 2)
            }
        }

        @Test func slotsByState() async throws {
            try await fixture.publish(BoardFixture.job(passes: 4))
            let claims = [try await fixture.take("w1"), try await fixture.take("w3"), try await fixture.take("w3")]
            try await beat("w1", host: "one", slots: 3, out: 1, holding: [claims[0]])
            try await beat("w2", host: "two", slots: 2, out: 9)
            try await beat("w3", host: "three", slots: 5, holding: [claims[1], claims[2]])
            try await beat("w4", host: "four", slots: 7, out: 7)
            try await beat("w5", host: "five", slots: 100)
            _ = try await fixture.board.drain(.worker, "w3")
            _ = try await fixture.board.drain(.host, "four")
            try fixture.raw("ZADD", "reel2:{main}:workers", "1", "w5")
            let figures = try await fixture.board.figures()
            #expect(figures.workers == 4)
            #expect(figures.slots == BoardFigures.Slots(busy: 3, free: 1, out: 3, drained: 10))
            #expect(figures.slotsWanted == 3 + 1)
        }

        @Test("a worker of an earlier release tells its slots in its report alone")
        func earlierWorkers() async throws {
            try await fixture.beat("w1")
            let report = try fixture.raw("HGET", "reel2:{main}:worker:w1", "report")
            let earlier = [
                "jobs", "active", "failed", "store", "schema", "lease", "run", "virtual", "broken", "timer", "tail",
                "wake", "workers", "control", "auditing", "events", "pace",
            ].map { "reel2:{main}:\($0)" }
            let call = ["FCALL", "reel2_beat", "\(earlier.count)"] + earlier
            try fixture.raw.send(call + ["3", "w9", "nine", report, "20000", "4000"])
            let figures = try await fixture.board.figures()
            #expect(figures.workers == 2)
            #expect(figures.slots == BoardFigures.Slots(free: 4))
            #expect(try await fixture.board.workers().count == 2)
        }

        /// No transition has counted these jobs.
        @Test func moreJobsThanOneCallLooksAt() async throws {
            // Many of them begun in one millisecond, so that pages end within it.
            try fixture.raw(
                "EVAL",
                """
                for i = 1, 2300 do
                  local id = string.format('j%04d', i)
                  redis.call('ZADD', 'reel2:{main}:active', i <= 2150 and 1000 or i, id)
                  redis.call('HSET', 'reel2:{main}:job:' .. id, 'state', 'running', 'passes', 3, 'cursor', 0, 'offered', i)
                end
                """, "0")
            let figures = try await fixture.board.figures()
            #expect(figures.jobs == BoardFigures.Jobs(running: 2300))
            #expect(figures.passes.ready == 6900)
        }

        @Test func whatCannotBeReadIsLeftOut() async throws {
            for id in ["a1", "b2", "c3"] { try await fixture.publish(BoardFixture.job(id, passes: 2)) }
            try fixture.raw("HSET", "reel2:{main}:job:a1", "passes", "many")
            try fixture.raw("DEL", "reel2:{main}:job:b2:retry")
            try fixture.raw("SET", "reel2:{main}:job:b2:retry", "x")
            try await beat("w1", host: "one", slots: 2)
            try fixture.raw("HSET", "reel2:{main}:worker:w1", "slots", "-1")
            try fixture.raw("DEL", "reel2:{main}:counters")
            let wrong = ["jobs:done", "-3", "jobs:failed", "x", "attempts:done", "1.5 2 3"]
            try fixture.raw.send(["HSET", "reel2:{main}:counters"] + wrong)
            // No transition has come upon what is wrong.
            var figures = try await BoardFixture.scannedFigures(fixture.board, fixture.raw)
            #expect(figures.jobs == BoardFigures.Jobs(running: 1, unreadable: 2))
            #expect(figures.passes == BoardFigures.Passes(ready: 2))
            #expect(figures.jobsEnded == BoardFigures.Ended())
            #expect((figures.workers, figures.slots) == (1, BoardFigures.Slots()))
            // A counter that is not a number begins anew.
            for _ in 0..<3 { if let claim = try await fixture.claim() { try await fixture.complete(claim) } }
            figures = try await fixture.board.figures()
            #expect(figures.jobs == BoardFigures.Jobs(done: 1, unreadable: 2))
            #expect((figures.jobsEnded.done, figures.attempts[.done]) == (1, 3))
        }

        @Test func noTransitionNeedsTheCounters() async throws {
            try fixture.raw("SET", "reel2:{main}:counters", "x")
            try await fixture.publish(BoardFixture.job(passes: 1))
            while let claim = try await fixture.claim() { #expect(try await fixture.complete(claim) == .ok) }
            #expect(try await fixture.state() == .done)
            let figures = try await fixture.board.figures()
            #expect(figures.attempts[.done] == 0)
            #expect(figures.jobs.done == 1)
        }

        @Test("an audit puts jobs on the list of their state")
        func audit() async throws {
            try await fixture.publish(BoardFixture.job("a1", passes: 1))
            try await fixture.publish(BoardFixture.job("b2", passes: 1))
            _ = try await fixture.board.cancel(JobID("a1"))
            // Its end was torn before it left the list of active jobs; b2 was torn while it began again.
            try fixture.raw("ZREM", "reel2:{main}:cancelled", "a1")
            try fixture.raw("ZADD", "reel2:{main}:active", "1", "a1")
            try fixture.raw("ZADD", "reel2:{main}:done", "1", "b2")
            #expect(try await fixture.board.audit() == Audit(jobs: 2, repairs: 3))
            #expect(try await fixture.board.figures().jobs == BoardFigures.Jobs(running: 1, cancelled: 1))
            #expect(try fixture.raw("ZCARD", "reel2:{main}:done") == "0")
        }

        // MARK: Rates

        private let key = "reel2:{main}:pace"

        /// Minutes since 1970, by Redis's clock.
        private func minute() throws -> Int { (Int(try fixture.raw("TIME").split(separator: "\n")[0]) ?? 0) / 60 }

        @Test func theLastSixtyWholeMinutes() async throws {
            var (rates, now) = ([MinuteRate](), 0)
            repeat {
                now = try minute()
                // Minutes before the last hour, the one that goes on, and what is no slot do not count.
                let slots = [(now, 6000, 60), (now - 1, 600, 6), (now - 60, 90, 3), (now - 70, 1, 1)]
                for (slot, frames, passes) in slots {
                    try fixture.raw("HSET", key, "m\(slot % 61)", "\(slot) \(frames) \(passes)")
                }
                try fixture.raw("HSET", key, "x", "\(now - 3) -5 0", "y", "a b c")
                rates = try await fixture.board.rates()
            } while try minute() != now
            #expect(rates.map(\.time) == (now - 60..<now).map { $0 * 60 })
            #expect(rates.last?.pace == Pace(framesPerSecond: 10, passesPerSecond: 0.1))
            #expect(rates.first?.pace == Pace(framesPerSecond: 1.5, passesPerSecond: 0.05))
            #expect(rates.dropFirst().dropLast().allSatisfy { $0.pace == .none })
        }

        @Test func workIsInTheMinuteInWhichItIsReported() async throws {
            var (slots, minutes) = ("", 0..<0)
            repeat {
                try fixture.raw("FLUSHALL")
                let before = try minute()
                try await fixture.publish(BoardFixture.job(passes: 2))
                let (first, second) = (try await fixture.take(), try await fixture.take())
                try await fixture.beat(holding: [first, second], encoded: 4)
                try await fixture.complete(first)
                slots = try fixture.raw("HGET", key, "m\(before % 61)")
                minutes = before..<(try minute())
            } while !minutes.isEmpty
            // The beat told four frames of the first pass, which has ten, and four of the second.
            #expect(slots == "\(minutes.lowerBound) 14 1")
            #expect(try await fixture.board.rates().count == 60)
            // The last minute's speed and that of each minute stand beside each other.
            let passes = try await fixture.board.pace().passesPerSecond
            #expect(passes > 0 && passes <= 1)
        }
    }
}
