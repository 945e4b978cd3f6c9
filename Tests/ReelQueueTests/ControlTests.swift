import ReelCore
import ReelQueue
import ReelTestSupport
import Testing

extension BoardTests {
    /// Users' commands to jobs and workers.
    @Suite struct Controlling {
        let bench: Bench
        let job = JobID("a1")
        init() throws { bench = try Bench() }

        @Test func nothingOfAPausedJobIsGivenOut() async throws {
            try await bench.publish()
            let held = try await bench.take()
            #expect(try await bench.board.pause(job) == .running)
            #expect(try await bench.board.status(job)?.isPaused == true)
            #expect(try await bench.claim() == nil)
            // A pass that comes back waits as well, and a held pass is finished.
            try await bench.board.release(held)
            #expect(try await bench.claim() == nil)
            #expect(try await bench.board.resume(job) == .running)
            #expect(try await bench.board.status(job)?.isPaused == false)
            for _ in 0..<3 { try await bench.complete(bench.take()) }
            #expect(try await bench.state() == .assembling)
        }

        @Test func aPausedJobKeepsItsRetriesAndItsAssembly() async throws {
            try await bench.publish(Bench.job(passes: 2))
            let (first, second) = (try await bench.take(), try await bench.take())
            try await bench.fail(first, .transient)
            _ = try await bench.board.pause(job)
            try bench.makeDue()
            #expect(try await bench.claim() == nil)
            #expect(try await bench.complete(second) == .ok)
            _ = try await bench.board.resume(job)
            let again = try await bench.take()
            _ = try await bench.board.pause(job)
            #expect(try await bench.complete(again) == .ok)
            #expect(try await bench.state() == .assembling)
            #expect(try await bench.claim() == nil)
            _ = try await bench.board.resume(job)
            #expect(try await bench.take().pass == .assembly)
        }

        @Test func pausingAnEndedOrMissingJobChangesNothing() async throws {
            #expect(try await bench.board.pause(job) == nil)
            try await bench.publish()
            _ = try await bench.board.cancel(job)
            #expect(try await bench.board.pause(job) == .cancelled)
            #expect(try await bench.board.resume(job) == .cancelled)
            #expect(try await bench.board.status(job)?.isPaused == false)
        }

        @Test func aJobCanBePublishedPaused() async throws {
            _ = try await bench.board.put(Bench.job(), passes: Bench.passes(3), paused: true)
            #expect(try await bench.claim() == nil)
            _ = try await bench.board.resume(job)
            #expect(try await bench.take().index == 0)
        }

        @Test func aRetriedJobKeepsWhatIsFinished() async throws {
            try await bench.publish()
            let (first, second) = (try await bench.take(), try await bench.take())
            try await bench.complete(first)
            try await bench.fail(second, .permanent, message: "no such frame")
            let failed = try #require(try await bench.board.status(job))
            #expect(failed.state == .failed && failed.passes.exhausted == 1 && failed.passes.done == 1)
            #expect(try await bench.board.retry(job) == .failed)
            let running = try #require(try await bench.board.status(job))
            #expect(running.state == .running && running.failureCount == 0 && running.failure == nil)
            #expect(running.passes.exhausted == 0 && running.passes.done == 1 && running.finished == nil)
            #expect(try await bench.take().index == 1)
            #expect(try await bench.take().index == 2)
            #expect(try await bench.claimReady() == nil)
            #expect(try bench.raw("TTL", "reel2:{main}:job:a1:done") == "-1")
        }

        @Test(arguments: [JobState.running, .cancelled, .done])
        func onlyAFailedJobIsRetried(_ state: JobState) async throws {
            #expect(try await bench.board.retry(job) == nil)
            try await bench.publish(Bench.job(passes: 1))
            if state == .cancelled { _ = try await bench.board.cancel(job) }
            if state == .done {
                try await bench.complete(bench.take())
                try await bench.complete(bench.take())
            }
            #expect(try await bench.board.retry(job) == state)
            #expect(try await bench.state() == state)
        }

        @Test func finishedPassesOfTheStoreAreTakenOver() async throws {
            let made = RecordedResult(
                token: "t0",
                result: PassResult(
                    segments: [], statistics: PassStatistics(framesEncoded: 10),
                    diagnostics: [.said("from the store")]))
            _ = try await bench.board.put(
                Bench.job(), passes: Bench.passes(3), finished: [0: made, 2: made])
            let status = try #require(try await bench.board.status(job))
            #expect(status.passes.done == 2 && status.passes.ready == 1 && status.framesEncoded == 20)
            let results = try await bench.board.results(job)
            #expect(
                results.mapValues(\.diagnostics)
                    == [0: [.said("from the store")], 2: [.said("from the store")]])
            let claim = try await bench.take()
            #expect(claim.index == 1)
            #expect(try await bench.claimReady() == nil)
            try await bench.complete(claim)
            #expect(try await bench.take().pass == .assembly)
        }

        @Test func aJobWhosePassesAreAllInTheStoreIsAssembled() async throws {
            let made = RecordedResult(
                token: "t", result: PassResult(segments: [], statistics: PassStatistics(), diagnostics: []))
            let finished = Dictionary(uniqueKeysWithValues: (0..<3).map { ($0, made) })
            _ = try await bench.board.put(Bench.job(), passes: Bench.passes(3), finished: finished)
            #expect(try await bench.state() == .assembling)
            #expect(try await bench.take().pass == .assembly)
        }

        @Test func aWorkerIsToldToDrain() async throws {
            #expect(try await bench.board.drain(WorkerID("w1")) == false)
            #expect(try await bench.beat("w1").drain == false)
            #expect(try await bench.board.drain(WorkerID("w1")))
            #expect(try await bench.beat("w1").drain)
            #expect(try await bench.beat("w2").drain == false)
        }
    }
}
