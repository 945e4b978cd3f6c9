import ReelCore
import ReelQueue
import ReelTestSupport
import Testing

extension BoardTests {
    /// A late pass near the end of its job gets a backup attempt.
    @Suite struct Stragglers {
        let fixture: BoardFixture
        let job = JobID("a1")
        init() throws { fixture = try BoardFixture() }

        /// Two passes, of which w2 has finished one and w1 holds the other; Redis holds the time at which it began.
        private func tail(audio: Int = 0, effort: Double = 1) async throws -> Claim {
            var job = BoardFixture.job(passes: 2, audio: audio)
            job.encodingEffort = effort
            try await fixture.publish(job)
            let (slow, quick) = (try await fixture.take("w1"), try await fixture.take("w2"))
            try await fixture.complete(quick, by: "w2")
            try fixture.raw("HSET", "reel2:{main}:job:a1:times", "w2", "10000")
            try await fixture.beat("w1", holding: [slow])
            try age(slow, milliseconds: 60_000)
            return slow
        }

        /// Moves the beginning of a pass into the past.
        private func age(_ claim: Claim, milliseconds: Int, progress: String = "0 0") throws {
            let clock = try fixture.raw("TIME").split(separator: "\n").compactMap { Int($0) }
            let started = clock[0] * 1000 + clock[1] / 1000 - milliseconds
            try fixture.raw(
                "HSET", "reel2:{main}:job:a1:live", String(claim.index), "\(claim.token) \(started) \(progress) w1")
        }

        private func lookAgain() throws { try fixture.raw("ZADD", "reel2:{main}:tail", "1", "a1") }

        private func claims(_ worker: String) async throws -> Claim? {
            _ = try await fixture.claim(worker)
            try lookAgain()
            return try await fixture.claim(worker)
        }

        @Test(arguments: [true, false])
        func theFirstResultCounts(copyIsFirst: Bool) async throws {
            let slow = try await tail()
            let copy = try #require(try await fixture.claim("w2"))
            #expect(copy.index == slow.index && copy.work == slow.work && copy.token != slow.token)
            #expect(try await fixture.beat("w1", holding: [slow]).answers == [slow.token: .ok])
            #expect(try await fixture.beat("w2", holding: [copy]).answers == [copy.token: .ok])
            let (winner, loser) = copyIsFirst ? (copy, slow) : (slow, copy)
            let (first, second) = copyIsFirst ? ("w2", "w1") : ("w1", "w2")
            #expect(try await fixture.complete(winner, by: first) == .ok)
            #expect(try await fixture.beat(second, holding: [loser]).answers == [loser.token: .lost])
            #expect(try await fixture.complete(loser, by: second) == .late)
            let assembly = try await fixture.take()
            #expect(assembly.work == .assembly)
            #expect(
                try await fixture.board.results(job)[slow.index]?.diagnostics == [.said("from \(winner.token)")])
            try await fixture.complete(assembly)
            #expect(try fixture.raw("ZCARD", "reel2:{main}:lease") == "0")
            #expect(try fixture.raw("HLEN", "reel2:{main}:job:a1:copies") == "0")
        }

        @Test func whenOneOfTheTwoVanishesTheOtherGoesOn() async throws {
            let slow = try await tail()
            let copy = try #require(try await fixture.claim("w2"))
            try fixture.raw("ZADD", "reel2:{main}:lease", "1", "a1/\(slow.index)/\(slow.token)")
            #expect(try await fixture.reaper().reap() == 0)
            #expect(try await fixture.board.live(job) == [slow.index: WorkerID("w2")])
            #expect(try await fixture.claim("w3") == nil)
            #expect(try await fixture.beat("w1", holding: [slow]).answers == [slow.token: .lost])
            #expect(try await fixture.complete(copy, by: "w2") == .ok)
            #expect(try await fixture.state() == .assembling)
        }

        @Test func aBackupAttemptThatFailsOrIsHandedBackDoesNotAffectTheHolder() async throws {
            let slow = try await tail()
            let copy = try #require(try await fixture.claim("w2"))
            #expect(try await fixture.fail(copy, .crash, by: "w2") == .retry)
            #expect(try await fixture.board.live(job) == [slow.index: WorkerID("w1")])
            try lookAgain()
            // It is not tried again on the worker where it crashed, and two passes may have only one backup attempt.
            #expect(try await fixture.claim("w2") == nil)
            try fixture.raw("HSET", "reel2:{main}:job:a1:times", "w3", "10000")
            try lookAgain()
            #expect(try await fixture.claim("w3") == nil)
            #expect(try await fixture.complete(slow) == .ok)
        }

        @Test func theHoldersFailureDoesNotAffectTheBackupAttempt() async throws {
            let slow = try await tail()
            let copy = try #require(try await fixture.claim("w2"))
            #expect(try await fixture.fail(slow, .transient) == .retry)
            #expect(try await fixture.claim("w3") == nil)
            try await fixture.board.release(slow)
            #expect(try await fixture.beat("w2", holding: [copy], encoded: 3).answers == [copy.token: .ok])
            #expect(try await fixture.board.status(job)?.framesEncoded == 13)
            #expect(try await fixture.complete(copy, by: "w2") == .ok)
        }

        @Test func aWorkerThatIsNotTwiceAsFastGetsNoBackupAttempt() async throws {
            let slow = try await tail()
            // Nearly done: what is left takes ten seconds more, and fifteen are too few as well.
            for progress in ["9 8", "8 8"] {
                try age(slow, milliseconds: 60_000, progress: progress)
                #expect(try await claims("w2") == nil)
            }
            // A holder that has reported nothing since it began.
            try age(slow, milliseconds: -1000)
            #expect(try await claims("w2") == nil)
            // A worker whose speed is unknown.
            try age(slow, milliseconds: 60_000)
            #expect(try await claims("w3") == nil)
            // The holder itself.
            try fixture.raw("HSET", "reel2:{main}:job:a1:times", "w1", "10000")
            #expect(try await claims("w1") == nil)
            #expect(try await claims("w2")?.index == slow.index)
            #expect(try await claims("w2") == nil)
        }

        @Test func framesDecodedCountAsMuchAsTheyCost() async throws {
            let slow = try await tail(effort: 9)
            // All is decoded and six of ten are encoded: 64 of 100 parts took a minute, so half a minute is left. Were
            // decoding as much work as encoding, it would be a quarter of one.
            try age(slow, milliseconds: 60_000, progress: "10 6")
            #expect(try await fixture.claim("w2")?.index == slow.index)
        }

        @Test func soundIsNeverDoneTwice() async throws {
            let slow = try await tail(audio: 1)
            #expect(slow.work == .audio)
            #expect(try await claims("w2") == nil)
        }

        @Test func aPausedOrCancelledJobGetsNoBackupAttempts() async throws {
            _ = try await tail()
            _ = try await fixture.board.pause(job)
            #expect(try await claims("w2") == nil)
            _ = try await fixture.board.resume(job)
            _ = try await fixture.board.cancel(job)
            #expect(try await claims("w2") == nil)
        }
    }
}
