package import ReelCore

/// The speed of all jobs together in one minute.
package struct MinuteRate: Hashable, Sendable {
    /// The start of the minute, in seconds since 1970 by the board's clock.
    package var time: Int
    /// The frames that were encoded and the passes that were finished, in a second.
    package var pace: Pace

    package init(time: Int, pace: Pace) {
        self.time = time
        self.pace = pace
    }
}

extension RedisBoard {
    /// The speed of all jobs in each of the last 60 whole minutes, the oldest first. Minutes without work have none.
    package func rates() throws(ReelFailure) -> [MinuteRate] {
        let answer = try call(Command.Rates())
        return MinuteRate.rates(answer.slots, now: answer.now)
    }
}

extension MinuteRate {
    /// - Parameters:
    ///   - slots: "minute frames passes" each. The number of a slot of five seconds is that of no minute of the last
    ///     hundred years.
    ///   - now: milliseconds since 1970.
    static func rates(_ slots: [String: String], now: Int) -> [MinuteRate] {
        var paces: [Int: Pace] = [:]
        for entry in slots.values {
            let numbers = entry.split(separator: " ").compactMap { Int($0) }
            guard numbers.count == 3, numbers.dropFirst().allSatisfy(Totals.counts.contains) else { continue }
            paces[numbers[0]] = Pace(
                framesPerSecond: Double(numbers[1]) / 60, passesPerSecond: Double(numbers[2]) / 60)
        }
        let minute = now / BoardPolicy.rateSlot
        return (minute - (BoardPolicy.rateSlots - 1)..<minute).map { number in
            MinuteRate(time: number * BoardPolicy.rateSlot / 1000, pace: paces[number] ?? .none)
        }
    }
}
