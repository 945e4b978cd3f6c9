import ReelCore
import ReelQueue
import Testing

extension BoardTests {
    /// One machine's verdict that a pass is impossible does not end a job.
    @Suite struct SickHosts {
        let bench: Bench
        let job = JobID("a1")
        init() throws { bench = try Bench() }

        private func farm() async throws {
            try await bench.publish(Bench.job(passes: 1))
            try await bench.beat("w1", host: "one")
            try await bench.beat("w2", host: "two")
            try await bench.beat("w3", host: "one")
        }

        @Test func anotherHostIsAsked() async throws {
            try await farm()
            #expect(try await bench.fail(bench.take("w1"), .permanent) == .retry)
            for worker in ["w1", "w3"] { #expect(try await bench.claim(worker) == nil) }
            #expect(try await bench.complete(bench.take("w2"), by: "w2") == .ok)
            #expect(try await bench.state() == .assembling)
        }

        @Test func twoHostsAreBelieved() async throws {
            try await farm()
            try await bench.fail(bench.take("w1"), .permanent)
            #expect(try await bench.fail(bench.take("w2"), .permanent, by: "w2", message: "nor here") == .jobFailed)
            #expect(try await bench.board.status(job)?.failure == .sample(.permanent, "nor here"))
        }

        @Test(arguments: ["is gone", "drains", "is excluded", "is too small"])
        func whereNoOtherHostCouldTheFirstIsBelieved(_ why: String) async throws {
            try await farm()
            switch why {
            case "is gone": try await bench.board.depart(WorkerID("w2"))
            case "drains": #expect(try await bench.board.drain(WorkerID("w2")))
            case "is excluded": try await bench.fail(bench.take("w2"), .incompatible, by: "w2")
            default: try await bench.beat("w2", host: "two", memory: 50)
            }
            #expect(try await bench.fail(bench.take("w1"), .permanent) == .jobFailed)
        }

        /// Ten minutes, by the leases of production.
        @Test func aPassThatNoOtherHostTakesIsTriedAgain() async throws {
            try await farm()
            try await bench.fail(bench.take("w1"), .permanent)
            try bench.makeDue()
            #expect(try await bench.fail(bench.take("w3"), .permanent, by: "w3") == .jobFailed)
        }

        @Test func aSubmitterIsBelievedAboutItsOwnFile() async throws {
            for worker in ["w1", "w2"] { try await bench.beat(worker) }
            #expect(try await bench.fail(bench.begin(), .permanent, by: "c1") == .jobFailed)
            let begun = try await bench.begin(Bench.job("b2"))
            try await bench.board.release(begun)
            #expect(try await bench.fail(bench.take("w1"), .permanent) == .retry)
            #expect(try await bench.claim("w1") == nil)
            #expect(try await bench.take("w2").pass == .probe)
        }

        @Test func aCrashOnTwoHostsIsChargedToTheJob() async throws {
            try await farm()
            #expect(try await bench.fail(bench.take("w1"), .crash) == .retry)
            #expect(try await bench.fail(bench.take("w3"), .crash, by: "w3") == .retry)
            #expect(try await bench.fail(bench.take("w2"), .crash, by: "w2") == .jobFailed)
            try await bench.publish(Bench.job("b2", passes: 1))
            #expect(try await bench.fail(bench.take("w1"), .crash) == .retry)
            let answer = try await bench.fail(bench.take("w2"), .crash, by: "w2")
            #expect(answer == .jobAtFault && answer.blamesJob)
        }

        @Test func aRestartedWorkerGetsANewChance() async throws {
            try await farm()
            #expect(try await bench.fail(bench.take("w1"), .incompatible) == .retry)
            try await bench.board.depart(WorkerID("w1"))
            try await bench.beat("w1 again", host: "one")
            let claim = try await bench.take("w1 again")
            #expect(try await bench.fail(claim, .incompatible, by: "w1 again") == .retry)
            // The one that left is forgotten.
            #expect(try await bench.board.status(job)?.excluded.keys.sorted() == ["w1 again"])
        }
    }
}
