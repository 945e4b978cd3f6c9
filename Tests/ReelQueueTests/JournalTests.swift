import ReelCore
import ReelQueue
import ReelTestSupport
import Testing

extension BoardTests {
    /// What people had a server change.
    @Suite struct Journal {
        let fixture: BoardFixture
        init() throws { fixture = try BoardFixture() }

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
