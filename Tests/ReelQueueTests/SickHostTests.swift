import ReelCore
import ReelQueue
import Testing

extension BoardTests {
    /// One machine's verdict that a pass is impossible does not end a job.
    @Suite struct SickHosts {
        let fixture: BoardFixture
        let job = JobID("a1")
        init() throws { fixture = try BoardFixture() }

        private func farm() async throws {
            try await fixture.publish(BoardFixture.job(passes: 1))
            try await fixture.beat("w1", host: "one")
            try await fixture.beat("w2", host: "two")
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
