/// A point on a stream's clock, in ticks of its time base. Overflow of its arithmetic, and of that of `Ticks`, is a
/// programming error.
package struct Timestamp: Hashable, Comparable, Sendable, CustomStringConvertible, Codable {
    /// Ticks since the clock's zero; may be negative.
    package var ticks: Int64

    package init(_ ticks: Int64) { self.ticks = ticks }

    /// The largest magnitude accepted for a timestamp, in ticks. It is far beyond every clock, and sums of a few such
    /// values do not overflow. Files that exceed it are damaged or hostile.
    package static let bound: Int64 = 1 << 60

    package var description: String { "\(ticks)" }

    package static func < (a: Timestamp, b: Timestamp) -> Bool { a.ticks < b.ticks }
    package static func + (a: Timestamp, b: Ticks) -> Timestamp { Timestamp(a.ticks + b.count) }
    package static func - (a: Timestamp, b: Ticks) -> Timestamp { Timestamp(a.ticks - b.count) }
    package static func - (a: Timestamp, b: Timestamp) -> Ticks { Ticks(a.ticks - b.ticks) }

    // Timestamps and lengths are encoded as plain integers. Decoding rejects values beyond ±`bound`.
    package init(from decoder: any Decoder) throws { ticks = try boundedTicks(from: decoder) }
    package func encode(to encoder: any Encoder) throws { try ticks.encode(to: encoder) }
}

/// A length of time, or a difference between two times, in ticks of a stream's time base.
package struct Ticks: Hashable, Comparable, Sendable, CustomStringConvertible, Codable {
    /// Ticks; negative for a difference to a later time.
    package var count: Int64

    package init(_ count: Int64) { self.count = count }

    package static let zero = Ticks(0)

    package var description: String { "\(count)" }

    package static func < (a: Ticks, b: Ticks) -> Bool { a.count < b.count }
    package static func + (a: Ticks, b: Ticks) -> Ticks { Ticks(a.count + b.count) }
    package static func - (a: Ticks, b: Ticks) -> Ticks { Ticks(a.count - b.count) }

    package init(from decoder: any Decoder) throws { count = try boundedTicks(from: decoder) }
    package func encode(to encoder: any Encoder) throws { try count.encode(to: encoder) }
}

/// The half-open span [start, end) during which something is shown.
package struct Interval: Hashable, Codable, Sendable {
    package var start: Timestamp
    package var duration: Ticks

    package init(start: Timestamp, duration: Ticks) {
        self.start = start
        self.duration = duration
    }

    package var end: Timestamp { start + duration }
}

/// Whether a number of ticks is within ±`Timestamp.bound`.
func isTime(_ ticks: Int64) -> Bool { (-Timestamp.bound...Timestamp.bound).contains(ticks) }

private func boundedTicks(from decoder: any Decoder) throws -> Int64 {
    let ticks = try Int64(from: decoder)
    guard isTime(ticks) else { throw decoder.impossible("the time is out of range") }
    return ticks
}

/// The unit of a stream's timestamps: seconds per tick, exact.
package struct TimeBase: Hashable, Codable, Sendable, CustomStringConvertible {
    /// The length of a tick in seconds; positive.
    package let secondsPerTick: Rational

    /// A tick of `numerator`/`denominator` seconds. A denominator of 0 is a programming error.
    package init(_ numerator: Int64, _ denominator: Int64) { secondsPerTick = Rational(numerator, denominator) }

    package init(secondsPerTick: Rational) { self.secondsPerTick = secondsPerTick }

    package var description: String { secondsPerTick.description }

    package init(from decoder: any Decoder) throws {
        secondsPerTick = try Rational(from: decoder)
        guard secondsPerTick > Rational(0) else { throw decoder.impossible("a tick must be longer than 0") }
    }

    package func encode(to encoder: any Encoder) throws { try secondsPerTick.encode(to: encoder) }

    /// Whether ticks, and parts of them, fit into 64 bits. FFmpeg's clocks have ticks of 2⁻³¹ s to 2³¹ s.
    package var isSound: Bool { (Rational(1, 1_000_000_000_000)...Rational(1 << 32)).contains(secondsPerTick) }

    /// Seconds from the clock's zero to `timestamp`, exact.
    package func seconds(_ timestamp: Timestamp) -> Rational { Rational(timestamp.ticks) * secondsPerTick }

    package func seconds(_ length: Ticks) -> Rational { Rational(length.count) * secondsPerTick }

    /// The number of ticks of this base in `seconds`, rounded once.
    package func ticks(in seconds: Rational, rounding: Rounding) -> Int64 {
        rounding.apply(
            Int128(seconds.numerator) * Int128(secondsPerTick.denominator),
            Int128(seconds.denominator) * Int128(secondsPerTick.numerator))
    }

    /// A number of ticks of this base in ticks of `other`, rounded once.
    package func convert(_ ticks: Int64, to other: TimeBase, rounding: Rounding) -> Int64 {
        let ratio = secondsPerTick / other.secondsPerTick
        return rounding.apply(Int128(ticks) * Int128(ratio.numerator), Int128(ratio.denominator))
    }

    /// The direction of rounding to an integer. Beyond 64 bits, the result is the nearest integer of 64 bits.
    package enum Rounding: Sendable {
        case down, up
        /// To the nearest, halves away from zero (libavutil's AV_ROUND_NEAR_INF).
        case nearest

        func apply(_ numerator: Int128, _ denominator: Int128) -> Int64 {
            let (quotient, remainder) = numerator.quotientAndRemainder(dividingBy: denominator)
            guard remainder != 0 else { return Int64(clamping: quotient) }
            let negative = (remainder < 0) != (denominator < 0)
            let awayFromZero =
                switch self {
                case .down: negative
                case .up: !negative
                case .nearest: remainder.magnitude * 2 >= denominator.magnitude
                }
            return Int64(clamping: quotient + (awayFromZero ? (negative ? -1 : 1) : 0))
        }
    }
}
