import ReelCore
import ReelQueue
import ReelRandom
import ReelTestSupport
import Testing

extension BoardTests {
    /// Data that no function of this version wrote: from another program or release, a torn log, or an operator's mistake.
    @Suite struct HostileBoards {
        let fixture: BoardFixture
        let job = JobID("a1")
        init() throws { fixture = try BoardFixture() }

        private static let values = [
            "", "x", "-1", "0", "nan", "inf", "-inf", "1e300", "-9223372036854775808", "9223372036854775807",
            "18446744073709551616", "{}", "[1", "t 9223372036854775807 -1 x w", "video {", "t {",
        ]
        private static let fields = [
            "state", "job", "plan", "passes", "need", "protocol", "encoders", "cursor", "share", "virtual", "frames",
            "effort", "created", "offered", "finished", "paused", "copied", "sum", "note", "noted", "removing", "sound",
            "hash",
        ]
        private static let parts = [
            "passes", "live", "copies", "times", "done", "fails", "excluded", "returned", "pace", "webhooks",
        ]
        private static let wholes = [
            "", ":passes", ":live", ":copies", ":done", ":retry", ":fails", ":map", ":webhooks",
        ]

        /// Spoils one thing of a job, if a thing spoiled before lets it; says what.
        private func spoil(_ random: inout SplitMix64) throws -> String {
            let key = "reel2:{main}:job:a1"
            let value = HostileBoards.values.randomElement(using: &random) ?? ""
            switch Int.random(in: 0..<5, using: &random) {
            case 0...2:
                let field = HostileBoards.fields.randomElement(using: &random) ?? ""
                _ = try? fixture.raw("HSET", key, field, value)
                return "\(field) is \(value)"
            case 3:
                let part = HostileBoards.parts.randomElement(using: &random) ?? ""
                let index = ["0", "1", "9", "x", "99999999999999999999"].randomElement(using: &random) ?? ""
                _ = try? fixture.raw("HSET", "\(key):\(part)", index, value)
                return "\(part) of \(index) is \(value)"
            default:
                let part = HostileBoards.wholes.randomElement(using: &random) ?? ""
                try fixture.raw("DEL", key + part)
                try fixture.raw("SADD", key + part, value)
                return "\(part) is a set"
            }
        }

        /// Asks for everything that can be asked; an answer or a failure is right.
        private func askEverything(_ claim: Claim) async throws {
            let board = fixture.board
            _ = try? await board.status(job)
            _ = try? await board.strip(job, cells: 7)
            _ = try? await board.passes(job, in: 0..<9)
            _ = try? await board.jobs(of: "alice")
            _ = try? await board.results(job)
            _ = try? await board.live(job)
            _ = try? await board.passDiagnostics(job)
            _ = try? await board.retries(job)
            _ = try? await board.attend(job, waiter: "c1")
            _ = try? await board.pace()
            _ = try? await board.hook(job, "https://a.example/")
            #expect(try await board.figures().workers == 1)
            _ = try? await fixture.complete(claim)
            _ = try? await fixture.fail(claim, .crash)
            _ = try? await board.release(claim)
        }

        @Test(arguments: 1...150) func damagedDataOfOneJobHarmsNoOther(_ seed: UInt64) async throws {
            var random = SplitMix64(seed: seed)
            try await fixture.publish(BoardFixture.job("a1", passes: 3))
            try await fixture.beat()
            let held = [try await fixture.take(), try await fixture.take()]
            try await fixture.complete(held[0])
            var what = try spoil(&random)
            if Bool.random(using: &random) { what += ", " + (try spoil(&random)) }
            let wrong = Comment("seed \(seed): \(what)")
            try await fixture.publish(BoardFixture.job("b2", passes: 2))

            // The holder of passes of both jobs beats, leases lapse, and all lists can be read.
            #expect(try await fixture.beat(holding: [held[1]]).answers.count == 1, wrong)
            _ = try await fixture.board.audit()
            #expect(try await fixture.board.workers().count == 1, wrong)
            var done = 0
            while let claim = try await claimOrNothing(wrong) {
                if claim.job == JobID("b2"), try await fixture.complete(claim) == .ok { done += 1 }
                if claim.job == job { _ = try? await fixture.complete(claim) }
            }
            #expect(done == 3, wrong)
            #expect(try await fixture.state("b2") == .done, wrong)
            try fixture.lapse()
            _ = try await fixture.reaper().reap()
            for list in [try await fixture.board.queue(count: 100), try await fixture.board.latestJobs(ended: 50)] {
                let isThere = list.jobs.map(\.job.id).contains(job) || list.unreadable[job] != nil
                let state = try await fixture.board.state(of: job)
                #expect(isThere || state.map(\.isTerminal) != false, wrong)
            }
            try await askEverything(held[1])
            _ = try await fixture.board.cancel(job)
            // A webhook of another job is sent, whatever this one's are.
            try fixture.raw("ZADD", "reel2:{main}:webhooks", "1", "a1 x", "2", "a1", "3", "a1 https://a.example/")
            #expect(try await fixture.board.hook(JobID("b2"), "https://b.example/") == .due, wrong)
            var sent: [DueWebhook] = []
            while let webhook = try await fixture.board.dispatch() { sent.append(webhook) }
            #expect(sent.count { $0.job == JobID("b2") } == 1, wrong)
            try await fixture.board.forget(job)
            #expect(try await fixture.board.state(of: job) == nil, wrong)
            #expect(try await fixture.board.queue(count: 100).unreadable.isEmpty, wrong)
        }

        /// An answer that makes no sense is thrown, and the next one does.
        private func claimOrNothing(_ wrong: Comment) async throws -> Claim? {
            for _ in 0..<20 {
                do { return try await fixture.claim() } catch let failure as ReelFailure {
                    guard case .boardUnreadable = failure.reason else { throw failure }
                }
            }
            Issue.record("claims are refused for ever: \(wrong)")
            return nil
        }

        @Test func aJobWithoutANeedIsSetAsideAndNamed() async throws {
            try await fixture.publish(BoardFixture.job("a1", passes: 1))
            try await fixture.publish(BoardFixture.job("b2", passes: 1))
            try fixture.raw("HSET", "reel2:{main}:job:a1", "need", "x")
            #expect(try await fixture.take().job == JobID("b2"))
            let queue = try await fixture.board.queue(count: 100)
            #expect(queue.jobs.map(\.job.id) == [JobID("b2")])
            #expect(queue.unreadable.keys.sorted { $0.text < $1.text } == [job])
            #expect(try await fixture.board.cancel(job))
            try await fixture.board.forget(job)
            #expect(try await fixture.board.queue(count: 100).unreadable.isEmpty)
        }

        @Test func aJobThatHasLostItsPlanIsSetAsideAndHoldsNothingMore() async throws {
            try await fixture.publish(BoardFixture.job("a1", passes: 3))
            try await fixture.publish(BoardFixture.job("b2", passes: 1))
            #expect(try await fixture.take().job == job)
            try fixture.raw("HDEL", "reel2:{main}:job:a1", "hash")
            #expect(try await fixture.take().job == JobID("b2"))
            #expect(try await fixture.claim() == nil)
            #expect(try await fixture.board.live(job).count == 1)
            #expect(try await fixture.board.queue(count: 100).unreadable.keys.contains(job))
            let failure = await #expect(throws: ReelFailure.self) { try await fixture.board.status(job) }
            guard case .boardUnreadable? = failure?.reason else {
                Issue.record("\(String(describing: failure))")
                return
            }
        }

        @Test(arguments: ["lease", "timer"])
        func aSharedKeyOfAnotherTypeIsNoJobsFault(_ key: String) async throws {
            try await fixture.publish(BoardFixture.job("a1", passes: 2))
            try await fixture.complete(fixture.take())
            try fixture.raw("DEL", "reel2:{main}:\(key)")
            try fixture.raw("SADD", "reel2:{main}:\(key)", "x")
            await #expect(throws: ReelFailure.self) { try await fixture.claim() }
            try fixture.raw("DEL", "reel2:{main}:\(key)")
            #expect(try await fixture.board.queue(count: 100).unreadable.isEmpty)
            #expect(try await fixture.take().job == job)
        }

        @Test func anInvalidVirtualTimeCountsAsNone() async throws {
            try fixture.raw("SET", "reel2:{main}:virtual", "abc")
            try await fixture.publish(BoardFixture.job("a1", passes: 1))
            #expect(try await fixture.take().job == job)
        }

        @Test func aForeignKeyIsLeftOutOfTheListOfWorkers() async throws {
            try await fixture.beat()
            try fixture.raw("SET", "reel2:{main}:worker:ghost", "x")
            try fixture.raw("ZADD", "reel2:{main}:workers", "9999999999999", "ghost")
            #expect(try await fixture.board.workers().map(\.report.worker) == [WorkerID("w1")])
        }
    }
}
