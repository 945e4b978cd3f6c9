import ReelCore
import ReelQueue
import ReelTestSupport
import Testing

extension BoardTests {
    /// The speed of each minute of the last hour.
    @Suite struct Rates {
        let fixture: BoardFixture
        init() throws { fixture = try BoardFixture() }

        private let key = "reel2:{main}:pace"

        /// Minutes since 1970, by Redis's clock.
        private func minute() throws -> Int { (Int(try fixture.raw("TIME").split(separator: "\n")[0]) ?? 0) / 60 }

        @Test func theLastSixtyWholeMinutes() async throws {
            var (rates, now) = ([MinuteRate](), 0)
            repeat {
                now = try minute()
                // Minutes before the last hour, the one that goes on, and what is no slot do not count.
                let slots = [(now, 6000, 60), (now - 1, 600, 6), (now - 60, 90, 3), (now - 70, 1, 1)]
                for (slot, frames, passes) in slots {
                    try fixture.raw("HSET", key, "m\(slot % 61)", "\(slot) \(frames) \(passes)")
                }
                try fixture.raw("HSET", key, "x", "\(now - 3) -5 0", "y", "a b c")
                rates = try await fixture.board.rates()
            } while try minute() != now
            #expect(rates.map(\.time) == (now - 60..<now).map { $0 * 60 })
            #expect(rates.last?.pace == Pace(framesPerSecond: 10, passesPerSecond: 0.1))
            #expect(rates.first?.pace == Pace(framesPerSecond: 1.5, passesPerSecond: 0.05))
            #expect(rates.dropFirst().dropLast().allSatisfy { $0.pace == .none })
        }

        @Test func workIsInTheMinuteInWhichItIsReported() async throws {
            var (slots, minutes) = ("", 0..<0)
            repeat {
                try fixture.raw("FLUSHALL")
                let before = try minute()
                try await fixture.publish(BoardFixture.job(passes: 2))
                let (first, second) = (try await fixture.take(), try await fixture.take())
                try await fixture.beat(holding: [first, second], encoded: 4)
                try await fixture.complete(first)
                slots = try fixture.raw("HGET", key, "m\(before % 61)")
                minutes = before..<(try minute())
            } while !minutes.isEmpty
            // The first pass has ten frames, of which the beat told four; so it did of the second.
            #expect(slots == "\(minutes.lowerBound) 14 1")
            #expect(try await fixture.board.rates().count == 60)
            // The last minute's speed and that of each minute stand beside each other.
            let passes = try await fixture.board.pace().passesPerSecond
            #expect(passes > 0 && passes <= 1)
        }
    }
}
