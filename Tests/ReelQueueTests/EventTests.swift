import ReelCore
import ReelQueue
import ReelTestSupport
import Testing

extension BoardTests {
    /// The stream of events, as a watching process reads it.
    @Suite struct Events {
        let fixture: BoardFixture
        init() throws { fixture = try BoardFixture() }

        @Test func everyKindThatAFunctionWritesIsKnownAndNoOther() {
            // Where a job ends, the event is its state.
            var written: Set<String> = ["done", "failed", "cancelled"]
            for call in Library.text.matches(of: /\bevent\(([^,\n]+),/) {
                let kinds = call.1.matches(of: /'(\w+)'/).map { String($0.1) }
                #expect(!kinds.isEmpty || ["what", "state"].contains(call.1), "\(call.1)")
                written.formUnion(kinds)
            }
            #expect(written == Set(BoardEvent.Kind.allCases.map(\.rawValue)))
        }

        @Test func eventsOfAJobComeInOrder() async throws {
            let place = try await fixture.board.placeOfNow()
            try await fixture.publish(BoardFixture.job(passes: 2))
            let (first, second) = (try await fixture.take("w1"), try await fixture.take("w2"))
            try await fixture.fail(second, .transient, by: "w2")
            try await fixture.complete(first)
            try fixture.makeDue()
            try await fixture.board.release(fixture.take("w1"))
            _ = try await fixture.board.pause(JobID("a1"))
            _ = try await fixture.board.resume(JobID("a1"))
            try await fixture.complete(fixture.take("w1"))
            try await fixture.complete(fixture.take("w1"))

            let events = try await fixture.board.events(after: place, atMost: .milliseconds(10))
            let (one, two) = (WorkerID("w1"), WorkerID("w2"))
            let passed: [(BoardEvent.Kind, Int?, WorkerID?)] = [
                (.begun, nil, WorkerID("c1")), (.published, nil, nil), (.claimed, 0, one), (.claimed, 1, two),
                (.attemptFailed, 1, two), (.completed, 0, one), (.claimed, 1, one), (.released, 1, nil),
                (.paused, nil, nil), (.resumed, nil, nil), (.claimed, 1, one), (.assembling, nil, nil),
                (.completed, 1, one), (.claimed, 2, one), (.done, nil, nil), (.completed, 2, one),
            ]
            #expect(events.map(\.happening) == passed.map { .init($0, index: $1, worker: $2) })
            #expect(Set(events.map(\.job)) == [JobID("a1")])

            // A reader that goes on from there gets no event twice.
            let last = try #require(events.last?.place)
            #expect(try await fixture.board.events(after: last, atMost: .milliseconds(10)).isEmpty)
            let middle = events[7].place
            #expect(try await fixture.board.events(after: middle, atMost: .milliseconds(10)) == Array(events[8...]))
        }

        @Test(.timeLimit(.minutes(10))) func anEventWakesAWaitingReader() async throws {
            let watcher = try BoardFixture.open(fixture.server, timing: BoardTiming(answerTimeout: .seconds(7200)))
            let place = try await watcher.placeOfNow()
            async let events = watcher.events(after: place, atMost: .seconds(3600))
            try await fixture.publish()
            #expect(try await events.first?.job == JobID("a1"))
        }

        @Test func eventsOfANewerReleaseAreSkipped() async throws {
            let place = try await fixture.board.placeOfNow()
            let entries = [
                ["event", "sung", "job", "a1", "index", "", "worker", ""], ["event", "claimed", "job", "a1"],
                ["other", "x"],
            ]
            for entry in entries { try fixture.raw.send(["XADD", "reel2:{main}:events", "*"] + entry) }
            let events = try await fixture.board.events(after: place, atMost: .milliseconds(10))
            #expect(events.map(\.happening.name) == ["sung", "claimed", ""])
            #expect(events.allSatisfy { $0.happening.kind == nil && $0.happening.index == nil })
        }

        // MARK: The journal

        private func action(_ number: Int) -> JournalAction {
            JournalAction(
                who: "anna", role: "operator", address: "10.0.0.\(number)", action: "cancel",
                job: number == 2 ? nil : JobID("a\(number)"), status: 200 + number)
        }

        @Test func theLatestComeFirstPageByPage() async throws {
            #expect(try await fixture.board.journal(before: nil, count: 10).isEmpty)
            let before = try await fixture.board.clocks().board
            for number in 1...5 { try await fixture.board.note(action(number)) }
            let first = try await fixture.board.journal(before: nil, count: 2)
            #expect(first.map(\.action) == [action(5), action(4)])
            #expect(first.allSatisfy { $0.time >= before - 0.001 && $0.time < before + 60 })
            // What is noted meanwhile moves nothing.
            try await fixture.board.note(action(6))
            let place = try #require(BoardEvent.Place("\(first[1].place)"))
            let second = try await fixture.board.journal(before: place, count: 2)
            #expect(second.map(\.action) == [action(3), action(2)])
            let third = try await fixture.board.journal(before: second[1].place, count: 2)
            #expect(third.map(\.action) == [action(1)])
            #expect(try await fixture.board.journal(before: third[0].place, count: 2).isEmpty)
            #expect(try await fixture.board.journal(before: nil, count: 0).isEmpty)
        }

        @Test func itKeepsAboutTenThousandShortEntries() async throws {
            let fill = "for i = 1, 10500 do redis.call('XADD', 'reel2-journal:{main}', '*', 'who', 'x') end"
            try fixture.raw("EVAL", fill, "0")
            let long = String(repeating: "x", count: 1000)
            try await fixture.board.note(
                JournalAction(who: long, role: long, address: long, action: long, job: JobID(long), status: 500))
            let kept = Int(try fixture.raw("XLEN", "reel2-journal:{main}")) ?? 0
            #expect((10_000..<10_200).contains(kept))
            let latest = try await fixture.board.journal(before: nil, count: 2)
            #expect(latest[0].action.who == String(repeating: "x", count: 256))
            #expect(latest[0].action.job?.text.count == 256)
            // An entry of another release lacks fields.
            #expect(latest[1].action == JournalAction(who: "x", role: "", address: "", action: "", status: 0))
        }
    }
}
