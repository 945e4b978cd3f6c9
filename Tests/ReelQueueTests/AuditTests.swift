import Glibc
import ReelCore
import ReelQueue
import ReelTestSupport
import Testing

extension BoardTests {
    /// Contradictions on the board are repaired, whatever their cause.
    @Suite struct Auditing {
        let fixture: BoardFixture
        let job = JobID("a1")
        init() throws { fixture = try BoardFixture() }

        /// Accidents that may befall a job of three passes, of which the first is done and the second is held.
        static let accidents: [(what: String, commands: [[String]])] = [
            ("a pass that no worker holds", [["HDEL", "job:a1:live", "1"], ["ZREM", "lease", "TOKEN"]]),
            ("a holder without a lease", [["ZREM", "lease", "TOKEN"]]),
            ("a retry of what is done", [["ZADD", "job:a1:retry", "1", "0"]]),
            (
                "a holder of what is done",
                [["HSET", "job:a1:live", "0", "t 1 0 0 w"], ["ZADD", "lease", "1", "a1/0/t"]]
            ),
            (
                "a copy without a holder",
                [["HSET", "job:a1:copies", "2", "t 1 0 0 w"], ["ZADD", "lease", "1", "a1/2/t"]]
            ),
            ("a job out of line", [["ZREM", "run", "a1"]]),
            ("a job that no list names", [["ZREM", "active", "a1"], ["ZREM", "jobs", "a1"]]),
            ("a bit too many", [["SETBIT", "job:a1:map", "2", "1"]]),
            ("a bit too few", [["SETBIT", "job:a1:map", "0", "0"]]),
            ("sums of another number", [["HSET", "job:a1", "sum", "0 0 0 0"]]),
            ("a job in line that is not there", [["ZADD", "run", "1", "b2"], ["ZADD", "timer", "1", "c3"]]),
        ]

        @Test(arguments: accidents.indices)
        func repairs(_ number: Int) async throws {
            try await fixture.publish()
            try await fixture.complete(fixture.take())
            let held = try await fixture.take()
            #expect(try await fixture.board.audit() == Audit(jobs: 1, repairs: 0))
            for command in Auditing.accidents[number].commands {
                try fixture.raw.send(
                    [command[0], "reel2:{main}:" + command[1]]
                        + command[2...].map { $0 == "TOKEN" ? "a1/1/\(held.token)" : $0 })
            }
            let audit = try await fixture.board.audit()
            #expect(audit.repairs > 0, "\(Auditing.accidents[number].what)")
            #expect(try await fixture.board.audit().repairs == 0)
            try await finish(held)
        }

        /// Expects that the job comes to its end, whether or not the holder of a pass goes on.
        private func finish(_ held: Claim) async throws {
            let status = try #require(try await fixture.board.status(job))
            #expect(status.framesEncoded == 10 && status.passes.done == 1)
            #expect(try await fixture.board.strip(job, cells: 3)?.cells.map(\.done) == [1, 0, 0])
            #expect(try await fixture.board.queue(count: 100).jobs.map(\.job.id) == [job])
            var done = Set([0])
            for _ in 0..<3 {
                while let claim = try await fixture.claimReady("w2") {
                    #expect(try await fixture.complete(claim, by: "w2") == .ok)
                    #expect(done.insert(claim.index).inserted)
                }
                try fixture.lapse()
                _ = try await fixture.reaper().reap()
            }
            #expect(done == [0, 1, 2, 3])
            #expect(try await fixture.state() == .done)
            #expect(try fixture.raw("ZCARD", "reel2:{main}:lease") == "0")
        }

        @Test func everyPassOfALongJobIsAudited() async throws {
            try await fixture.publish(BoardFixture.job(passes: 2500))
            for _ in 0..<2500 { _ = try await fixture.take() }
            try fixture.raw("DEL", "reel2:{main}:job:a1:live")
            try fixture.raw("DEL", "reel2:{main}:lease")
            #expect(try await fixture.board.audit() == Audit(jobs: 1, repairs: 2500))
            #expect(try await fixture.board.audit().repairs == 0)
            #expect(try await fixture.board.status(job)?.passes.ready == 2500)
        }

        @Test func aJobWithNothingToGiveOutStaysParked() async throws {
            try await fixture.publish(BoardFixture.job(passes: 1))
            _ = try await fixture.take()
            #expect(try await fixture.claim() == nil)
            #expect(try fixture.raw("ZCARD", "reel2:{main}:run") == "0")
            #expect(try await fixture.board.audit() == Audit(jobs: 1, repairs: 0))
            #expect(try fixture.raw("ZCARD", "reel2:{main}:run") == "0")
        }

        @Test func takingOverWhatTheStoreHasIsNotARepair() async throws {
            let made = RecordedResult(
                token: "t0",
                result: PassResult(segments: [], statistics: PassStatistics(framesEncoded: 10), diagnostics: []))
            _ = try await fixture.board.put(BoardFixture.job(), finished: [1: made])
            #expect(try fixture.raw("HGET", "reel2:{main}:job:a1", "sum") == "1 0 10 0 0")
            #expect(try await fixture.board.audit() == Audit(jobs: 1, repairs: 0))
        }

        @Test func anEndedJobExpiresAllTheSame() async throws {
            try await fixture.publish()
            try await fixture.fail(fixture.take(), .permanent)
            try fixture.raw("PERSIST", "reel2:{main}:job:a1:fails")
            try fixture.raw("ZADD", "reel2:{main}:active", "1", "a1")
            #expect(try await fixture.board.audit().repairs == 2)
            #expect(Int(try fixture.raw("TTL", "reel2:{main}:job:a1:fails")) ?? -1 > 0)
        }

        @Test func anAuditFollowsEachStartOfRedisOnce() async throws {
            try await fixture.publish()
            #expect(try await fixture.board.auditAfterRestart() == Audit(jobs: 1, repairs: 0))
            #expect(try await fixture.board.auditAfterRestart() == nil)
            try fixture.raw("HSET", "reel2:{main}:control", "audited", "the start before")
            try fixture.raw("DEL", "reel2:{main}:auditing")
            try fixture.raw("ZREM", "reel2:{main}:queue", "a1")
            #expect(try await fixture.board.auditAfterRestart() == Audit(jobs: 1, repairs: 1))
            #expect(try await fixture.take().index == 0)
        }

        /// How often Redis has begun to rewrite its log; waits until it is not rewriting.
        private var rewrites: Int {
            get throws {
                while try fixture.raw("INFO", "persistence").contains(/aof_rewrite_(in_progress|scheduled):1/) {
                    usleep(5000)
                }
                return try fixture.server.serverLog().ranges(of: "Background append only file rewriting started").count
            }
        }

        @Test func oneWorkerAuditsAfterAStart() async throws {
            try await fixture.publish()
            let boards = try (0..<8).map { _ in try BoardFixture.open(fixture.server) }
            let before = try rewrites
            let audits = try await withThrowingTaskGroup(of: Audit?.self) { group in
                for board in boards { group.addTask { try await board.auditAfterRestart() } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(audits.compactMap(\.self).count == 1)
            #expect(try rewrites - before == 1)
        }

        @Test func aWorkerThatDiesDuringAnAuditDoesNotBlockTheNext() async throws {
            try await fixture.publish()
            let run = try #require(
                try fixture.raw("INFO", "server").split(whereSeparator: \.isNewline)
                    .first { $0.hasPrefix("run_id:") }?.dropFirst("run_id:".count))
            try fixture.raw("SET", "reel2:{main}:auditing", "the start before", "PX", "60000")
            #expect(try await fixture.board.auditAfterRestart() != nil)
            try fixture.raw("HDEL", "reel2:{main}:control", "audited")
            try fixture.raw("SET", "reel2:{main}:auditing", String(run), "PX", "60000")
            #expect(try await fixture.board.auditAfterRestart() == nil)
            try fixture.raw("PEXPIRE", "reel2:{main}:auditing", "0")
            #expect(try await fixture.board.auditAfterRestart() != nil)
        }

        /// The log still has the commands that Redis did not apply.
        @Test func aLogWithAMissingPartIsNotRewritten() async throws {
            try await fixture.publish()
            _ = try await fixture.take()
            try await fixture.publish(BoardFixture.job("b2"))
            try fixture.raw("DEL", "reel2:{main}:job:a1")
            let before = try rewrites
            #expect(try await fixture.board.auditAfterRestart()?.lost == [job])
            #expect(try await fixture.take().job == JobID("b2"))
            try fixture.raw("FLUSHALL")
            #expect(try await fixture.board.auditAfterRestart() == Audit())
            #expect(try rewrites == before)
        }

        @Test func anEmptyBoardIsKnownAsOne() async throws {
            #expect(try await fixture.board.isEmpty())
            try await fixture.publish()
            #expect(try await fixture.board.isEmpty() == false)
        }
    }
}

extension BoardTests {
    /// Redis 7.0 applies a script's writes from an append-only file even if it ends within them. So every prefix of
    /// every transition must leave a board that still comes to a right end.
    @Suite struct TornLogs {
        let fixture: BoardFixture
        init() throws { fixture = try BoardFixture() }

        /// Makes every kind of transition once, then stops with passes in all states.
        private func scenario() async throws {
            let job = BoardFixture.job(passes: 4)
            var held: [Claim] = []
            try await fixture.beat("w1")
            try await fixture.beat("w2")
            try await probe(job)
            let (first, second) = (try await fixture.take("w1"), try await fixture.take("w2"))
            try await fixture.complete(first)
            try await fixture.fail(second, .transient, by: "w2")
            let third = try await fixture.take("w1")
            try fixture.lapse()
            _ = try await fixture.reaper().reap()
            try await fixture.beat("w1", holding: [third])  // adopted
            _ = try await fixture.board.pause(job.id)
            _ = try await fixture.board.resume(job.id)
            try await fixture.board.release(third)
            try await fixture.fail(fixture.take("w1"), .crash)
            try await fixture.fail(fixture.take("w2"), .noSpace, by: "w2")
            try fixture.makeDue()
            try await fixture.fail(fixture.take("w2"), .incompatible, by: "w2")
            try fixture.makeDue()
            _ = try await fixture.board.cancel(job.id)
            try await probe(job)
            try await fixture.complete(fixture.take("w1"))
            // Two hosts say so.
            try await fixture.fail(fixture.take("w1"), .permanent)
            try await fixture.fail(fixture.take("w2"), .permanent, by: "w2")
            _ = try await fixture.board.retry(job.id)
            // Every claim that finds nothing parks the job, so that only what follows can bring it back.
            while let claim = try await fixture.claimReady("w1") { held.append(claim) }
            try await fixture.fail(held.removeLast(), .transient)
            #expect(try await fixture.claimReady() == nil)
            try fixture.makeDue()
            held.append(try await fixture.take("w1"))
            try await fixture.complete(held.removeFirst())
            // The last but one is done by a second worker, the last after the first one has vanished.
            for winner in ["w2", "w1"] {
                let slow = held.removeFirst()
                try await fixture.beat("w1", holding: [slow])
                try fixture.raw("HSET", "reel2:{main}:job:a1:live", String(slow.index), "\(slow.token) 1 0 0 w1")
                try fixture.raw("HSET", "reel2:{main}:job:a1:times", "w2", "1000")
                try fixture.raw("HSET", "reel2:{main}:job:a1", "copied", "0")
                try fixture.raw("ZADD", "reel2:{main}:tail", "1", "a1")
                let copy = try await fixture.take("w2")
                #expect(copy.index == slow.index)
                if winner == "w1" {
                    try fixture.raw("ZADD", "reel2:{main}:lease", "1", "a1/\(slow.index)/\(slow.token)")
                    _ = try await fixture.reaper().reap()
                }
                try await fixture.complete(copy, by: "w2")
                if !held.isEmpty { #expect(try await fixture.claimReady() == nil) }
            }
            let assembly = try await fixture.take("w1")
            #expect(try await fixture.claim() == nil)
            // A result proves wrong, and its pass is done again.
            let wrong = try #require(try await fixture.board.recordedResults(job.id)[0])
            #expect(try await fixture.invalidate(assembly, token: wrong.token) == 1)
            try await fixture.board.release(assembly)
            try await fixture.complete(fixture.take("w2"), by: "w2")
            try await fixture.complete(fixture.take("w1"))
        }

        /// Every transition of a probe, up to a plan without segments in the store.
        private func probe(_ job: BoardJob) async throws {
            let begun = try await fixture.begin(job)
            _ = try await fixture.board.attend(job.id, waiter: "c1", claim: begun)
            _ = try await fixture.board.leave(job.id, waiter: "c1", claim: begun)
            try await fixture.fail(fixture.take("w1"), .transient)
            #expect(try await fixture.claim("w1") == nil)
            try fixture.makeDue()
            let lost = try await fixture.take("w1")
            try fixture.lapse()
            _ = try await fixture.reaper().reap()
            try await fixture.beat("w1", holding: [lost])  // adopted
            try await fixture.board.release(lost)
            try await fixture.fail(fixture.take("w2"), .permanent, by: "w2")
            try await fixture.fail(fixture.take("w1"), .permanent)
            _ = try await fixture.board.retry(job.id)
            let again = try await fixture.take("w1")
            _ = try await fixture.board.pause(job.id)
            _ = try await fixture.board.resume(job.id)
            #expect(try await fixture.claim("w2") == nil)
            let departure = try await fixture.board.leave(job.id, waiter: "c1", claim: again, abandoning: true)
            let removal: Removal = try #require(departure.removal)
            try await fixture.board.forget(job.id, removal: removal)
            // A publisher before that one had more passes, and some of them finished.
            let held = try await fixture.begin(job)
            let result = PassResult(
                segments: [], statistics: PassStatistics(framesEncoded: 9), diagnostics: [.said("w")])
            try fixture.raw("HSET", "reel2:{main}:job:a1:passes", "7", "audio [7]")
            try fixture.raw("HSET", "reel2:{main}:job:a1:done", "1", "t \(try BoardFixture.json(result))")
            try fixture.raw("SETBIT", "reel2:{main}:job:a1:map", "1", "1")
            #expect(try await fixture.publish(job, holding: held) == .published)
        }

        /// Users, workers and reapers act until nothing is left to do.
        private func drive(_ reaper: any Board) async throws {
            let job = BoardFixture.job(passes: 4)
            for round in 0..<10 {
                let state = try await fixture.state()
                if state == .cancelled { try await fixture.board.forget(job.id) }
                if state == .failed { _ = try await fixture.board.retry(job.id) }
                if state == nil { try await fixture.publish(job) }
                if try await fixture.board.status(job.id)?.isPaused == true {
                    _ = try await fixture.board.resume(job.id)
                }
                try fixture.makeDue()
                while let claim = try await fixture.claimReady("w\(round)") {
                    if claim.work == .planning {
                        #expect(try await fixture.publish(job, holding: claim) == .published)
                        continue
                    }
                    let answer = try await fixture.complete(claim, by: "w\(round)")
                    #expect(answer == .ok)
                }
                let ended = try await fixture.state() == .done
                try fixture.lapse()
                _ = try await reaper.reap()
                if ended { return }
            }
        }

        /// What is left of it must not run again without its passes.
        @Test func aTornForgetLeavesNoPartOfAJob() async throws {
            let before = try fixture.server.log().count
            try await fixture.publish(BoardFixture.job(passes: 2))
            try await fixture.complete(fixture.take())
            try await fixture.fail(fixture.take(), .permanent)
            let whole = try fixture.server.log().count
            try await fixture.board.forget(JobID("a1"))
            let log = try fixture.server.log()
            for length in whole...log.count {
                try fixture.raw("FLUSHALL")
                for command in log[before..<length] { try fixture.raw.send(command) }
                let torn = Comment("torn after \(length - whole) writes of \(log.count - whole)")
                if try await fixture.board.retry(JobID("a1")) == .failed {
                    #expect(try await fixture.take().index == 1, torn)
                } else {
                    #expect(try await fixture.state() == nil, torn)
                    #expect(try await fixture.publish(BoardFixture.job(passes: 2)) == .published, torn)
                    #expect(try await fixture.take().index == 0, torn)
                }
            }
        }

        /// A user may ask for the job before the publisher returns.
        @Test func aTornPublicationCanBeRead() async throws {
            let before = try fixture.server.log().count
            try await fixture.publish(BoardFixture.job(passes: 2))
            let log = try fixture.server.log().dropFirst(before)
            for length in 1...log.count {
                try fixture.raw("FLUSHALL")
                for command in log.prefix(length) { try fixture.raw.send(command) }
                let state = try await fixture.board.status(JobID("a1"))?.state
                let torn = Comment("torn after \(length) writes of \(log.count)")
                #expect([nil, .probing, .running].contains(state), torn)
            }
        }

        @Test func everyPrefixOfTheLogComesToARightEnd() async throws {
            let before = try fixture.server.log().count
            try await scenario()
            #expect(try await fixture.state() == .done)
            let log = try fixture.server.log().dropFirst(before)
            #expect(log.count > 100)
            let reaper = try fixture.reaper()
            for length in 1...log.count {
                try fixture.raw("FLUSHALL")
                for command in log.prefix(length) { try fixture.raw.send(command) }
                let torn = Comment("torn after \(length) writes, \(log.prefix(length).last ?? [])")
                try await drive(reaper)
                let status = try #require(try await fixture.board.status(JobID("a1")))
                #expect(status.state == .done, torn)
                #expect(status.passes.done == 4, torn)
                #expect(status.framesEncoded == 40, torn)
                #expect(try await fixture.board.results(JobID("a1")).count == 5, torn)
                // Figures that are only shown are repaired by the audit that follows a start of Redis.
                _ = try await fixture.board.audit()
                #expect(try fixture.raw("ZCARD", "reel2:{main}:lease") == "0", torn)
                #expect(try fixture.raw("HLEN", "reel2:{main}:job:a1:live") == "0", torn)
                #expect(try fixture.raw("HLEN", "reel2:{main}:job:a1:copies") == "0", torn)
                #expect(try fixture.raw("ZCARD", "reel2:{main}:active") == "0", torn)
            }
        }
    }
}
