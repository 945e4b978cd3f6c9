/// A fraction in lowest terms with a positive denominator: a frame rate, an aspect ratio, a time in seconds. It is
/// exact as long as both numbers fit into 64 bits. Beyond that, which only absurd files reach, arithmetic rounds
/// instead of trapping.
package struct Rational: Hashable, Sendable, Comparable, TextCoded {
    package let numerator: Int64
    package let denominator: Int64

    /// Reduces the fraction. A denominator of 0 is a programming error.
    package init(_ numerator: Int64, _ denominator: Int64 = 1) {
        precondition(denominator != 0, "a fraction needs a denominator")
        self.init(reducing: Int128(numerator), Int128(denominator))
    }

    /// The nearest double, for people and logs. Never use it for arithmetic on time.
    package var approximate: Double { Double(numerator) / Double(denominator) }

    /// The greatest number that divides both; 0 if both are 0.
    static func greatestCommonDivisor<T: UnsignedInteger>(_ a: T, _ b: T) -> T {
        var (a, b) = (a, b)
        while b != 0 { (a, b) = (b, a % b) }
        return a
    }

    /// The greatest length that divides both lengths, which are positive; nil beyond 64 bits.
    static func greatestCommonMeasure(_ a: Rational, _ b: Rational) -> Rational? {
        guard let scale = leastCommonMultiple(a.denominator, b.denominator) else { return nil }
        let (left, first) = a.numerator.multipliedReportingOverflow(by: scale / a.denominator)
        let (right, second) = b.numerator.multipliedReportingOverflow(by: scale / b.denominator)
        return first || second ? nil : Rational(Int64(greatestCommonDivisor(left.magnitude, right.magnitude)), scale)
    }

    /// The smallest positive number that both numbers divide; nil beyond 64 bits.
    package static func leastCommonMultiple(_ a: Int64, _ b: Int64) -> Int64? {
        let divisor = max(Int64(greatestCommonDivisor(a.magnitude, b.magnitude)), 1)
        let (product, overflow) = (a / divisor).multipliedReportingOverflow(by: b)
        return overflow ? nil : product
    }

    package static func * (a: Rational, b: Rational) -> Rational {
        Rational(reducing: Int128(a.numerator) * Int128(b.numerator), Int128(a.denominator) * Int128(b.denominator))
    }

    /// The quotient. A divisor of 0 is a programming error.
    package static func / (a: Rational, b: Rational) -> Rational {
        Rational(reducing: Int128(a.numerator) * Int128(b.denominator), Int128(a.denominator) * Int128(b.numerator))
    }

    package static func + (a: Rational, b: Rational) -> Rational {
        let left = Int128(a.numerator) * Int128(b.denominator)
        let right = Int128(b.numerator) * Int128(a.denominator)
        return Rational(reducing: left + right, Int128(a.denominator) * Int128(b.denominator))
    }

    package static func - (a: Rational, b: Rational) -> Rational { a + Rational(-b.numerator, b.denominator) }

    private init(reducing numerator: Int128, _ denominator: Int128) {
        var (top, bottom) = Rational.lowestTerms(numerator.magnitude, denominator.magnitude)
        let limit = Int64.max.magnitude
        if top > limit || bottom > limit {
            let smaller = max(bottom / (max(top, bottom) / UInt128(limit) + 1), 1)
            let (whole, rest) = top.quotientAndRemainder(dividingBy: bottom)
            let part = bottom.dividingFullWidth(rest.multipliedFullWidth(by: smaller)).quotient
            (top, bottom) = Rational.lowestTerms(min(whole * smaller + part, UInt128(limit)), smaller)
        }
        let isNegative = (numerator < 0) != (denominator < 0)
        self.numerator = isNegative ? -Int64(top) : Int64(top)
        self.denominator = Int64(bottom)
    }

    private static func lowestTerms(_ top: UInt128, _ bottom: UInt128) -> (UInt128, UInt128) {
        // Division of 128 bits is slow, and nearly every fraction fits into 64 bits.
        guard let narrowTop = UInt64(exactly: top), let narrowBottom = UInt64(exactly: bottom) else {
            let divisor = max(greatestCommonDivisor(top, bottom), 1)
            return (top / divisor, bottom / divisor)
        }
        let divisor = max(greatestCommonDivisor(narrowTop, narrowBottom), 1)
        return (UInt128(narrowTop / divisor), UInt128(narrowBottom / divisor))
    }

    package static func < (a: Rational, b: Rational) -> Bool {
        Int128(a.numerator) * Int128(b.denominator) < Int128(b.numerator) * Int128(a.denominator)
    }

    /// The text that `init(_:)` parses, such as "30000/1001".
    package var description: String { "\(numerator)/\(denominator)" }

    /// Parses "30000/1001" or "25"; nil for any other text.
    package init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard let first = parts.first, let numerator = Int64(first), parts.count <= 2 else { return nil }
        guard let denominator = parts.count == 2 ? Int64(parts[1]) : 1, denominator > 0 else { return nil }
        self.init(numerator, denominator)
    }

    package static func read(_ text: String) -> Rational? { Rational(text) }
}
