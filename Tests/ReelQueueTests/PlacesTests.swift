import ReelCore
import ReelQueue
import ReelTestSupport
import Testing

extension BoardTests {
    /// Jobs in the order of their submission, page by page.
    @Suite struct Places {
        let fixture: BoardFixture
        init() throws { fixture = try BoardFixture() }

        private func page(_ count: Int, before place: JobPlace? = nil) async throws -> [JobPlace] {
            try await fixture.board.jobs(before: place, count: count)
        }

        private func add(_ created: Int, _ ids: String...) throws {
            for id in ids { try fixture.raw("ZADD", "reel2:{main}:jobs", "\(created)", id) }
        }

        @Test func pagesStayWhileJobsComeAndGo() async throws {
            #expect(try await page(3).isEmpty)
            // Jobs of one millisecond are in the order of their ids.
            try add(1_700_000_000_005, "a", "b", "c", "d")
            try add(1_700_000_000_006, "e")
            try add(1_700_000_000_004, "z")
            let first = try await page(3)
            #expect(first.map(\.id.text) == ["e", "d", "c"])
            #expect(first.map { $0.created % 10 } == [6, 5, 5])
            try add(1_700_000_000_007, "f")
            try fixture.raw("ZREM", "reel2:{main}:jobs", "c", "e")
            let place = try #require(JobPlace("\(first[2])"))
            #expect(place == first[2])
            let second = try await page(2, before: place)
            #expect(second.map(\.id.text) == ["b", "a"])
            #expect(try await page(2, before: second[1]).map(\.id.text) == ["z"])
            #expect(try await page(9, before: JobPlace(created: 1_700_000_000_004, id: JobID("z"))).isEmpty)
            #expect(try await page(9).map(\.id.text) == ["f", "d", "b", "a", "z"])
            #expect(try await page(0).isEmpty)
        }

        @Test func everyJobIsOnOnePage() async throws {
            let ids = (0..<250).map { "j\($0)" }
            for (number, id) in ids.enumerated() { try add(1000 + number / 100, id) }
            var (found, place) = ([String](), JobPlace?.none)
            while case let next = try await page(7, before: place), !next.isEmpty {
                found += next.map(\.id.text)
                place = next.last
            }
            #expect(found.count == 250)
            #expect(found.sorted() == ids.sorted())
        }

        @Test func aPlaceAsText() {
            #expect(JobPlace("12-ab-c") == JobPlace(created: 12, id: JobID("ab-c")))
            for text in ["", "12", "-ab", "x-ab", "-1-ab"] { #expect(JobPlace(text) == nil) }
        }
    }
}
