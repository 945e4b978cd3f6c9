/// The content of a segment, independent of the plan, clip, pass or attempt that it was made for. Plans that want the
/// same content share segments, and so do the clips of a plan.
package struct SegmentContent: Hashable, Sendable {
    /// The index in `Plan.sources` of the source. A job's plans have the same sources in the same order.
    package var source: Int
    /// The part of the source that the segment holds.
    package var part: SegmentPart
    /// SHA-256, in hexadecimal, of the facts that decide what is shown or heard when, on a clock that begins with the
    /// segment.
    package var times: String
    /// SHA-256, in hexadecimal, of how the segment is encoded.
    package var target: String
    /// SHA-256, in hexadecimal, of the frames' likenesses (`Likeness`), in the source's order. Plans want it for video
    /// whose source was decoded as a whole; all encoded video has it.
    package var likeness: String?

    /// The content of a part of a source: the hashes are SHA-256, in hexadecimal.
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
}

/// Encoded as {"frames":[120,360],…} or {"track":0,…} with `source`, `times` and `target`, and for video `likeness`.
extension SegmentContent: Codable {
    package enum CodingKeys: String, CodingKey {
        case source, frames, track, times, target, likeness
    }

    /// Throws `DecodingError` if a key is missing, or if the frames are not a range that begins at 0 or later and is not
    /// empty.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        source = try container.decode(Int.self, forKey: .source)
        if let track = try container.decodeIfPresent(Int.self, forKey: .track) {
            part = .audio(track: track)
        } else {
            let bounds = try container.decode([Int].self, forKey: .frames)
            guard bounds.count == 2, 0 <= bounds[0], bounds[0] < bounds[1] else {
                throw DecodingError.dataCorruptedError(
                    forKey: .frames, in: container, debugDescription: "no range of frames")
            }
            part = .video(frames: bounds[0]..<bounds[1])
        }
        times = try container.decode(String.self, forKey: .times)
        target = try container.decode(String.self, forKey: .target)
        likeness = try container.decodeIfPresent(String.self, forKey: .likeness)
    }

    /// Writes `frames` for video and `track` for audio.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(source, forKey: .source)
        switch part {
        case .video(let frames): try container.encode([frames.lowerBound, frames.upperBound], forKey: .frames)
        case .audio(let track): try container.encode(track, forKey: .track)
        }
        try container.encode(times, forKey: .times)
        try container.encode(target, forKey: .target)
        try container.encodeIfPresent(likeness, forKey: .likeness)
    }
}
