import ReelCore
import ReelQueue
import ReelTestSupport
import Testing

extension BoardTests {
    @Suite struct Failing {
        let fixture: BoardFixture
        let job = JobID("a1")
        init() throws { fixture = try BoardFixture() }

        /// Fails the only pass until the job fails or `most` attempts are over; gives the answers.
        private func attempts(_ cause: FailureCause, most: Int) async throws -> [FailAnswer] {
            try await fixture.publish(BoardFixture.job(passes: 1))
            try await fixture.beat("w1")
            var answers: [FailAnswer] = []
            while answers.count < most, try await fixture.state() == .running {
                let claim = try await fixture.take()
                answers.append(try await fixture.fail(claim, cause, message: "attempt \(answers.count + 1)"))
                try fixture.makeDue()
            }
            return answers
        }

        @Test(arguments: [(FailureCause.transient, 5), (.crash, 3), (.limit, 2), (.lost, 20), (.permanent, 1)])
        func eachChargedCauseHasItsLimit(_ cause: FailureCause, limit: Int) async throws {
            let answers = try await attempts(cause, most: 50)
            #expect(answers == Array(repeating: .retry, count: limit - 1) + [.jobFailed])
            let status = try #require(try await fixture.board.status(JobID("a1")))
            #expect(status.state == .failed)
            let failure = try #require(status.failures.first)
            #expect(status.failureCount == 1 && failure.index == 0 && failure.attempts == [cause.rawValue: limit])
            #expect(failure.recent.map(\.reason) == (max(1, limit - 4)...limit).map { .sample(cause, "attempt \($0)") })
            #expect(failure.recent.allSatisfy { $0.cause == cause.rawValue && $0.worker == "w1" })
            #expect(failure.recent.allSatisfy { $0.host == "host of w1" && abs($0.time - status.created) < 60 })
            #expect(status.passes.exhausted == 1)
            let last = ReelFailure.sample(cause, "attempt \(limit)")
            let expected: FailureReason =
                switch cause {
                case .permanent: last.reason
                case .limit: .passOutOfMemory(pass: 0, planned: 100, doubled: true, last: last)
                default: .passExhausted(pass: 0, attempts: limit, last: last)
                }
            #expect(status.failure == ReelFailure(expected))
            #expect(try await fixture.claim() == nil)
            #expect(try fixture.raw("ZCARD", "reel2:{main}:lease") == "0")
        }

        @Test func theLimitFailureSaysThatNoWorkerHasMore() async throws {
            try await fixture.publish(BoardFixture.job(passes: 1))
            try await fixture.beat("w1", memory: 150)
            #expect(try await fixture.fail(fixture.take(), .limit) == .jobFailed)
            let last = ReelFailure.sample(.limit, "it broke")
            let expected = FailureReason.passOutOfMemory(pass: 0, planned: 100, doubled: false, last: last)
            #expect(try await fixture.board.status(JobID("a1"))?.failure == ReelFailure(expected))
        }

        @Test func aPermanentFailureIsKeptWhole() async throws {
            try await fixture.publish()
            let (first, second) = (try await fixture.take(), try await fixture.take("w2"))
            let message = "\"film\"/clip.mkv: ≥ 1 kaputt\n\u{1} at 00:01"
            #expect(try await fixture.fail(first, .permanent, message: message) == .jobFailed)
            let status = try #require(try await fixture.board.status(first.job))
            #expect(status.failure == ReelFailure.sample(.permanent, message))
            #expect(status.finished != nil)
            #expect(try await fixture.beat("w2", holding: [second]).answers == [second.token: .cancel])
            #expect(try await fixture.complete(second, by: "w2") == .cancelled)
            #expect(try await fixture.fail(second, .crash, by: "w2") == .late)
        }

        @Test func otherJobsAreUnharmed() async throws {
            try await fixture.publish(BoardFixture.job("a1", passes: 1))
            try await fixture.publish(BoardFixture.job("b2", passes: 1))
            let claims = [try await fixture.take(), try await fixture.take()]
            try await fixture.fail(claims[0], .permanent)
            #expect(try await fixture.complete(claims[1]) == .ok)
            #expect(try await fixture.state(claims[1].job.text) == .assembling)
        }

        @Test func aTransientFailureWaitsLongerEachTime() async throws {
            try await fixture.publish(BoardFixture.job(passes: 1))
            for expected in [2.0, 4, 8, 16] {
                let claim = try await fixture.take()
                #expect(try await fixture.fail(claim, .transient) == .retry)
                let wait = try fixture.wait(0)
                #expect(wait <= expected && wait > expected - 1)
                #expect(try await fixture.claim() == nil)
                try fixture.makeDue()
            }
        }

        @Test func causesAreChargedSeparately() async throws {
            try await fixture.publish(BoardFixture.job(passes: 1))
            try await fixture.beat("w1")
            for cause in [FailureCause.crash, .limit, .crash] {
                #expect(try await fixture.fail(fixture.take(), cause) == .retry)
            }
            let failures = try await fixture.board.status(JobID("a1"))?.failures
            #expect(failures?.first?.attempts == ["crash": 2, "limit": 1])
        }

        @Test func aCrashGoesToAnotherWorkerIfThereIsOne() async throws {
            try await fixture.publish(BoardFixture.job(passes: 1))
            try await fixture.beat("w1")
            try await fixture.beat("w2")
            try await fixture.fail(fixture.take("w1"), .crash, by: "w1")
            #expect(try await fixture.claim("w1") == nil)
            try await fixture.fail(fixture.take("w2"), .crash, by: "w2")
            // Both have had it.
            #expect(try await fixture.take("w1").index == 0)
        }

        @Test func aGoneWorkerDoesNotCountAmongThoseThatHadTheCrash() async throws {
            try await fixture.publish(BoardFixture.job(passes: 1))
            for worker in ["gone", "w1", "w2"] { try await fixture.beat(worker) }
            try await fixture.fail(fixture.take("gone"), .crash, by: "gone")
            try await fixture.board.depart(WorkerID("gone"))
            try await fixture.fail(fixture.take("w1"), .crash, by: "w1")
            #expect(try await fixture.claim("w1") == nil)
            #expect(try await fixture.take("w2").index == 0)
        }

        @Test func aWorkerThatHadTheCrashTwiceCountsOnce() async throws {
            try await fixture.publish(BoardFixture.job(passes: 1))
            for worker in ["w1", "w2"] { try await fixture.beat(worker) }
            for _ in 0..<2 {
                try await fixture.fail(fixture.take("w1"), .crash, by: "w1")
                #expect(try await fixture.claim("w1") == nil)
                try fixture.makeDue()
            }
            try await fixture.board.release(fixture.take("w1"))
            #expect(try await fixture.claim("w1") == nil)
            #expect(try await fixture.take("w2").index == 0)
        }

        @Test func aCrashedPassIsTakenAgainIfNoOtherWorkerComes() async throws {
            try await fixture.publish(BoardFixture.job(passes: 1))
            try await fixture.beat("w1")
            try await fixture.beat("w2")
            try await fixture.fail(fixture.take("w1"), .crash, by: "w1")
            #expect(try await fixture.claim("w1") == nil)
            try fixture.makeDue()  // Due for longer than a lease.
            #expect(try await fixture.take("w1").index == 0)
        }

        @Test func anIncompatibleWorkerIsExcludedUncharged() async throws {
            try await fixture.publish(BoardFixture.job(passes: 2))
            try await fixture.beatOnTwoHosts()
            try await fixture.beat("w3", host: "one")
            let answer = try await fixture.fail(
                fixture.take("w1"), .incompatible, message: "no such file")
            #expect(answer == .retry)
            #expect(try await fixture.claim("w1") == nil)
            let status = try #require(try await fixture.board.status(JobID("a1")))
            #expect(status.failures.isEmpty)
            let here = ReelFailure.sample(.incompatible, "no such file")
            #expect(status.excluded == ["w1": JobStatus.HostFailure(host: "one", reason: here)])
            #expect(status.job.diagnostics == [.said("kept")])

            // Nor are the other workers of its host excluded.
            #expect(
                try await fixture.fail(fixture.take("w3"), .incompatible, by: "w3", message: "no such file") == .retry)
            let claim = try await fixture.take("w2")
            #expect(claim.index == 0)
            let last = try await fixture.fail(claim, .incompatible, by: "w2", message: "nor here")
            #expect(last == .jobFailed)
            let failure = try await fixture.board.status(JobID("a1"))?.failure
            let there = ReelFailure.sample(.incompatible, "nor here")
            #expect(failure == ReelFailure(.noWorkerCan(host: "two", last: there)))
        }

        /// One host has recovered before another fails.
        @Test func aWorkerThatComesBackCanTakeTheJobAgain() async throws {
            try await fixture.publish(BoardFixture.job(passes: 2))
            try await fixture.beatOnTwoHosts()
            let (job, missing) = (JobID("a1"), JobID("b2"))
            #expect(try await fixture.fail(fixture.take("w1"), .incompatible, message: "read-only") == .retry)
            #expect(try await fixture.board.readmit(WorkerID("w2"), to: [job]) == 0)
            #expect(try await fixture.board.readmit(WorkerID("w1"), to: [missing, job]) == 1)
            #expect(try await fixture.board.readmit(WorkerID("w1"), to: [job]) == 0)
            let answer = try await fixture.fail(fixture.take("w2"), .incompatible, by: "w2", message: "read-only")
            #expect(answer == .retry)
            #expect(try await fixture.take("w1").index == 0)
            #expect(try await fixture.board.status(job)?.excluded.keys.sorted() == ["w2"])
        }

        @Test func aWorkerThatIsGoneDoesNotCount() async throws {
            try await fixture.publish(BoardFixture.job(passes: 1))
            try await fixture.beatOnTwoHosts()
            try fixture.raw("ZADD", "reel2:{main}:workers", "1", "w2")
            #expect(try await fixture.fail(fixture.take("w1"), .incompatible) == .jobFailed)
        }

        /// The last able worker dies after the others were excluded from the job.
        @Test func aJobWhoseLastAbleWorkerDiesFails() async throws {
            try await fixture.publish(BoardFixture.job(passes: 1))
            try await fixture.beatOnTwoHosts()
            #expect(try await fixture.fail(fixture.take("w1"), .incompatible, message: "no such file") == .retry)
            let board = try BoardFixture.open(fixture.server, timing: BoardTiming(lease: .milliseconds(300)))
            let offer = WorkerOffer(
                worker: WorkerID("w1"), memoryFree: 1 << 40, encoders: ["libx264 1"], protocolVersion: 1)
            // The board does not know which workers are dead before leases are reaped.
            try await Task.sleep(for: .milliseconds(400))
            try await fixture.beat("w1", host: "one")
            #expect(try await board.claim(offer) == nil)
            #expect(try await fixture.state() == .running)
            let deadline = ContinuousClock.now + .seconds(180)
            while try await fixture.state() == .running, ContinuousClock.now < deadline {
                _ = try await board.reap()
                try await fixture.beat("w1", host: "one")
                _ = try await board.claim(offer)
            }
            #expect(try await fixture.state() == .failed)
            let failure = try await fixture.board.status(JobID("a1"))?.failure
            let here = ReelFailure.sample(.incompatible, "no such file")
            #expect(failure == ReelFailure(.noWorkerCan(host: "one", last: here)))
        }

        @Test func aFullDiskIsUnchargedAndLeavesThePassToOthers() async throws {
            try await fixture.publish(BoardFixture.job(passes: 1))
            try await fixture.beat("w1", host: "one")
            for _ in 0..<30 {
                let claim = try await fixture.take("w1")
                #expect(try await fixture.fail(claim, .noSpace, message: "3 GB are missing") == .retry)
            }
            let status = try #require(try await fixture.board.status(JobID("a1")))
            #expect(status.failures.isEmpty)
            let full = ReelFailure.sample(.noSpace, "3 GB are missing")
            #expect(status.spaceNote == JobStatus.HostFailure(host: "one", reason: full))
            try await fixture.complete(fixture.take("w2"), by: "w2")
            #expect(try await fixture.board.status(JobID("a1"))?.spaceNote == nil)
        }

        @Test func aFullDiskIsReportedUntilThePassThatMetItIsDone() async throws {
            try await fixture.publish(BoardFixture.job(passes: 2))
            let (first, second) = (try await fixture.take(), try await fixture.take())
            #expect(try await fixture.fail(first, .noSpace, message: "full") == .retry)
            try await fixture.complete(second)
            #expect(try await fixture.board.status(JobID("a1"))?.spaceNote?.reason == .sample(.noSpace, "full"))
            try await fixture.complete(fixture.take())
            #expect(try await fixture.board.status(JobID("a1"))?.spaceNote == nil)
        }

        @Test func theAssemblyIsTriedAgainToo() async throws {
            try await fixture.publish(BoardFixture.job(passes: 1))
            let pass = try await fixture.take()
            try await fixture.complete(pass)
            try await fixture.fail(fixture.take(), .transient)
            #expect(try await fixture.claim() == nil)
            // A late duplicate does not shorten its wait.
            #expect(try await fixture.complete(pass) == .duplicate)
            #expect(try fixture.raw("ZCARD", "reel2:{main}:run") == "0")
            #expect(try await fixture.claim() == nil)
            try fixture.makeDue()
            let assembly = try await fixture.take()
            #expect(assembly.work == .assembly)
            #expect(try await fixture.complete(assembly) == .ok)
            #expect(try await fixture.state() == .done)
        }

        @Test func onlyTheHolderCanFailOrRelease() async throws {
            try await fixture.publish(BoardFixture.job(passes: 1))
            let stalled = try await fixture.take()
            try await fixture.lapseOne()
            #expect(try await fixture.fail(stalled, .permanent) == .late)
            let other = try await fixture.take("w2")
            #expect(try await fixture.fail(stalled, .permanent) == .late)
            try await fixture.board.release(stalled)
            #expect(try await fixture.board.live(other.job) == [0: WorkerID("w2")])
            #expect(try await fixture.state() == .running)
            #expect(try await fixture.complete(other, by: "w2") == .ok)
            #expect(try await fixture.fail(other, .permanent, by: "w2") == .late)
            #expect(try await fixture.state() == .assembling)
        }

        @Test func releaseChargesNothing() async throws {
            try await fixture.publish(BoardFixture.job(passes: 1))
            for _ in 0..<30 { try await fixture.board.release(fixture.take()) }
            let claim = try await fixture.take()
            #expect(try await fixture.board.status(claim.job)?.failures == [])
            try await fixture.board.release(claim)
            try await fixture.board.release(claim)
            #expect(try await fixture.take("w2").index == 0)
            #expect(try await fixture.claim("w2") == nil)
        }

        // MARK: One machine's verdict that a pass is impossible does not end a job

        private func farm() async throws {
            try await fixture.publish(BoardFixture.job(passes: 1))
            try await fixture.beatOnTwoHosts()
            try await fixture.beat("w3", host: "one")
        }

        @Test func anotherHostIsAsked() async throws {
            try await farm()
            #expect(try await fixture.fail(fixture.take("w1"), .permanent) == .retry)
            for worker in ["w1", "w3"] { #expect(try await fixture.claim(worker) == nil) }
            #expect(try await fixture.complete(fixture.take("w2"), by: "w2") == .ok)
            #expect(try await fixture.state() == .assembling)
        }

        @Test func twoHostsAreBelieved() async throws {
            try await farm()
            try await fixture.fail(fixture.take("w1"), .permanent)
            #expect(try await fixture.fail(fixture.take("w2"), .permanent, by: "w2", message: "nor here") == .jobFailed)
            #expect(try await fixture.board.status(job)?.failure == .sample(.permanent, "nor here"))
        }

        @Test(arguments: ["is gone", "is drained", "is on a drained host", "is excluded", "is too small"])
        func whereNoOtherHostCouldTheFirstIsBelieved(_ why: String) async throws {
            try await farm()
            switch why {
            case "is gone": try await fixture.board.depart(WorkerID("w2"))
            case "is drained": #expect(try await fixture.board.drain(.worker, "w2"))
            case "is on a drained host": #expect(try await fixture.board.drain(.host, "two"))
            case "is excluded": try await fixture.fail(fixture.take("w2"), .incompatible, by: "w2")
            default: try await fixture.beat("w2", host: "two", memory: 50)
            }
            #expect(try await fixture.fail(fixture.take("w1"), .permanent) == .jobFailed)
        }

        /// Ten minutes, by the leases of production.
        @Test func aPassThatNoOtherHostTakesIsTriedAgain() async throws {
            try await farm()
            try await fixture.fail(fixture.take("w1"), .permanent)
            try fixture.makeDue()
            #expect(try await fixture.fail(fixture.take("w3"), .permanent, by: "w3") == .jobFailed)
        }

        @Test func aSubmitterIsBelievedAboutItsOwnFile() async throws {
            for worker in ["w1", "w2"] { try await fixture.beat(worker) }
            #expect(try await fixture.fail(fixture.begin(), .permanent, by: "c1") == .jobFailed)
            let begun = try await fixture.begin(BoardFixture.job("b2"))
            try await fixture.board.release(begun)
            #expect(try await fixture.fail(fixture.take("w1"), .permanent) == .retry)
            #expect(try await fixture.claim("w1") == nil)
            #expect(try await fixture.take("w2").work == .planning)
        }

        @Test func aCrashOnTwoHostsIsChargedToTheJob() async throws {
            try await farm()
            #expect(try await fixture.fail(fixture.take("w1"), .crash) == .retry)
            #expect(try await fixture.fail(fixture.take("w3"), .crash, by: "w3") == .retry)
            #expect(try await fixture.fail(fixture.take("w2"), .crash, by: "w2") == .jobFailed)
            try await fixture.publish(BoardFixture.job("b2", passes: 1))
            #expect(try await fixture.fail(fixture.take("w1"), .crash) == .retry)
            let answer = try await fixture.fail(fixture.take("w2"), .crash, by: "w2")
            #expect(answer == .jobAtFault && answer.blamesJob)
        }

        @Test func aRestartedWorkerGetsANewChance() async throws {
            try await farm()
            #expect(try await fixture.fail(fixture.take("w1"), .incompatible) == .retry)
            try await fixture.board.depart(WorkerID("w1"))
            try await fixture.beat("w1 again", host: "one")
            let claim = try await fixture.take("w1 again")
            #expect(try await fixture.fail(claim, .incompatible, by: "w1 again") == .retry)
            // The one that left is forgotten.
            #expect(try await fixture.board.status(job)?.excluded.keys.sorted() == ["w1 again"])
        }
    }
}
