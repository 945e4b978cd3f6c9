package import ReelCore

/// A value that users write as text. If a text is invalid, an error explains the valid forms.
package protocol ExplainedArgument: Sendable {
    /// The forms that are valid, with examples.
    static var forms: String { get }
    /// Nil if the text is invalid.
    init?(_ text: String)
}

/// A non-negative decimal number such as "12" or "1.5", read without rounding.
enum DecimalNumber {
    /// Nil for anything other than digits with at most one point before or among them, and for more than 15 digits: a
    /// number that large or precise is a mistake.
    static func parse(_ text: some StringProtocol) -> Rational? {
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard let whole = parts.first else { return nil }
        let fraction = parts.count == 2 ? String(parts[1]) : ""
        let digits = String(whole) + fraction
        guard parts.count == 1 ? !whole.isEmpty : !fraction.isEmpty, digits.count <= 15,
            digits.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }), let number = Int64(digits)
        else { return nil }
        return Rational(number, fraction.reduce(Int64(1)) { scale, _ in scale * 10 })
    }

    /// Reads a number and its unit, as "1.5GiB". Nil for other units, and unless the product of the number and the unit's
    /// scale is a positive whole number of at most 64 bits.
    static func scaled(_ text: String, by scales: [String: Int64]) -> Int64? {
        let digits = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        guard let number = parse(digits), let scale = scales[String(text.dropFirst(digits.count))] else { return nil }
        let product = Int128(number.numerator) * Int128(scale)
        let (quotient, remainder) = product.quotientAndRemainder(dividingBy: Int128(number.denominator))
        guard remainder == 0, quotient > 0 else { return nil }
        return Int64(exactly: quotient)
    }
}

/// An amount of memory or disk, in bytes, as users write it: "768MiB", "2GiB", "1.5G", "500MB", "1048576".
package struct ByteSize: Hashable, ExplainedArgument, CustomStringConvertible {
    package var bytes: Int64

    package init(bytes: Int64) { self.bytes = bytes }

    package static let forms = "a size (768MiB, 2GiB, 1500000)"

    /// Parses a size. KiB, MiB, GiB, TiB and the bare letters are powers of 1024, KB, MB, GB, TB powers of 1000. Nil
    /// for anything else, for a size that is not a whole number of bytes, and for 0.
    package init?(_ text: String) {
        guard let bytes = DecimalNumber.scaled(text.uppercased(), by: ByteSize.scales) else { return nil }
        self.bytes = bytes
    }

    /// The largest unit that leaves at least 1, with one decimal if it is not a whole number: "768 MiB", "1.5 GiB".
    package var description: String {
        let units = ["KiB", "MiB", "GiB", "TiB"]
        guard bytes.magnitude >= 1024 else { return "\(bytes) bytes" }
        var (value, unit) = (Double(bytes) / 1024, 0)
        while value >= 1024, unit + 1 < units.count { (value, unit) = (value / 1024, unit + 1) }
        let tenths = (value * 10).rounded() / 10
        return (tenths == tenths.rounded() ? "\(Int64(tenths))" : "\(tenths)") + " \(units[unit])"
    }

    private static let scales: [String: Int64] = {
        var scales: [String: Int64] = ["": 1, "B": 1]
        for (power, letter) in ["K", "M", "G", "T"].enumerated() {
            let binary = Int64(1) << (10 * (Int64(power) + 1))
            scales[letter] = binary
            scales[letter + "IB"] = binary
            scales[letter + "B"] = (0...power).reduce(Int64(1)) { scale, _ in scale * 1000 }
        }
        return scales
    }()
}

/// Bits per second as FFmpeg's users write them, "5M", "800k", "2500000"; or "source".
package struct BitRate: Hashable, ExplainedArgument {
    package var rate: VideoRate

    package static let forms = "bits per second (2500000, 800k, 5M), or source"

    /// Parses a bit rate. k, M and G are powers of 1000. Nil for anything else and for 0.
    package init?(_ text: String) {
        if text == "source" {
            rate = .source
            return
        }
        let scales: [String: Int64] = ["": 1, "k": 1_000, "K": 1_000, "M": 1_000_000, "G": 1_000_000_000]
        guard let bits = DecimalNumber.scaled(text, by: scales) else { return nil }
        rate = .constant(bits)
    }
}

/// Bits per second of sound as FFmpeg's users write them: "192k", "128000".
package struct AudioBitRate: Hashable, ExplainedArgument {
    package var bits: Int64

    package static let forms = "bits per second (192k, 128000)"

    /// Parses a bit rate. Nil for anything that `BitRate` does not take as a number.
    package init?(_ text: String) {
        guard case .constant(let bits) = BitRate(text)?.rate, JobSpec.audioBitrates.contains(bits) else { return nil }
        self.bits = bits
    }
}

extension TrackSelection: ExplainedArgument {
    package static let forms =
        "v for the video, a and s for all sound and subtitles, a:0 and s:1 for one, as in v,a:0,s"

    /// Parses a selection as FFmpeg's users write streams, separated by commas. Nil for anything else.
    package init?(_ text: String) {
        var places: [Character: Set<Int>?] = ["a": [], "s": []]
        for part in text.split(separator: ",", omittingEmptySubsequences: false) where part != "v" {
            guard let letter = part.first, let known = places[letter] else { return nil }
            if part.count == 1 {
                places[letter] = .some(nil)
            } else {
                let digits = part.dropFirst(2)
                guard part.dropFirst().first == ":", digits.first?.isNumber == true, let place = UInt16(digits) else {
                    return nil
                }
                places[letter] = known?.union([Int(place)])
            }
        }
        self.init(audio: (places["a"] ?? nil)?.sorted(), subtitles: (places["s"] ?? nil)?.sorted())
    }
}

/// Constant quality on an encoder's own scale: "18", "22.5".
package struct Quality: Hashable, ExplainedArgument {
    /// The value; not negative.
    package var value: Double

    package static let forms = "a number from 0 (best) on the encoder's scale (18, 22.5)"

    package init?(_ text: String) {
        guard DecimalNumber.parse(text) != nil, let value = Double(text) else { return nil }
        self.value = value
    }
}

/// A length of time as users write it, always with its unit: "7d", "12h", "90m", "45s".
package struct TimeSpan: Hashable, ExplainedArgument {
    package var seconds: Int64

    package static let week = TimeSpan(seconds: 7 * 24 * 3600)
    package static let day = TimeSpan(seconds: 24 * 3600)

    init(seconds: Int64) { self.seconds = seconds }

    package static let forms = "a time above 0 (7d, 12h, 90m, 45s)"

    /// Parses a time span. Nil for anything else, for parts of a second, and for 0.
    package init?(_ text: String) {
        let scales: [String: Int64] = ["s": 1, "m": 60, "h": 3600, "d": 24 * 3600]
        guard let seconds = DecimalNumber.scaled(text, by: scales) else { return nil }
        self.seconds = seconds
    }
}

/// A moment of a file, as seconds ("90.5") or as a clock shows it ("00:01:30.500", "1:30.5"), exact.
package struct ClockTime: Hashable, ExplainedArgument {
    package var seconds: Rational

    /// Parses a time. Nil for anything else, for minutes or seconds of 60 or more after a colon, for more than a
    /// billion seconds, and for fractions finer than a microsecond.
    package init?(_ text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        let numbers = parts.compactMap(DecimalNumber.parse)
        guard (1...3).contains(parts.count), numbers.count == parts.count,
            let seconds = numbers.last, seconds.denominator <= 1_000_000,
            numbers.dropFirst().allSatisfy({ $0 < Rational(60) }), numbers.allSatisfy({ $0 < Rational(1_000_000_000) })
        else { return nil }
        let whole = numbers.dropLast()
        guard whole.allSatisfy({ $0.denominator == 1 }) else { return nil }
        let minutes = whole.reduce(Int64(0)) { $0 * 60 + $1.numerator }
        guard minutes < 1_000_000_000 / 60 else { return nil }
        self.seconds = Rational(minutes * 60) + seconds
    }

    package static let forms = "seconds (90.5), or minutes and seconds (1:30.5)"

    /// Seconds as a clock shows a duration: "0:09", "12:34", "1:02:03". Rounded up, so that it never shows 0 early.
    package static func text(seconds: Double) -> String {
        let whole = Int64(nearest: seconds.rounded(.up))
        let (hours, minutes, rest) = (whole / 3600, whole / 60 % 60, whole % 60)
        let tail = (rest < 10 ? "0" : "") + "\(rest)"
        guard hours > 0 else { return "\(minutes):\(tail)" }
        return "\(hours):" + (minutes < 10 ? "0" : "") + "\(minutes):\(tail)"
    }
}

extension Position: ExplainedArgument {
    /// Parses a moment of a video, or a length of it: a time as `ClockTime` reads it, frames ("30f"), or a timecode
    /// ("00:00:01:12", with ";" before the frames if it drops some). Nil for anything else.
    package init?(_ text: String) {
        guard let read = ClockTime(text).map({ .seconds($0.seconds) }) ?? Position(counting: text) else { return nil }
        self = read
    }

    package static let forms =
        "seconds (90.5), a time (00:01:30.5), frames (2715f) or a timecode (00:01:30:15, 00:01:30;15)"
}
