import Foundation
import ReelCore
import ReelQueue
import ReelTestSupport
import Testing

extension BoardTests {
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
