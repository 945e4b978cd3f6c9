import Foundation
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
            #expect(try await fixture.take().work == .assembly)
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
            _ = try await fixture.board.put(BoardFixture.job(), paused: true)
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
                BoardFixture.job(), finished: [0: made, 2: made])
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
            #expect(try await fixture.take().work == .assembly)
        }

        @Test func aJobWhosePassesAreAllInTheStoreIsAssembled() async throws {
            let made = RecordedResult(
                token: "t", result: PassResult(segments: [], statistics: PassStatistics(), diagnostics: []))
            let finished = Dictionary(uniqueKeysWithValues: (0..<3).map { ($0, made) })
            _ = try await fixture.board.put(BoardFixture.job(), finished: finished)
            #expect(try await fixture.state() == .assembling)
            #expect(try await fixture.take().work == .assembly)
        }

        @Test func aJobThatItsPublisherHasDoneIsDone() async throws {
            let made = RecordedResult(
                token: "t",
                result: PassResult(
                    segments: [], statistics: PassStatistics(framesDecoded: 12, framesEncoded: 10), diagnostics: []))
            var assembled = made
            assembled.result.statistics = PassStatistics(outputBytes: 500)
            var finished = Dictionary(uniqueKeysWithValues: (0..<3).map { ($0, made) })
            finished[3] = assembled
            let before = try await fixture.board.figures()
            _ = try await fixture.board.put(BoardFixture.job(), finished: finished)
            let status = try #require(try await fixture.board.status(job))
            #expect(status.state == .done && status.finished != nil && status.framesEncoded == 30)
            #expect(try await fixture.claim() == nil)
            let after = try await fixture.board.figures()
            #expect(after.jobsEnded.done - before.jobsEnded.done == 1 && after.outputBytes - before.outputBytes == 500)
            #expect(after.framesEncoded - before.framesEncoded == 30)
        }

        @Test func anAssemblyWithoutItsPassesIsRefused() async throws {
            let made = RecordedResult(
                token: "t", result: PassResult(segments: [], statistics: PassStatistics(), diagnostics: []))
            let failure = await #expect(throws: ReelFailure.self) {
                _ = try await fixture.board.put(BoardFixture.job(), finished: [0: made, 3: made])
            }
            #expect(failure?.reason == .jobContradictory(job: job, fault: .passCount))
        }

        @Test func aJobIsGivenAnotherWeight() async throws {
            let board = fixture.board
            try await fixture.publish(BoardFixture.job("light", passes: 60))
            try await fixture.publish(BoardFixture.job("heavy", passes: 60))
            #expect(try await board.weigh(JobID("heavy"), 3) == .running)
            #expect(try await board.status(JobID("heavy"))?.job.weight == 3)
            var counts: [String: Int] = [:]
            for _ in 0..<40 { counts[try await fixture.take().job.text, default: 0] += 1 }
            #expect(counts == ["light": 10, "heavy": 30])
            #expect(try await board.weigh(JobID("nowhere"), 3) == nil)
            await #expect(throws: ReelFailure(.jobContradictory(job: JobID("heavy"), fault: .weight))) {
                _ = try await board.weigh(JobID("heavy"), 0)
            }
            #expect(try await board.cancel(JobID("heavy")))
            #expect(try await board.weigh(JobID("heavy"), 1) == .cancelled)
            #expect(try await board.status(JobID("heavy"))?.job.weight == 3)
        }

        @Test func aWeightGivenWhileProbingStays() async throws {
            let job = BoardFixture.job(passes: 4)
            let claim = try await fixture.begin(job)
            #expect(try await fixture.board.weigh(job.id, 4) == .probing)
            try await fixture.publish(job, holding: claim)
            #expect(try await fixture.board.status(job.id)?.job.weight == 4)
            let share = Double(max(job.frames, 1)) / 4 / 4
            #expect(Double(try fixture.raw("HGET", "reel2:{main}:job:a1", "share")) == share)
            #expect(try await fixture.board.cancel(job.id))
            _ = try await fixture.begin(job)
            #expect(try await fixture.board.status(job.id)?.job.weight == 1, "it was begun anew")
        }

        @Test func whatASubmitterSaysIsInTheStatusUntilTheJobIsBegunAnew() async throws {
            let job = BoardFixture.job()
            #expect(try await !fixture.board.describe(job.id, "{}"))
            let claim = try await fixture.begin(job)
            #expect(try await fixture.board.describe(job.id, #"{"name":"one"}"#))
            try await fixture.publish(job, holding: claim)
            #expect(try await fixture.board.describe(job.id, #"{"name":"two"}"#))
            #expect(try await fixture.board.status(job.id)?.submission == #"{"name":"two"}"#)
            #expect(try await fixture.board.cancel(job.id))
            #expect(try await fixture.board.status(job.id)?.submission == #"{"name":"two"}"#)
            _ = try await fixture.begin(job)
            #expect(try await fixture.board.status(job.id)?.submission == nil)
        }

        @Test func aDrainedWorkerIsGivenNothing() async throws {
            let board = fixture.board
            try await fixture.publish()
            #expect(try await !board.drain(.worker, "w1"), "it has not beaten")
            #expect(try await fixture.beat("w1").drained == nil)
            let held = try await fixture.take("w1")
            #expect(try await board.drain(.worker, "w1"))
            let reply = try await fixture.beat("w1", holding: [held])
            #expect(reply.drained == .worker)
            #expect(reply.answers == [held.token: .ok])
            #expect(try await fixture.claim("w1") == nil)
            #expect(try await fixture.claim("w2")?.index == 1)
            #expect(try await fixture.complete(held) == .ok)
            #expect(try await board.undrain(.worker, "w1"))
            #expect(try await !board.undrain(.worker, "w1"))
            #expect(try await fixture.beat("w1").drained == nil)
            #expect(try await fixture.claim("w1")?.index == 2)

            #expect(try await board.drain(.worker, "w1"))
            try await board.depart(WorkerID("w1"))
            #expect(try await fixture.beat("w1").drained == nil, "a worker's drain ends with the worker")
        }

        @Test func aDrainedHostGivesNothingToLaterWorkersEither() async throws {
            let board = fixture.board
            try await fixture.publish()
            try await fixture.beatOnTwoHosts()
            #expect(try await board.drain(.host, "one"))
            #expect(try await board.drain(.host, "one"))
            #expect(try await board.drain(.worker, "w1"))
            #expect(try await board.workers().map(\.drained) == [.worker, nil])
            try await board.depart(WorkerID("w1"))
            #expect(try await board.drainedHosts() == ["one"])
            #expect(try await fixture.beat("w3", host: "one").drained == .host)
            #expect(try await fixture.claim("w3") == nil)
            #expect(try await fixture.claim("w2") != nil)
            #expect(try await board.workers().map(\.drained) == [nil, .host])
            #expect(try await !board.undrain(.host, "two"))
            #expect(try await board.undrain(.host, "one"))
            #expect(try await fixture.claim("w3") != nil)
            #expect(try await board.drainedHosts().isEmpty)
        }

        @Test func programsOfTheEarlierVersionDrainAWorker() async throws {
            try await fixture.beat("w1")
            #expect(try fixture.raw("FCALL", "reel2_drain", "1", "reel2:{main}:jobs", "2", "w1") == "1")
            #expect(try await fixture.beat("w1").drained == .worker)
        }
    }

    /// Which jobs begin, and when.
    @Suite struct Beginning {
        private let fixture: BoardFixture

        init() throws { fixture = try BoardFixture() }

        private func submit(_ id: String, passes: Int = 3, weight: Double = 1, by owner: String = "ann") async throws {
            let job = BoardFixture.job(id, passes: passes, weight: weight)
            let probe = try await fixture.begin(job)
            let submission = #"{"labels":{},"submitter":"\#(owner)@host"}"#
            #expect(try await fixture.board.describe(job.id, submission))
            #expect(try await fixture.publish(job, holding: probe) == .published)
        }

        private func begun() throws -> Set<String> {
            Set(try fixture.raw("ZRANGE", "reel2:{main}:begun", "0", "-1").split(separator: "\n").map(String.init))
        }

        /// Slots that work until nothing is left; the longest held pass is done first. Gives the jobs in the order in which
        /// they got done, and the most that were begun at once.
        private func work(slots: Int) async throws -> (done: [String], mostBegun: Int) {
            var (held, done, mostBegun) = ([Claim](), [String](), 0)
            while true {
                while held.count < slots, let claim = try await fixture.claimReady("w\(held.count)") {
                    held.append(claim)
                    mostBegun = max(mostBegun, try begun().count)
                }
                guard !held.isEmpty else { return (done, mostBegun) }
                let claim = held.removeFirst()
                #expect(try await fixture.complete(claim) == .ok)
                if claim.work == .assembly { done.append(claim.job.text) }
            }
        }

        @Test("equal jobs get done in the order in which they came, and few are begun at once", arguments: [1, 2, 5])
        func inOrder(slots: Int) async throws {
            // Ids are hashes: their order is not that of submission.
            let ids = (0..<24).map { "\(($0 * 7) % 24)-job" }
            for id in ids { try await submit(id, passes: 2) }
            let (done, mostBegun) = try await work(slots: slots)
            #expect(Set(done) == Set(ids))
            #expect(mostBegun <= 2 * slots)
            for (place, id) in done.enumerated() {
                let came = try #require(ids.firstIndex(of: id))
                #expect(abs(place - came) <= slots, "\(id) came as \(came), and got done as \(place)")
            }
            #expect(try begun().isEmpty)
        }

        @Test func aSmallJobDoesNotWaitBehindAFilm() async throws {
            try await submit("film", passes: 500)
            try await submit("small", passes: 1)
            var held: [Claim] = []
            for slot in 0..<4 { held.append(try await fixture.take("w\(slot)")) }
            #expect(held.contains { $0.job.text == "small" })
            #expect(try begun() == ["film", "small"])
        }

        @Test func aJobOfGreaterWeightBeginsAtOnce() async throws {
            for id in ["a", "b", "c", "d"] { try await submit(id, passes: 100) }
            var held = [try await fixture.take("w0"), try await fixture.take("w1")]
            #expect(try begun() == ["a", "b"])
            try await submit("light", passes: 100, weight: 0.5)
            try await submit("heavy", passes: 100, weight: 2)
            held.append(try await fixture.take("w0"))
            #expect(try begun().contains("heavy"))
            // Another as heavy waits its turn; made heavier it does not.
            try await submit("late", passes: 100, weight: 2)
            for claim in held { try await fixture.complete(claim) }
            _ = try await fixture.take("w0")
            #expect(try !begun().contains("late"))
            #expect(try await fixture.board.weigh(JobID("late"), 3) == .running)
            _ = try await fixture.take("w0")
            #expect(try begun().contains("late"))
            #expect(try !begun().contains("light"))
        }

        @Test func theFirstJobOfAnOwnerBeginsAtOnceAndTheirNextTakesTurns() async throws {
            for number in 0..<20 { try await submit("ann\(number)", passes: 100) }
            _ = try await fixture.take("w0")
            #expect(try begun() == ["ann0"])
            for number in 0..<3 { try await submit("bob\(number)", passes: 100, by: "bob") }
            _ = try await fixture.take("w0")
            #expect(try begun() == ["ann0", "ann1", "bob0"] || begun() == ["ann0", "bob0"])
            for id in try begun() { #expect(try await fixture.board.cancel(JobID(id))) }
            var next: [String] = []
            for _ in 0..<4 {
                let before = try begun()
                _ = try await fixture.take("w0")
                next += try begun().subtracting(before).map { String($0.prefix(3)) }
            }
            #expect(Set(next.prefix(2)) == ["ann", "bob"], "\(next)")
        }

        @Test func whatEndsAJobGoesFirst() async throws {
            for id in ["a", "b", "c"] { try await submit(id, passes: 2) }
            let (first, second) = (try await fixture.take("w0"), try await fixture.take("w1"))
            try await fixture.complete(first)
            try await fixture.complete(second)
            var order: [String] = []
            while order.count < 3, let claim = try await fixture.claimReady() {
                try await fixture.complete(claim)
                order.append(claim.work == .assembly ? "assembly" : "pass")
            }
            // A pass or two complete a job; its assembly is the very next.
            let place = try #require(order.firstIndex(of: "assembly"))
            #expect(place <= 2)
            #expect(try await fixture.state("c") == .running)
        }

        @Test func noSlotIsIdleWhileAJobWaits() async throws {
            // The one that is begun needs more than this worker has.
            let large = BoardFixture.job("large", passes: 10, need: 5000)
            try await fixture.publish(large)
            for number in 0..<3 { try await submit("small\(number)", passes: 1) }
            #expect(try await fixture.take().job.text.hasPrefix("small"))
            #expect(try await fixture.take().job.text.hasPrefix("small"))
            #expect(try await fixture.take().job.text.hasPrefix("small"))
            #expect(try await fixture.claim() == nil)
        }

        @Test func aPausedJobLeavesTheQueueAndComesBack() async throws {
            for id in ["a", "b"] { try await submit(id, passes: 1) }
            #expect(try await fixture.board.pause(JobID("a")) == .running)
            #expect(try await fixture.take().job.text == "b")
            #expect(try await fixture.claim() == nil)
            #expect(try await fixture.board.resume(JobID("a")) == .running)
            #expect(try await fixture.take().job.text == "a")
        }
    }
}
