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
