/// A moment of a video, or a length of it, in one of the ways in which users count. Frames are counted from the first
/// that is shown, seconds from the file's start.
package enum Position: Hashable, Sendable, TextCoded {
    case seconds(Rational)
    case frames(Int64)
    /// A timecode, whose frames are counted at the video's own rate.
    case timecode(Timecode)

    /// Whether it comes before another; nil if only the video can tell.
    package func precedes(_ other: Position) -> Bool? {
        switch (self, other) {
        case (.seconds(let one), .seconds(let other)): one < other
        case (.frames(let one), .frames(let other)): one < other
        case (.timecode(let one), .timecode(let other)):
            (one.seconds, one.frame) < (other.seconds, other.frame)
        default: nil
        }
    }

    /// Whether it is the start of what is counted.
    package var isZero: Bool {
        switch self {
        case .seconds(let seconds): seconds == Rational(0)
        case .frames(let frames): frames == 0
        case .timecode(let timecode): timecode.seconds == 0 && timecode.frame == 0
        }
    }

    /// Reads frames, "30f", and timecodes, "00:00:01:12", as users write them and as they are stored. Nil for other
    /// texts and for a billion frames or more.
    package init?(counting text: String) {
        if let timecode = Timecode(text) {
            self = .timecode(timecode)
            return
        }
        guard text.last == "f", text.count <= 10, let frames = UInt32(text.dropLast()), text.first != "+" else {
            return nil
        }
        self = .frames(Int64(frames))
    }

    // Encoded as a string: "3/2" is seconds, "30f" frames, "00:00:01:12" a timecode.
    package var description: String {
        switch self {
        case .seconds(let seconds): "\(seconds)"
        case .frames(let frames): "\(frames)f"
        case .timecode(let timecode): "\(timecode)"
        }
    }

    package static func read(_ text: String) -> Position? {
        Rational(text).map(Position.seconds) ?? Position(counting: text)
    }
}

/// The label of a frame as editing programs show it, hours:minutes:seconds:frames (SMPTE ST 12-1). In a drop-frame
/// timecode labels are left out, so that they keep pace with the clock at 29.97 and 59.94 frames a second.
package struct Timecode: Hashable, Sendable, CustomStringConvertible {
    /// Hours, minutes and seconds as one number of seconds.
    package let seconds: Int64
    /// Frames since the second began.
    package let frame: Int64
    package let dropsFrames: Bool

    /// A label; neither number is negative.
    package init(seconds: Int64, frame: Int64, dropsFrames: Bool) {
        (self.seconds, self.frame, self.dropsFrames) = (seconds, frame, dropsFrames)
    }

    /// Reads "01:00:00:12", and "01:00:00;12" or "01;00;00;12" as a drop-frame timecode. Nil for any other text, for
    /// minutes and seconds above 59, and for hours and frames above 999.
    package init?(_ text: String) {
        let fields = text.split(omittingEmptySubsequences: false) { ":;".contains($0) }
        let separators = text.filter { ":;".contains($0) }
        let numbers = fields.compactMap { $0.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int64($0) : nil }
        guard fields.count == 4, numbers.count == 4, [":::", "::;", ";;;"].contains(separators),
            numbers[1] < 60, numbers[2] < 60, numbers.allSatisfy({ $0 < 1000 })
        else { return nil }
        self.init(
            seconds: (numbers[0] * 60 + numbers[1]) * 60 + numbers[2], frame: numbers[3],
            dropsFrames: separators.hasSuffix(";"))
    }

    /// The label of a frame, counted from 0, in a video of `rate` frames a second.
    package init(frames: Int64, rate: Rational, dropsFrames: Bool) {
        let nominal = Timecode.labels(at: rate)
        var label = frames
        if dropsFrames {
            let dropped = Timecode.dropped(nominal)
            let minute = nominal * 60 - dropped
            let (tens, rest) = frames.quotientAndRemainder(dividingBy: minute * 10 + dropped)
            label += dropped * 9 * tens
            if rest > dropped { label += dropped * ((rest - dropped) / minute) }
        }
        let (seconds, frame) = label.quotientAndRemainder(dividingBy: nominal)
        self.init(seconds: seconds, frame: frame, dropsFrames: dropsFrames)
    }

    /// The frame with this label, counted from 0, in a video of `rate` frames a second. A dropped label counts as if a
    /// frame had it.
    package func frames(at rate: Rational) -> Int64 {
        let nominal = Timecode.labels(at: rate)
        let minutes = seconds / 60
        return seconds * nominal + frame - (dropsFrames ? Timecode.dropped(nominal) * (minutes - minutes / 10) : 0)
    }

    /// The frame with this label, counted from 0. Throws if no frame of a video of this rate has it; the rate is nil if
    /// it is unknown.
    package func frame(at rate: Rational?) throws(TimecodeFlaw) -> Int64 {
        guard let rate, rate > Rational(0), rate < Rational(1000) else { throw .rateUnknown }
        guard !dropsFrames || Timecode.droppingRates.contains(rate) else { throw .rateNotDropped(rate: rate) }
        guard frame < Timecode.labels(at: rate) else { throw .frameTooHigh(rate: rate) }
        let frames = frames(at: rate)
        guard Timecode(frames: frames, rate: rate, dropsFrames: dropsFrames) == self else { throw .labelDropped }
        return frames
    }

    /// Frame rates at which labels are dropped.
    package static let droppingRates = [Rational(30_000, 1001), Rational(60_000, 1001)]

    /// Labels per second.
    private static func labels(at rate: Rational) -> Int64 {
        max(TimeBase(1, 1).ticks(in: rate, rounding: .nearest), 1)
    }

    /// How many labels a drop-frame timecode leaves out each minute but every tenth: two at 29.97 frames a second, four
    /// at 59.94.
    private static func dropped(_ nominal: Int64) -> Int64 { nominal / 15 }

    /// As the field writes it: with a semicolon before the frames if it drops some.
    package var description: String {
        let parts = [seconds / 3600, seconds / 60 % 60, seconds % 60, frame].map { $0 < 10 ? "0\($0)" : "\($0)" }
        return parts[..<3].joined(separator: ":") + (dropsFrames ? ";" : ":") + parts[3]
    }
}

/// Why no frame of a video has a timecode; rates are in frames a second.
package enum TimecodeFlaw: Error, Hashable, Codable, Sendable {
    case rateUnknown
    /// It is a drop-frame timecode, and labels are not dropped at this rate.
    case rateNotDropped(rate: Rational)
    case frameTooHigh(rate: Rational)
    case labelDropped

    package enum CodingKeys: String, CodeKey {
        case rateUnknown, rateNotDropped, frameTooHigh, labelDropped
    }
}

extension Rational {
    /// The nearest frame rate of film and television if it is within a thousandth of a number: programs round those
    /// with a denominator, to 23.98 or 29.97, and timestamps are rounded, too.
    package static func broadcastRate(near number: Double) -> Rational? {
        let distance = { (rate: Rational) in abs(rate.approximate - number) }
        guard let nearest = broadcastRates.min(by: { distance($0) < distance($1) }), distance(nearest) <= number / 1000
        else { return nil }
        return nearest
    }

    private static let broadcastRates =
        [12, 15, 24, 25, 30, 48, 50, 60, 100, 120].map { Rational($0) }
        + [12, 15, 24, 30, 48, 60, 120].map { Rational($0 * 1000, 1001) }
}
