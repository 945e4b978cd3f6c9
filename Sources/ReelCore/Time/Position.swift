/// A moment of a video, or a length of it, in one of the ways in which users count. Frames are counted from the first that
/// is shown, seconds from the file's start.
package enum Position: Hashable, Sendable {
    /// Seconds; exact.
    case seconds(Rational)
    /// Frames.
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

    /// Reads frames, "30f", and timecodes, "00:00:01:12", as users write them and as they are stored. Nil for other texts and
    /// for a billion frames or more.
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
}

/// Encoded as a string: "3/2" is seconds, "30f" frames, "00:00:01:12" a timecode.
extension Position: Codable, CustomStringConvertible {
    /// The text that is stored.
    package var description: String {
        switch self {
        case .seconds(let seconds): "\(seconds)"
        case .frames(let frames): "\(frames)f"
        case .timecode(let timecode): "\(timecode)"
        }
    }

    /// Throws `DecodingError` if the string is no position.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let value = Rational(text).map(Position.seconds) ?? Position(counting: text) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "\(text) is no position")
        }
        self = value
    }

    /// Encodes the position as a string.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
