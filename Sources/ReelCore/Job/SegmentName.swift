/// The part of a source that a segment holds.
package enum SegmentPart: Hashable, Sendable {
    /// Frames in the source's presentation order; never empty.
    case video(frames: Range<Int>)
    /// An audio track, given by its index in `SourceIndex.audio`.
    case audio(track: Int)
}

/// The part of a clip for which a segment is made. Several clips of a plan may show the same frames of a source, each
/// in its own direction.
package struct SegmentSubject: Hashable, Sendable {
    /// The index of the clip in `Plan.clips`; not negative.
    package var clip: Int
    /// The part of the clip's source.
    package var part: SegmentPart

    /// A part of the source of the clip with this index, which is not negative.
    package init(clip: Int, part: SegmentPart) {
        self.clip = clip
        self.part = part
    }
}

/// The name of a segment's file: `c0v120-360.TOKEN.nut` for the frames 120..<360 of clip 0, `c0a1.TOKEN.nut` for audio
/// track 1 of its source. The token is that of the attempt that made it, in lower-case hexadecimal, so two attempts
/// never write to the same file.
package struct SegmentName: Hashable, Sendable {
    /// The part of a clip for which the segment was made.
    package var subject: SegmentSubject
    /// The attempt's token; lower-case hexadecimal, not empty.
    package var token: String

    /// Makes a name without checking it: `token` must be lower-case hexadecimal and not empty.
    package init(subject: SegmentSubject, token: String) {
        self.subject = subject
        self.token = token
    }

    private static let ending = ".nut"
    private static let recordEnding = ".json"

    /// The name of the segment file.
    package var text: String { "\(subject).\(token)\(SegmentName.ending)" }

    /// The name of the record beside the segment file.
    package var recordName: String { text + SegmentName.recordEnding }

    /// Parses a segment's file name; nil for any text that `text` never gives.
    package init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let subject = SegmentSubject(parts[0]) else { return nil }
        self.init(subject: subject, token: String(parts[1]))
        guard ContentHash.isHexadecimal(token), self.text == text else { return nil }
    }

    /// Parses a record's file name; nil for any text that `recordName` never gives.
    package init?(recordName: String) {
        guard recordName.hasSuffix(SegmentName.recordEnding) else { return nil }
        self.init(String(recordName.dropLast(SegmentName.recordEnding.count)))
    }
}

extension SegmentName: CustomStringConvertible {
    /// The name of the segment file.
    package var description: String { text }
}

/// Encoded as the file's name.
extension SegmentName: Codable {
    /// Throws `DecodingError` if the text is not the name of a segment file.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let name = SegmentName(text) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "\(text) names no segment")
        }
        self = name
    }

    /// Writes the name as a string.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}

extension SegmentSubject: CustomStringConvertible {
    /// The subject as a segment's name contains it: "c0v120-360" or "c0a1".
    package var description: String { "c\(clip)\(part)" }

    /// Parses the form of `description`, and perhaps others: `SegmentName` prints the parsed name again and compares
    /// it.
    fileprivate init?(_ text: Substring) {
        let clip = text.dropFirst().prefix { $0 != "v" && $0 != "a" }
        guard text.first == "c", let number = Int(clip), number >= 0,
            let part = SegmentPart(text[clip.endIndex...])
        else { return nil }
        self.init(clip: number, part: part)
    }
}

extension SegmentPart: CustomStringConvertible {
    /// The part as a segment's name contains it: "v120-360" or "a1".
    package var description: String {
        switch self {
        case .video(let frames): "v\(frames.lowerBound)-\(frames.upperBound)"
        case .audio(let track): "a\(track)"
        }
    }

    /// Parses the form of `description`, and perhaps others.
    fileprivate init?(_ text: Substring) {
        let numbers = text.dropFirst().split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
        switch (text.first, numbers.count) {
        case ("v", 2):
            guard let start = numbers[0], let end = numbers[1], 0 <= start, start < end else { return nil }
            self = .video(frames: start..<end)
        case ("a", 1):
            guard let track = numbers[0], track >= 0 else { return nil }
            self = .audio(track: track)
        default: return nil
        }
    }
}

/// The parts of earlier clips come first.
extension SegmentSubject: Comparable {
    /// Compares the clips first, then the parts.
    package static func < (a: SegmentSubject, b: SegmentSubject) -> Bool { (a.clip, a.part) < (b.clip, b.part) }
}

/// Audio tracks come first, then frames in the source's order.
extension SegmentPart: Comparable {
    /// Compares tracks by index, and frames by start, then end.
    package static func < (a: SegmentPart, b: SegmentPart) -> Bool {
        switch (a, b) {
        case (.audio(let a), .audio(let b)): a < b
        case (.video(let a), .video(let b)): (a.lowerBound, a.upperBound) < (b.lowerBound, b.upperBound)
        case (.audio, .video): true
        case (.video, .audio): false
        }
    }
}
