import ReelCore
import ReelQueue
import ReelTestSupport
import Testing

extension BoardTests {
    /// Webhooks: when they are due, who sends them, and when they are tried again or given up.
    @Suite struct Webhooks {
        let fixture: BoardFixture
        init() throws { fixture = try BoardFixture() }

        private let job = JobID("a1")
        private static let url = "https://a.example/hook?key=1"
        private static let due = "reel2:{main}:webhooks"

        /// A job without passes, held for its assembly.
        private func publish() async throws -> Claim {
            try await fixture.publish(BoardFixture.job(passes: 0))
            return try await fixture.take()
        }

        /// All that is to be sent is due at once, and leases have lapsed; later than what happened before.
        private func makeDue() async throws {
            try await waitAMoment()
            for name in try fixture.raw("ZRANGE", Webhooks.due, "0", "-1").split(separator: "\n") {
                try fixture.raw("ZADD", Webhooks.due, "1", String(name))
            }
        }

        /// Until the board's clock is in another millisecond.
        private func waitAMoment() async throws {
            let now = try await fixture.board.clocks().board
            while try await fixture.board.clocks().board < now + 0.002 {}
        }

        @Test func itIsDueWhenTheJobEndsAndOneServerSendsIt() async throws {
            #expect(try await fixture.board.hook(job, Webhooks.url) == nil)
            let claim = try await publish()
            #expect(try await fixture.board.hook(job, Webhooks.url) == .added)
            #expect(try await fixture.board.hook(job, Webhooks.url) == .added)
            #expect(try await fixture.board.dispatch() == nil)
            let before = try await fixture.board.clocks().board
            try await fixture.complete(claim)
            let webhook = try #require(try await fixture.board.dispatch())
            #expect(webhook.job == job)
            #expect(webhook.url == Webhooks.url)
            #expect(webhook.attempt == 1)
            #expect(Double(webhook.since) / 1000 >= before - 0.001)
            #expect((50_000...60_100).contains(webhook.till - webhook.since))
            #expect(try await fixture.board.dispatch() == nil)
            #expect(try await fixture.board.dispatched(webhook, .sent) == .sent)
            #expect(try await fixture.board.dispatched(webhook, .sent) == .stale)
            try await makeDue()
            #expect(try await fixture.board.dispatch() == nil)
            #expect(try await fixture.board.figures().webhooks == .init(sent: 1))
        }

        @Test func aServerThatDoesNotReportLosesItToAnother() async throws {
            try await fixture.complete(hooked())
            let first = try #require(try await fixture.board.dispatch())
            try await makeDue()
            let second = try #require(try await fixture.board.dispatch())
            #expect(second.attempt == 2)
            #expect(second.since == first.since)
            #expect(try await fixture.board.dispatched(first, .failed) == .stale)
            #expect(try await fixture.board.dispatched(first, .refused) == .stale)
            // What has arrived is not sent again, no matter which server sent it.
            #expect(try await fixture.board.dispatched(first, .sent) == .sent)
            #expect(try await fixture.board.dispatched(second, .failed) == .stale)
        }

        private func hooked() async throws -> Claim {
            let claim = try await publish()
            #expect(try await fixture.board.hook(job, Webhooks.url) == .added)
            return claim
        }

        @Test func pausesGrowToAnHourAndEndAfterADay() async throws {
            try await fixture.complete(hooked())
            var pauses: [Int] = []
            for _ in 0..<12 {
                try await makeDue()
                let webhook = try #require(try await fixture.board.dispatch())
                guard case .again(let pause) = try await fixture.board.dispatched(webhook, .failed) else {
                    Issue.record("given up after \(pauses)")
                    return
                }
                pauses.append(Int(pause.components.seconds))
                #expect(try await fixture.board.dispatch() == nil)
            }
            #expect(pauses == [10, 20, 40, 80, 160, 320, 640, 1280, 2560, 3600, 3600, 3600])
            // The job ended 23 hours and 59 minutes ago.
            let now = Int64(try await fixture.board.clocks().board * 1000)
            let part = "reel2:{main}:job:a1:webhooks"
            try fixture.raw("HSET", part, Webhooks.url, "\(now - 86_340_000) 3")
            try await makeDue()
            let last = try #require(try await fixture.board.dispatch())
            #expect(last.attempt == 4)
            #expect(try await fixture.board.dispatched(last, .failed) == .givenUp)
            #expect(try fixture.raw("ZCARD", Webhooks.due) == "0")
            #expect(try await fixture.board.figures().webhooks == .init(retried: 12, givenUp: 1))
            // No server was there for more than a day: one that was never tried is tried, another is given up.
            for (attempts, isTried) in [(0, true), (1, false)] {
                try fixture.raw("HSET", part, Webhooks.url, "\(now - 90_000_000) \(attempts)")
                try fixture.raw("ZADD", Webhooks.due, "1", "a1 \(Webhooks.url)")
                #expect((try await fixture.board.dispatch() != nil) == isTried)
            }
            #expect(try await fixture.board.figures().webhooks.givenUp == 2)
        }

        @Test func oneThatWantsNoMoreIsGivenUpAtOnce() async throws {
            try await fixture.complete(hooked())
            let webhook = try #require(try await fixture.board.dispatch())
            #expect(try await fixture.board.dispatched(webhook, .refused) == .givenUp)
            #expect(try await fixture.board.figures().webhooks == .init(givenUp: 1))
        }

        @Test(arguments: [JobState.done, .failed, .cancelled]) func everyEndSends(_ state: JobState) async throws {
            let claim = try await hooked()
            switch state {
            case .done: try await fixture.complete(claim)
            case .failed: try await fixture.fail(claim, .permanent)
            default: #expect(try await fixture.board.cancel(job))
            }
            #expect(try await fixture.state() == state)
            #expect(try await fixture.board.dispatch()?.job == job)
        }

        @Test func aJobThatRunsAgainSendsWhenItEndsAgain() async throws {
            try await fixture.fail(hooked(), .permanent)
            let first = try #require(try await fixture.board.dispatch())
            #expect(try await fixture.board.dispatched(first, .failed) == .again(after: .seconds(10)))
            #expect(try await fixture.board.retry(job) == .failed)
            try await makeDue()
            #expect(try await fixture.board.dispatch() == nil)
            try await fixture.complete(fixture.take())
            let second = try #require(try await fixture.board.dispatch())
            #expect(second.since > first.since)
            #expect(second.attempt == 1)
            #expect(try await fixture.board.dispatched(first, .sent) == .stale)
            #expect(try await fixture.board.dispatched(second, .sent) == .sent)
        }

        @Test func oneOfAJobThatHasEndedIsDueAtOnceAndAgainForEachThatAsks() async throws {
            try await fixture.complete(publish())
            #expect(try await fixture.board.hook(job, Webhooks.url) == .due)
            #expect(try await fixture.board.hook(job, Webhooks.url) == .due)
            let webhook = try #require(try await fixture.board.dispatch())
            // One that is being sent goes on.
            #expect(try await fixture.board.hook(job, Webhooks.url) == .due)
            #expect(try await fixture.board.dispatched(webhook, .sent) == .sent)
            #expect(try await fixture.board.dispatch() == nil)
            #expect(try await fixture.board.hook(job, Webhooks.url) == .due)
            #expect(try await fixture.board.dispatch()?.attempt == 1)
            // It goes with its job.
            let left = Int(try fixture.raw("PTTL", "reel2:{main}:job:a1:webhooks")) ?? -1
            #expect(left > 0)
        }

        @Test func aRemovedOrRenewedJobSendsNothing() async throws {
            try await fixture.complete(hooked())
            try await fixture.board.forget(job)
            #expect(try fixture.raw("ZCARD", Webhooks.due) == "0")
            try await fixture.fail(hooked(), .permanent)
            #expect(try fixture.raw("ZCARD", Webhooks.due) == "1")
            _ = try await fixture.begin()
            #expect(try fixture.raw("ZCARD", Webhooks.due) == "0")
            #expect(try await fixture.board.cancel(job))
            #expect(try await fixture.board.dispatch() == nil)
        }

        @Test func aJobHasEightAtMost() async throws {
            _ = try await publish()
            for number in 0..<BoardPolicy.webhooksKept {
                #expect(try await fixture.board.hook(job, "https://\(number).example/") == .added)
            }
            #expect(try await fixture.board.hook(job, "https://other.example/") == .full)
            #expect(try await fixture.board.hook(job, "https://3.example/") == .added)
            #expect(try await fixture.board.cancel(job))
            #expect(try await fixture.board.hook(job, "https://other.example/") == .full)
            var urls: Set<String> = []
            while let webhook = try await fixture.board.dispatch() { urls.insert(webhook.url) }
            #expect(urls.count == BoardPolicy.webhooksKept)
        }

        @Test func theOneThatHasWaitedLongestComesFirst() async throws {
            for id in ["b", "a", "c"] {
                try await fixture.publish(BoardFixture.job(id, passes: 0))
                #expect(try await fixture.board.hook(JobID(id), Webhooks.url) == .added)
                #expect(try await fixture.board.cancel(JobID(id)))
                try await waitAMoment()
            }
            var order: [String] = []
            while let webhook = try await fixture.board.dispatch() { order.append(webhook.job.text) }
            #expect(order == ["b", "a", "c"])
        }
    }
}
