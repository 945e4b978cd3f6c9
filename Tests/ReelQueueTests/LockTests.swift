import ReelCore
import ReelQueue
import ReelTestSupport
import Testing

extension BoardTests {
    /// Locks by which processes take turns at a store.
    @Suite struct Locks {
        let fixture: BoardFixture
        init() throws { fixture = try BoardFixture() }

        @Test("one token has a lock, keeps it as long as it wants, and does not get it back when it has lapsed")
        func turns() async throws {
            let (board, long) = (fixture.board, Duration.seconds(60))
            #expect(try await board.lock("record:a1", token: "aa", for: long, again: false))
            #expect(try await !board.lock("record:a1", token: "bb", for: long, again: false))
            #expect(try await !board.lock("record:a1", token: "aa", for: long, again: false), "its holder has it")
            #expect(try await !board.lock("record:a1", token: "bb", for: long, again: true))
            #expect(try await board.lock("record:a2", token: "bb", for: long, again: false), "another lock")
            // A process that does not have it cannot let it go.
            try await board.unlock("record:a1", token: "bb")
            #expect(try await board.lock("record:a1", token: "aa", for: .milliseconds(50), again: true))
            while try await !board.lock("record:a1", token: "bb", for: long, again: false) {
                try await Task.sleep(for: .milliseconds(10))
            }
            #expect(try await !board.lock("record:a1", token: "aa", for: long, again: true))
            try await board.unlock("record:a1", token: "bb")
            #expect(try await !board.lock("record:a1", token: "bb", for: long, again: true))
            #expect(try await board.lock("record:a1", token: "cc", for: long, again: false))
        }
    }
}
