/// What a segment is, whichever plan, pass or attempt it was made for. Where two plans want the same content, either takes
/// what the other has made.
public struct SegmentContent: Hashable, Sendable {
    public var subject: SegmentSubject
    /// SHA-256, in hexadecimal, of what is shown or heard when, on a clock that begins with the segment.
    public var times: String
    /// SHA-256, in hexadecimal, of how it is encoded.
    public var target: String
    /// SHA-256, in hexadecimal, of how bright the frames are, each in a few places (`Likeness`), in the source's order.
    /// Wanted of video whose source was decoded as a whole; known of all video that was encoded.
    public var likeness: String?

    public init(subject: SegmentSubject, times: String, target: String, likeness: String? = nil) {
        self.subject = subject
        self.times = times
        self.target = target
        self.likeness = likeness
    }

    /// The wanted contents that a segment of this content meets: this one, and the same without a likeness, which plans
    /// want that were made without decoding the source.
    public var uses: [SegmentContent] {
        likeness == nil ? [self] : [self, SegmentContent(subject: subject, times: times, target: target)]
    }
}

/// As {"frames":[120,360],…} or {"track":0,…} with `times` and `target`, and of video `likeness`.
extension SegmentContent: Codable {
    public enum CodingKeys: String, CodingKey {
        case frames = "frames"
        case track = "track"
        case times = "times"
        case target = "target"
        case likeness = "likeness"
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        if let track = try container.decodeIfPresent(Int.self, forKey: .track) {
            subject = .audio(track: track)
        } else {
            let bounds = try container.decode([Int].self, forKey: .frames)
            guard bounds.count == 2, 0 <= bounds[0], bounds[0] < bounds[1] else {
                throw DecodingError.dataCorruptedError(
                    forKey: .frames, in: container, debugDescription: "no range of frames")
            }
            subject = .video(frames: bounds[0]..<bounds[1])
        }
        times = try container.decode(String.self, forKey: .times)
        target = try container.decode(String.self, forKey: .target)
        likeness = try container.decodeIfPresent(String.self, forKey: .likeness)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        switch subject {
        case .video(let frames): try container.encode([frames.lowerBound, frames.upperBound], forKey: .frames)
        case .audio(let track): try container.encode(track, forKey: .track)
        }
        try container.encode(times, forKey: .times)
        try container.encode(target, forKey: .target)
        try container.encodeIfPresent(likeness, forKey: .likeness)
    }
}
