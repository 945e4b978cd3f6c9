/// The unit of a stream's timestamps: seconds per tick, exact.
package struct TimeBase: Hashable, Codable, Sendable, CustomStringConvertible {
    /// The length of a tick in seconds; positive.
    package let secondsPerTick: Rational

    /// A tick of `numerator`/`denominator` seconds. A denominator of 0 is a programming error.
    package init(_ numerator: Int64, _ denominator: Int64) {
        secondsPerTick = Rational(numerator, denominator)
    }

    package init(secondsPerTick: Rational) { self.secondsPerTick = secondsPerTick }

    /// The length of a tick in seconds, such as "1/90000".
    package var description: String { secondsPerTick.description }

    /// Throws `DecodingError` if the length of a tick is not positive.
    package init(from decoder: any Decoder) throws {
        secondsPerTick = try Rational(from: decoder)
        guard secondsPerTick > Rational(0) else {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(codingPath: decoder.codingPath, debugDescription: "a tick has a length"))
        }
    }

    /// Encodes the length of a tick as a fraction.
    package func encode(to encoder: any Encoder) throws { try secondsPerTick.encode(to: encoder) }

    /// Whether ticks, and parts of them, fit into 64 bits. FFmpeg's clocks have ticks of 2⁻³¹ s to 2³¹ s.
    package var isSound: Bool {
        (Rational(1, 1_000_000_000_000)...Rational(1 << 32)).contains(secondsPerTick)
    }

    /// Seconds from the clock's zero to `timestamp`, exact.
    package func seconds(_ timestamp: Timestamp) -> Rational { Rational(timestamp.ticks) * secondsPerTick }

    /// The length in seconds, exact.
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
            switch self {
            case .down: return Int64(clamping: negative ? quotient - 1 : quotient)
            case .up: return Int64(clamping: negative ? quotient : quotient + 1)
            case .nearest:
                let away = remainder.magnitude * 2 >= denominator.magnitude
                return Int64(clamping: away ? (negative ? quotient - 1 : quotient + 1) : quotient)
            }
        }
    }
}
