import ReelBoardModel
import ReelCore
import ReelQueue
import ReelTestSupport
import Testing

extension BoardTests {
    /// The counters of the jobs that have not ended, and what keeps the board from growing. That the counters are right
    /// after any operations, and after torn ones, is for `ConformanceTests`.
    @Suite struct Backlog {
        let fixture: BoardFixture
        init() throws { fixture = try BoardFixture() }

        private let key = "reel2:{main}:backlog"

        /// Has the whole board tidied once, and a bit more.
        private func tidy(rounds parts: Int = 4) async throws {
            for _ in 0..<parts {
                try fixture.raw("HDEL", "reel2:{main}:control", "tidied")
                _ = try await fixture.reaper().reap()
            }
        }

        /// The counters say what is found by looking at every job.
        private func expectRightCounters(_ comment: Comment) async throws {
            let counted = try await fixture.board.figures()
            let found = try await BoardFixture.scannedFigures(fixture.board, fixture.raw)
            #expect(counted.timeless == found.timeless, comment)
        }

        /// Jobs in all states, with passes in all states.
        private func fill() async throws {
            try await fixture.beat("w1")
            try await fixture.publish(BoardFixture.job("a1", passes: 5))
            try await fixture.complete(fixture.take())
            try await fixture.fail(fixture.take(), .transient)
            _ = try await fixture.take()
            try await fixture.publish(BoardFixture.job("b2", passes: 4))
            _ = try await fixture.board.pause(JobID("b2"))
            _ = try await fixture.begin(BoardFixture.job("c3"))
            try await fixture.publish(BoardFixture.job("d4", passes: 1))
            _ = try await fixture.board.cancel(JobID("d4"))
        }

        @Test func figuresComeFromTheCounters() async throws {
            try await fill()
            // However long this takes, the retry of a1 is to come.
            for list in ["job:a1:retry", "later"] {
                try fixture.raw("ZADD", "reel2:{main}:\(list)", "9999999999999", list == "later" ? "a1" : "1")
            }
            try await expectRightCounters("")
            try fixture.raw("HSET", key, "*", "10 11 12 13 14 15 16 17 18")
            let figures = try await fixture.board.figures()
            #expect(
                figures.jobs
                    == BoardFigures.Jobs(
                        probing: 10, running: 11, assembling: 12, paused: 13, cancelled: 1, unreadable: 14))
            // One of the passes that nobody holds has a retry to come.
            #expect(figures.passes == BoardFigures.Passes(ready: 14, live: 17, retrying: 1, paused: 16, done: 18))
        }

        @Test("a board of an earlier release is looked at job by job until all jobs are counted")
        func upgrade() async throws {
            try await fill()
            for key in ["backlog", "ready", "later"] { try fixture.raw("DEL", "reel2:{main}:\(key)") }
            try fixture.raw("HDEL", "reel2:{main}:control", "counted", "tidying", "tidied")
            try await fixture.board.describe(JobID("c3"), #"{"submitter":"anna@here"}"#)
            #expect(try await fixture.board.jobs(of: "anna") == 1)
            // What is done meanwhile is counted once.
            try await fixture.complete(fixture.take())
            let expected = BoardFigures.Jobs(probing: 1, running: 1, paused: 1, cancelled: 1)
            #expect(try await fixture.board.figures().jobs == expected)
            try await tidy()
            #expect(try fixture.raw("HGET", "reel2:{main}:control", "counted") == "1")
            #expect(try await fixture.board.figures().jobs == expected)
            #expect(try await fixture.board.jobs(of: "anna") == 1)
            try await expectRightCounters("")
        }

        @Test(arguments: [
            // An entry that an earlier library left when its job ended, one that was lost, and what is no counter.
            ["HSET", "ghost", "running 3 1 0 0 anna", "@anna", "1", "*", "1 2 0 1 0 6 4 3 1"],
            ["HSET", "a1", "", "*", "1 0 0 1 0 0 4 1 0"], ["HSET", "*", "many"], ["HSET", "*", "1 2"], ["DEL"], ["SET"],
        ])
        func countersThatAreWrongAreCountedAnew(_ damage: [String]) async throws {
            try await fill()
            try await expectRightCounters("before")
            if damage == ["SET"] {
                try fixture.raw("SET", key, "x")
            } else {
                try fixture.raw.send([damage[0], key] + damage.dropFirst())
            }
            try await tidy(rounds: 8)
            try await expectRightCounters("\(damage)")
            #expect(try await fixture.board.jobs(of: "anna") == 0)
            #expect(try fixture.raw("HGET", key, "*") == "1 1 0 1 0 3 4 2 1")
            #expect(try fixture.raw("HLEN", key) == "4")
        }

        @Test func noTransitionNeedsTheCounters() async throws {
            for key in ["backlog", "ready", "later"] { try fixture.raw("SET", "reel2:{main}:\(key)", "x") }
            try await fixture.publish(BoardFixture.job(passes: 2))
            let failed = try await fixture.take()
            try await fixture.fail(failed, .transient)
            try fixture.raw("ZADD", "reel2:{main}:job:a1:retry", "1", "\(failed.index)")
            try fixture.raw("ZADD", "reel2:{main}:timer", "1", "a1")
            while let claim = try await fixture.claim() { #expect(try await fixture.complete(claim) == .ok) }
            #expect(try await fixture.state() == .done)
        }

        @Test func jobsThatWereSetAsideAreCounted() async throws {
            for id in ["a1", "b2"] { try await fixture.publish(BoardFixture.job(id, passes: 2)) }
            try fixture.raw("HSET", "reel2:{main}:job:a1", "need", "x")
            let claim = try await fixture.take()
            #expect(claim.job == JobID("b2"))
            #expect(try await fixture.board.figures().jobs == BoardFigures.Jobs(running: 1, unreadable: 1))
            #expect(try await fixture.board.figures().passes == BoardFigures.Passes(ready: 1, live: 1))
            try await tidy()
            try await expectRightCounters("")
            // Made anew by another submission, it can be read.
            _ = try await fixture.board.cancel(JobID("a1"))
            #expect(try await fixture.board.figures().jobs == BoardFigures.Jobs(running: 1, cancelled: 1))
            try await fixture.publish(BoardFixture.job("a1", passes: 2))
            #expect(try await fixture.board.figures().jobs == BoardFigures.Jobs(running: 2))
        }

        @Test func unfinishedJobsOfASubmitterAreCounted() async throws {
            func describe(_ id: String, _ submitter: String) async throws {
                try await fixture.board.describe(JobID(id), #"{"submitter":"\#(submitter)"}"#)
            }
            for id in ["a1", "b2", "c3"] { try await fixture.publish(BoardFixture.job(id, passes: 1)) }
            try await describe("a1", "anna@here")
            try await describe("b2", "anna@there")
            try await describe("c3", "nobody")
            #expect(try await fixture.board.jobs(of: "anna") == 2)
            try await describe("b2", "bert@there")
            #expect(try await fixture.board.jobs(of: "anna") == 1)
            #expect(try await fixture.board.jobs(of: "bert") == 1)
            _ = try await fixture.board.cancel(JobID("a1"))
            #expect(try await fixture.board.jobs(of: "anna") == 0)
            #expect(try fixture.raw("HKEYS", key).split(separator: "\n").sorted() == ["*", "@bert", "b2", "c3"])
        }

        // MARK: What does not grow

        @Test("jobs whose keys have expired leave the lists, however many jobs before them stay")
        func expiredJobs() async throws {
            for number in 0..<BoardPolicy.tidied {
                try await fixture.publish(BoardFixture.job("old\(number)", passes: 1))
            }
            let brief = try BoardFixture.open(fixture.server, timing: BoardTiming(retention: .milliseconds(1)))
            _ = try await brief.put(BoardFixture.job("gone", passes: 1))
            #expect(try await brief.cancel(JobID("gone")))
            while try fixture.raw("EXISTS", "reel2:{main}:job:gone") == "1" {}
            for id in ["gone", "old1"] {
                try fixture.raw("ZADD", "reel2:{main}:webhooks", "1", "\(id) https://a.example/")
            }
            try await tidy(rounds: 5)
            #expect(try fixture.raw("ZRANGE", "reel2:{main}:webhooks", "0", "-1") == "old1 https://a.example/")
            #expect(try await fixture.board.jobCounts().all == BoardPolicy.tidied)
            #expect(try fixture.raw("ZCARD", "reel2:{main}:cancelled") == "0")
            try await expectRightCounters("")
        }

        /// The queue and the jobs that are begun are never empty meanwhile, so that turns go on.
        @Test func ownersWithoutBegunJobsAreNotRemembered() async throws {
            try await fixture.publish(BoardFixture.job("large", passes: 1, need: 100_000))
            for number in 0..<5 {
                let job = BoardFixture.job("j\(number)", passes: 1)
                let claim = try await fixture.begin(job)
                try await fixture.board.describe(job.id, #"{"submitter":"owner\#(number)@here"}"#)
                try await fixture.publish(job, holding: claim)
                try await fixture.complete(fixture.take())
                #expect(try fixture.raw("HGET", "reel2:{main}:turns", "begun:owner\(number)") == "1")
                try await fixture.complete(fixture.take())
            }
            let turns = try fixture.raw("HKEYS", "reel2:{main}:turns").split(separator: "\n")
            #expect(turns.count { $0.hasPrefix("begun:owner") } == 0, "\(turns)")
        }

        @Test func processesThatAreNotHeardOfWaitNoLonger() async throws {
            _ = try await fixture.begin(BoardFixture.job())
            let waiters = "reel2:{main}:job:a1:waiters"
            for number in 0..<30 {
                _ = try await fixture.board.attend(JobID("a1"), waiter: "c\(number)")
                try fixture.raw("ZADD", waiters, "1", "c\(number)")
            }
            #expect(try await fixture.board.attend(JobID("a1"), waiter: "c99")?.state == .probing)
            #expect(try fixture.raw("ZRANGE", waiters, "0", "-1") == "c99")
        }

        @Test func whereAPassWasLostIsForgottenWithTheLosses() async throws {
            try await fixture.publish(BoardFixture.job(passes: 1))
            for number in 0..<30 {
                let worker = "w\(number)"
                try await fixture.beat(worker)
                let claim = try await fixture.take(worker)
                try await fixture.beat(worker, holding: [claim], wholeChunks: number + 1)
                try await fixture.lapseOne()
            }
            let record = try fixture.raw("HGET", "reel2:{main}:job:a1:fails", "0")
            #expect(!record.contains("host of w0\""))
            #expect(record.contains("host of w29\""))
            #expect(record.utf8.count < 2000)
        }

        @Test func aPageOfUnfinishedJobsPassesOverEndedOnes() async throws {
            for number in 10..<20 {
                try await fixture.publish(BoardFixture.job("j\(number)", passes: 1))
                for list in ["jobs", "active"] {
                    try fixture.raw("ZADD", "reel2:{main}:\(list)", "XX", "\(number)000", "j\(number)")
                }
                if number > 12 { _ = try await fixture.board.cancel(JobID("j\(number)")) }
            }
            let first = try await fixture.board.jobs(before: nil, count: 2, unfinished: true)
            #expect(first.map(\.id.text) == ["j12", "j11"])
            let next = try await fixture.board.jobs(before: first.last, count: 2, unfinished: true)
            #expect(next.map(\.id.text) == ["j10"])
            #expect(try await fixture.board.jobs(before: nil, count: 2).map(\.id.text) == ["j19", "j18"])
        }
    }
}
