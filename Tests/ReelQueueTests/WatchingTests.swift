import ReelCore
import ReelQueue
import ReelTestSupport
import Testing

extension BoardTests {
    /// Jobs in the order of their submission, page by page.
    @Suite struct Watching {
        let fixture: BoardFixture
        let job = JobID("a1")
        init() throws { fixture = try BoardFixture() }

        private func page(_ count: Int, before place: JobPlace? = nil) async throws -> [JobPlace] {
            try await fixture.board.jobs(before: place, count: count)
        }

        private func add(_ created: Int, _ ids: String...) throws {
            for id in ids { try fixture.raw("ZADD", "reel2:{main}:jobs", "\(created)", id) }
        }

        @Test func pagesStayWhileJobsComeAndGo() async throws {
            #expect(try await page(3).isEmpty)
            // Jobs of one millisecond are in the order of their ids.
            try add(1_700_000_000_005, "a", "b", "c", "d")
            try add(1_700_000_000_006, "e")
            try add(1_700_000_000_004, "z")
            let first = try await page(3)
            #expect(first.map(\.id.text) == ["e", "d", "c"])
            #expect(first.map { $0.created % 10 } == [6, 5, 5])
            try add(1_700_000_000_007, "f")
            try fixture.raw("ZREM", "reel2:{main}:jobs", "c", "e")
            let place = try #require(JobPlace("\(first[2])"))
            #expect(place == first[2])
            let second = try await page(2, before: place)
            #expect(second.map(\.id.text) == ["b", "a"])
            #expect(try await page(2, before: second[1]).map(\.id.text) == ["z"])
            #expect(try await page(9, before: JobPlace(created: 1_700_000_000_004, id: JobID("z"))).isEmpty)
            #expect(try await page(9).map(\.id.text) == ["f", "d", "b", "a", "z"])
            #expect(try await page(0).isEmpty)
        }

        @Test func everyJobIsOnOnePage() async throws {
            let ids = (0..<250).map { "j\($0)" }
            for (number, id) in ids.enumerated() { try add(1000 + number / 100, id) }
            var (found, place) = ([String](), JobPlace?.none)
            while case let next = try await page(7, before: place), !next.isEmpty {
                found += next.map(\.id.text)
                place = next.last
            }
            #expect(found.count == 250)
            #expect(found.sorted() == ids.sorted())
        }

        @Test func aPlaceAsText() {
            #expect(JobPlace("12-ab-c") == JobPlace(created: 12, id: JobID("ab-c")))
            for text in ["", "12", "-ab", "x-ab", "-1-ab"] { #expect(JobPlace(text) == nil) }
        }

        // MARK: Lists of jobs and workers that screens show

        @Test func aWorkerHoldsPassesSinceTheirClaim() async throws {
            try await fixture.publish()
            let claim = try await fixture.take()
            try await fixture.beat(holding: [claim], encoded: 4)
            try await fixture.beat("w2")
            _ = try await fixture.board.drain(.worker, "w2")
            let workers = try await fixture.board.workers()
            #expect(workers.map(\.report.worker.text) == ["w1", "w2"])
            #expect(workers.map(\.drained) == [nil, .worker])
            let hold = try #require(workers[0].holds[claim.token])
            #expect(hold.work == .video)
            #expect((0..<10).contains(hold.seconds))
            #expect(workers[1].holds.isEmpty)

            // A pass that it claims to hold, and that another worker holds by now, is not listed as its own.
            try await fixture.board.release(claim)
            #expect(try await fixture.board.workers()[0].holds.isEmpty)
        }

        @Test func whatWasHandedBackHasNotFailed() async throws {
            try await fixture.publish()
            try await fixture.board.release(fixture.take())
            #expect(try await fixture.board.strip(job, cells: 3)?.cells.map(\.failed) == [0, 0, 0])
            try await fixture.fail(fixture.take(), .transient)
            #expect(try await fixture.board.strip(job, cells: 3)?.cells.map(\.failed) == [1, 0, 0])
            try await fixture.fail(fixture.take(), .permanent)
            #expect(try await fixture.state() == .failed)
            #expect(try await fixture.board.strip(job, cells: 3)?.cells.map(\.failed) == [1, 1, 0])
        }

        @Test func eachPassIsSeenAsItIs() async throws {
            #expect(try await fixture.board.passes(job, in: 0..<3) == nil)
            try await fixture.publish()
            let first = try await fixture.take()
            _ = try await fixture.board.complete(
                first, worker: WorkerID("w1"), result: BoardFixture.result(of: first))
            try await fixture.fail(fixture.take(), .transient)
            let held = try await fixture.take()
            func seen() async throws -> [PassLook] { try #require(try await fixture.board.passes(job, in: 0..<4)) }
            let passes = try await seen()
            #expect(passes.map(\.isFinished) == [true, false, false, false])
            #expect(passes.map(\.worker) == [nil, nil, WorkerID("w1"), nil])
            #expect(passes.map(\.framesEncoded) == [nil, nil, 0, nil])
            #expect(passes.map(\.attempts) == [[:], ["transient": 1], [:], [:]])
            #expect(passes.map(\.isWaiting) == [false, true, false, false])
            #expect(try await fixture.board.passes(job, in: 1..<2) == [passes[1]])
            #expect(try await fixture.board.passes(job, in: 2..<2) == [])

            // What was handed back waits without having failed; what fails for good ends the job.
            try await fixture.board.release(held)
            #expect(try await seen().map(\.isWaiting) == [false, true, false, false])
            try await fixture.fail(fixture.take(), .permanent)
            #expect(try await seen().map(\.isExhausted).contains(true))
        }

        @Test func warningsOfFinishedPassesAreKeptOnce() async throws {
            try await fixture.publish()
            let claims = [try await fixture.take(), try await fixture.take(), try await fixture.take()]
            for (claim, warnings) in zip(claims, [["late"], ["early", "late"], []]) {
                var result = BoardFixture.result(of: claim)
                result.diagnostics = warnings.map { .said($0) }
                _ = try await fixture.board.complete(claim, worker: WorkerID("w1"), result: result)
                _ = try await fixture.board.complete(claim, worker: WorkerID("w1"), result: result)
            }
            #expect(try await fixture.board.passDiagnostics(job) == ["late", "early"].map { .said($0) })

            // They are those of the job: they go with it.
            _ = try await fixture.board.cancel(job)
            try await fixture.board.forget(job)
            #expect(try await fixture.board.passDiagnostics(job).isEmpty)
        }

        @Test(.timeLimit(.minutes(10))) func aProcessThatWaitsForAJobsEndLearnsOfItAtOnce() async throws {
            try await fixture.publish()
            let watcher = try BoardFixture.open(fixture.server, timing: BoardTiming(answerTimeout: .seconds(7200)))
            let place = try await watcher.placeOfNow()
            async let end = watcher.firstEnd(after: place)
            try await fixture.fail(fixture.take(), .permanent)
            #expect(try await end?.happening.kind == .failed)
            #expect(try await fixture.state() == .failed)

            // Half of what an answer may take is the most that a call waits.
            let hasty = try BoardFixture.open(fixture.server, timing: BoardTiming(answerTimeout: .seconds(1)))
            let last = try #require(try await watcher.events(after: place, atMost: .milliseconds(10)).last?.place)
            #expect(try await hasty.events(after: last, atMost: .seconds(3600)).isEmpty)
        }

        @Test func ofManyJobsTheLatestThatEndedAreListed() async throws {
            for number in 10..<20 {
                try await fixture.publish(BoardFixture.job("j\(number)"))
                try fixture.raw("HSET", "reel2:{main}:job:j\(number)", "created", "\(number)000")
                try fixture.raw("ZADD", "reel2:{main}:jobs", "\(number)000", "j\(number)")
                if number != 12 { _ = try await fixture.board.cancel(JobID("j\(number)")) }
            }
            #expect(
                try await fixture.board.latestJobs(ended: 3).jobs.map(\.job.id.text) == ["j12", "j17", "j18", "j19"])
            #expect(try await fixture.board.latestJobs(ended: 50).jobs.count == 10)
        }
    }
}

extension RedisBoard {
    /// The first end of a job after a place; waits for it.
    fileprivate func firstEnd(after start: BoardEvent.Place) throws(ReelFailure) -> BoardEvent? {
        var place = start
        for _ in 0..<100 {
            let events = try events(after: place, atMost: .seconds(30))
            if let end = events.first(where: \.happening.isEnd) { return end }
            place = events.last?.place ?? place
        }
        return nil
    }
}
