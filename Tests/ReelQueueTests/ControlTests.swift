import ReelCore
import ReelQueue
import ReelTestSupport
import Testing

extension BoardTests {
    /// Users' commands to jobs and workers.
    @Suite struct Controlling {
        let fixture: BoardFixture
        let job = JobID("a1")
        init() throws { fixture = try BoardFixture() }

        @Test func nothingOfAPausedJobIsGivenOut() async throws {
            try await fixture.publish()
            let held = try await fixture.take()
            #expect(try await fixture.board.pause(job) == .running)
            #expect(try await fixture.board.status(job)?.isPaused == true)
            #expect(try await fixture.claim() == nil)
            // A pass that comes back waits as well, and a held pass is finished.
            try await fixture.board.release(held)
            #expect(try await fixture.claim() == nil)
            #expect(try await fixture.board.resume(job) == .running)
            #expect(try await fixture.board.status(job)?.isPaused == false)
            for _ in 0..<3 { try await fixture.complete(fixture.take()) }
            #expect(try await fixture.state() == .assembling)
        }

        @Test func aPausedJobKeepsItsRetriesAndItsAssembly() async throws {
            try await fixture.publish(BoardFixture.job(passes: 2))
            let (first, second) = (try await fixture.take(), try await fixture.take())
            try await fixture.fail(first, .transient)
            _ = try await fixture.board.pause(job)
            try fixture.makeDue()
            #expect(try await fixture.claim() == nil)
            #expect(try await fixture.complete(second) == .ok)
            _ = try await fixture.board.resume(job)
            let again = try await fixture.take()
            _ = try await fixture.board.pause(job)
            #expect(try await fixture.complete(again) == .ok)
            #expect(try await fixture.state() == .assembling)
            #expect(try await fixture.claim() == nil)
            _ = try await fixture.board.resume(job)
            #expect(try await fixture.take().pass == .assembly)
        }

        @Test func pausingAnEndedOrMissingJobChangesNothing() async throws {
            #expect(try await fixture.board.pause(job) == nil)
            try await fixture.publish()
            _ = try await fixture.board.cancel(job)
            #expect(try await fixture.board.pause(job) == .cancelled)
            #expect(try await fixture.board.resume(job) == .cancelled)
            #expect(try await fixture.board.status(job)?.isPaused == false)
        }

        @Test func aJobCanBePublishedPaused() async throws {
            _ = try await fixture.board.put(BoardFixture.job(), passes: BoardFixture.passes(3), paused: true)
            #expect(try await fixture.claim() == nil)
            _ = try await fixture.board.resume(job)
            #expect(try await fixture.take().index == 0)
        }

        @Test func aRetriedJobKeepsWhatIsFinished() async throws {
            try await fixture.publish()
            let (first, second) = (try await fixture.take(), try await fixture.take())
            try await fixture.complete(first)
            try await fixture.fail(second, .permanent, message: "no such frame")
            let failed = try #require(try await fixture.board.status(job))
            #expect(failed.state == .failed && failed.passes.exhausted == 1 && failed.passes.done == 1)
            #expect(try await fixture.board.retry(job) == .failed)
            let running = try #require(try await fixture.board.status(job))
            #expect(running.state == .running && running.failureCount == 0 && running.failure == nil)
            #expect(running.passes.exhausted == 0 && running.passes.done == 1 && running.finished == nil)
            #expect(try await fixture.take().index == 1)
            #expect(try await fixture.take().index == 2)
            #expect(try await fixture.claimReady() == nil)
            #expect(try fixture.raw("TTL", "reel2:{main}:job:a1:done") == "-1")
        }

        @Test(arguments: [JobState.running, .cancelled, .done])
        func onlyAFailedJobIsRetried(_ state: JobState) async throws {
            #expect(try await fixture.board.retry(job) == nil)
            try await fixture.publish(BoardFixture.job(passes: 1))
            if state == .cancelled { _ = try await fixture.board.cancel(job) }
            if state == .done {
                try await fixture.complete(fixture.take())
                try await fixture.complete(fixture.take())
            }
            #expect(try await fixture.board.retry(job) == state)
            #expect(try await fixture.state() == state)
        }

        @Test func finishedPassesOfTheStoreAreTakenOver() async throws {
            let made = RecordedResult(
                token: "t0",
                result: PassResult(
                    segments: [], statistics: PassStatistics(framesEncoded: 10),
                    diagnostics: [.said("from the store")]))
            _ = try await fixture.board.put(
                BoardFixture.job(), passes: BoardFixture.passes(3), finished: [0: made, 2: made])
            let status = try #require(try await fixture.board.status(job))
            #expect(status.passes.done == 2 && status.passes.ready == 1 && status.framesEncoded == 20)
            let results = try await fixture.board.results(job)
            #expect(
                results.mapValues(\.diagnostics)
                    == [0: [.said("from the store")], 2: [.said("from the store")]])
            let claim = try await fixture.take()
            #expect(claim.index == 1)
            #expect(try await fixture.claimReady() == nil)
            try await fixture.complete(claim)
            #expect(try await fixture.take().pass == .assembly)
        }

        @Test func aJobWhosePassesAreAllInTheStoreIsAssembled() async throws {
            let made = RecordedResult(
                token: "t", result: PassResult(segments: [], statistics: PassStatistics(), diagnostics: []))
            let finished = Dictionary(uniqueKeysWithValues: (0..<3).map { ($0, made) })
            _ = try await fixture.board.put(BoardFixture.job(), passes: BoardFixture.passes(3), finished: finished)
            #expect(try await fixture.state() == .assembling)
            #expect(try await fixture.take().pass == .assembly)
        }

        @Test func aWorkerIsToldToDrain() async throws {
            #expect(try await fixture.board.drain(WorkerID("w1")) == false)
            #expect(try await fixture.beat("w1").drain == false)
            #expect(try await fixture.board.drain(WorkerID("w1")))
            #expect(try await fixture.beat("w1").drain)
            #expect(try await fixture.beat("w2").drain == false)
        }
    }
}
