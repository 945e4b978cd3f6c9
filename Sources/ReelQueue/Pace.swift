package import ReelCore

/// How fast work gets done: frames encoded and passes finished.
package struct Pace: Hashable, Sendable {
    package var framesPerSecond: Double
    package var passesPerSecond: Double

    package init(framesPerSecond: Double, passesPerSecond: Double) {
        self.framesPerSecond = framesPerSecond
        self.passesPerSecond = passesPerSecond
    }

    /// The speed if no work is done.
    package static let none = Pace(framesPerSecond: 0, passesPerSecond: 0)
}

extension Pace {
    /// Computes the speed from the slots of the key `pace`.
    ///
    /// - Parameters:
    ///   - slots: "slot frames passes" each.
    ///   - now: milliseconds since 1970.
    ///   - since: the start of the work, in milliseconds since 1970.
    init(_ slots: [String: String], now: Double, since: Double) {
        let length = Double(BoardPolicy.paceSlot)
        let slot = Int(now / length)
        // The oldest slot is left out, since it may be overwritten at any moment.
        let first = slot - (BoardPolicy.paceSlots - 2)
        var (frames, passes) = (0.0, 0.0)
        for entry in slots.values {
            let numbers = entry.split(separator: " ").compactMap { Double($0) }
            guard numbers.count == 3, numbers.allSatisfy(StatusReply.times.contains),
                (Double(first)...Double(slot)).contains(numbers[0])
            else { continue }
            frames += numbers[1]
            passes += numbers[2]
        }
        let begin = max(Double(first) * length, since)
        let seconds = max((now - begin) / 1000, 1)
        self.init(framesPerSecond: frames / seconds, passesPerSecond: passes / seconds)
    }
}

/// The speed of all jobs together in one minute.
package struct MinuteRate: Hashable, Sendable {
    /// The start of the minute, in seconds since 1970 by the board's clock.
    package var time: Int
    /// The frames that were encoded and the passes that were finished, in a second.
    package var pace: Pace

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

extension RedisBoard {
    package func pace() throws(ReelFailure) -> Pace {
        let reply = try send(["HGETALL", keys[.pace]])
        let clock = try send(["TIME"])
        guard let slots = reply.dictionary, let now = clock.array?.first?.string.flatMap(Double.init) else {
            throw reply.surprise
        }
        return Pace(slots, now: now * 1000, since: 0)
    }

    package func rates() throws(ReelFailure) -> [MinuteRate] {
        var parts = try ReplyReader(look("rates", []))
        let (slots, now) = (try parts.dictionary(), try parts.integer())
        try parts.end()
        return MinuteRate.rates(slots, now: now)
    }
}
