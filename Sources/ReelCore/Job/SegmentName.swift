/// The part of a source that a segment holds.
package enum SegmentPart: Hashable, Sendable, CustomStringConvertible, Comparable {
    /// Frames in the source's presentation order; never empty.
    case video(frames: Range<Int>)
    /// An audio track, given by its index in `SourceIndex.audio`: these samples of the encoded track, per channel, or all
    /// of them if nil.
    case audio(track: Int, samples: Range<Int>? = nil)

    /// The part as a segment's name contains it: "v120-360", "a1" or "a1s0-480256".
    package var description: String {
        switch self {
        case .video(let frames): "v\(frames.lowerBound)-\(frames.upperBound)"
        case .audio(let track, let samples):
            "a\(track)" + (samples.map { "s\($0.lowerBound)-\($0.upperBound)" } ?? "")
        }
    }

    // Audio tracks come first, their samples in order, then frames in the source's order.
    package static func < (a: SegmentPart, b: SegmentPart) -> Bool {
        switch (a, b) {
        case (.audio(let a, let first), .audio(let b, let second)):
            (a, first?.lowerBound ?? -1, first?.upperBound ?? -1)
                < (b, second?.lowerBound ?? -1, second?.upperBound ?? -1)
        case (.video(let a), .video(let b)): (a.lowerBound, a.upperBound) < (b.lowerBound, b.upperBound)
        case (.audio, .video): true
        case (.video, .audio): false
        }
    }
}

/// The part of a clip for which a segment is made. Several clips of a plan may show the same frames of a source, each
/// in its own direction.
package struct SegmentSubject: Hashable, Sendable, CustomStringConvertible, Comparable {
    /// The index of the clip in `Plan.clips`; not negative.
    package var clip: Int
    package var part: SegmentPart

    package init(clip: Int, part: SegmentPart) {
        self.clip = clip
        self.part = part
    }

    /// The subject as a segment's name contains it: "c0v120-360" or "c0a1".
    package var description: String { "c\(clip)\(part)" }

    // The parts of earlier clips come first.
    package static func < (a: SegmentSubject, b: SegmentSubject) -> Bool { (a.clip, a.part) < (b.clip, b.part) }
}

/// The name of a segment's file: `c0v120-360.TOKEN.nut` for the frames 120..<360 of clip 0, `c0a1.TOKEN.nut` for audio
/// track 1 of its source, `c0a1s0-480256.TOKEN.nut` for these samples of it. The token is that of the attempt that made
/// it, in lower-case hexadecimal, so two attempts never write to the same file.
package struct SegmentName: Hashable, Sendable, TextCoded {
    package var subject: SegmentSubject
    package var token: String

    /// Makes a name without checking it: `token` must be lower-case hexadecimal and not empty.
    package init(subject: SegmentSubject, token: String) {
        self.subject = subject
        self.token = token
    }

    private static let ending = ".nut"
    private static let recordEnding = ".json"

    package var text: String { "\(subject).\(token)\(SegmentName.ending)" }

    package var recordName: String { text + SegmentName.recordEnding }

    /// Parses a segment's file name; nil for any text that `text` never gives.
    package init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3 else { return nil }
        let numbers = parts[0].split { !$0.isNumber }.compactMap { Int($0) }
        let part: SegmentPart
        switch (parts[0].first { "va".contains($0) }, numbers.count) {
        case ("v", 3) where numbers[1] < numbers[2]: part = .video(frames: numbers[1]..<numbers[2])
        case ("a", 2): part = .audio(track: numbers[1])
        case ("a", 4) where numbers[2] < numbers[3]: part = .audio(track: numbers[1], samples: numbers[2]..<numbers[3])
        default: return nil
        }
        self.init(subject: SegmentSubject(clip: numbers[0], part: part), token: String(parts[1]))
        // The same numbers may have been written in another form.
        guard ContentHash.isHexadecimal(token), self.text == text else { return nil }
    }

    package init?(recordName: String) {
        guard recordName.hasSuffix(SegmentName.recordEnding) else { return nil }
        self.init(String(recordName.dropLast(SegmentName.recordEnding.count)))
    }

    package var description: String { text }
    package static func read(_ text: String) -> SegmentName? { SegmentName(text) }
}

/// The content of a segment, independent of the plan, clip, pass or attempt that it was made for. Plans that want the
/// same content share segments, and so do the clips of a plan.
package struct SegmentContent: Hashable, Sendable, Codable {
    /// The index in `Plan.sources` of the source. A job's plans have the same sources in the same order.
    package var source: Int
    package var part: SegmentPart
    /// SHA-256, in hexadecimal, of the facts that decide what is shown or heard when, on a clock that begins with the
    /// segment.
    package var times: String
    /// SHA-256, in hexadecimal, of how the segment is encoded.
    package var target: String
    /// SHA-256, in hexadecimal, of the frames' likenesses (`Likeness`), in the source's order. Plans want it for video
    /// whose source was decoded as a whole; all encoded video has it.
    package var likeness: String?

    package init(source: Int = 0, part: SegmentPart, times: String, target: String, likeness: String? = nil) {
        self.source = source
        self.part = part
        self.times = times
        self.target = target
        self.likeness = likeness
    }

    /// The wanted contents that a segment of this content satisfies: this one, and the same without a likeness, which
    /// plans want if their source was not decoded as a whole.
    package var uses: [SegmentContent] {
        guard likeness != nil else { return [self] }
        return [self, SegmentContent(source: source, part: part, times: times, target: target)]
    }

    // Encoded as {"frames":[120,360],…}, {"track":0,…} or {"samples":[0,480256],"track":0,…} with `source`, `times` and
    // `target`, and for video `likeness`.
    package enum CodingKeys: String, CodingKey {
        case source, frames, track, samples, times, target, likeness
    }

    /// Throws `DecodingError` if a key is missing, or if the frames or samples are not a range that begins at 0 or later
    /// and is not empty.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        func range(_ key: CodingKeys) throws -> Range<Int> {
            let bounds = try container.decode([Int].self, forKey: key)
            guard bounds.count == 2, 0 <= bounds[0], bounds[0] < bounds[1] else {
                throw DecodingError.dataCorruptedError(forKey: key, in: container, debugDescription: "not a range")
            }
            return bounds[0]..<bounds[1]
        }
        source = try container.decode(Int.self, forKey: .source)
        if let track = try container.decodeIfPresent(Int.self, forKey: .track) {
            part = .audio(track: track, samples: container.contains(.samples) ? try range(.samples) : nil)
        } else {
            part = .video(frames: try range(.frames))
        }
        times = try container.decode(String.self, forKey: .times)
        target = try container.decode(String.self, forKey: .target)
        likeness = try container.decodeIfPresent(String.self, forKey: .likeness)
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(source, forKey: .source)
        switch part {
        case .video(let frames): try container.encode([frames.lowerBound, frames.upperBound], forKey: .frames)
        case .audio(let track, let samples):
            try container.encode(track, forKey: .track)
            if let samples { try container.encode([samples.lowerBound, samples.upperBound], forKey: .samples) }
        }
        try container.encode(times, forKey: .times)
        try container.encode(target, forKey: .target)
        try container.encodeIfPresent(likeness, forKey: .likeness)
    }
}
