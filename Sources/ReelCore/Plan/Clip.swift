/// A range of a source's frames in one direction, with its place in the output. A plan is an ordered list of clips.
public struct Clip: Hashable, Codable, Sendable {
    /// The index of its source in `Plan.sources`.
    public var source: Int
    /// The first frame of the range, in the source's presentation order.
    public var firstFrame: Int
    /// The number of frames; positive.
    public var frameCount: Int
    /// How the frames get their timestamps in the output.
    public var timestamps: TimestampMode
    /// The place of the range in the output.
    public var map: TimeMap
    /// The start of the sound that is heard, in seconds on the source's clock; nil for no limit.
    public var audioFrom: Rational?
    /// The end of the sound that is heard, in seconds on the source's clock; nil for no limit.
    public var audioTo: Rational?
    /// How the sound of an edit goes on from the clip before; nil for the first clip.
    public var joint: Joint?
    /// Whether its sound is heard in an edit.
    public var isHeard: Bool
    /// Whether black pictures are shown in place of its frames, as in a gap.
    public var isBlack: Bool

    package init(
        source: Int = 0, frames: Range<Int>, timestamps: TimestampMode = .mirror, map: TimeMap,
        audioFrom: Rational? = nil, audioTo: Rational? = nil, joint: Joint? = nil, isHeard: Bool = true,
        isBlack: Bool = false
    ) {
        self.source = source
        firstFrame = frames.lowerBound
        frameCount = frames.count
        self.timestamps = timestamps
        self.map = map
        self.audioFrom = audioFrom
        self.audioTo = audioTo
        self.joint = joint
        self.isHeard = isHeard
        self.isBlack = isBlack
    }

    /// The clip as if it were alone in its output. Clips for which this is equal show the same frames for the same times,
    /// and share their segments.
    public var alone: Clip {
        var clip = self
        clip.map.offset = Rational(0)
        (clip.audioFrom, clip.audioTo, clip.joint, clip.isHeard) = (nil, nil, nil, true)
        return clip
    }

    /// The range of frames, in the source's presentation order.
    public var frames: Range<Int> { firstFrame..<firstFrame + frameCount }

    /// The direction in which the frames run in the output.
    public var direction: Direction { map.direction }

    /// The frame of the source that the clip shows at a place in its own order, counted from 0.
    public func frame(at place: Int) -> Int {
        direction == .backwards ? frames.upperBound - 1 - place : firstFrame + place
    }

    /// The frame of the source that the clip shows last.
    public var lastFrame: Int { frame(at: frameCount - 1) }

    /// The interval in which the output shows a frame of the source, in ticks of the output's clock.
    public func interval(of frame: Int, in track: VideoTrack) -> Interval {
        switch timestamps {
        case .mirror: return map.place(track.frames[frame].interval)
        case .source:
            // The frame gets the interval of the frame that has its place in the source's order.
            let place = direction == .backwards ? frames.upperBound - 1 - frame : frame - firstFrame
            var natural = map
            natural.direction = .forwards
            return natural.place(track.frames[firstFrame + place].interval)
        }
    }

    /// When the segment of a chunk shows one of its frames, in ticks of the output's clock. A segment's clock starts at
    /// 0 with its first frame, wherever the segment lies in the output.
    public func start(of frame: Int, inChunk frames: Range<Int>, of track: VideoTrack) -> Timestamp {
        let first = direction == .backwards ? frames.upperBound - 1 : frames.lowerBound
        return Timestamp((interval(of: frame, in: track).start - interval(of: first, in: track).start).count)
    }

    package enum CodingKeys: String, CodingKey {
        case source = "source"
        case firstFrame = "firstFrame"
        case frameCount = "frameCount"
        case timestamps = "timestamps"
        case map = "map"
        case audioFrom = "audioFrom"
        case audioTo = "audioTo"
        case joint = "joint"
        case isHeard = "isHeard"
        case isBlack = "isBlack"
    }
}

/// How the sound of a clip goes on from that of the clip before.
public enum Joint: Hashable, Codable, Sendable {
    /// One sound fades into the other, in a crossfade of this many seconds around the cut.
    case join(crossfade: Rational)
    /// The clip before turns round.
    case turn(Turn)

    package enum CodingKeys: String, CodingKey {
        case join = "join"
        case turn = "turn"
    }

    package enum JoinCodingKeys: String, CodingKey {
        case crossfade = "crossfade"
    }

    package enum TurnCodingKeys: String, CodingKey {
        case _0 = "shown"
    }
}

/// The places of subtitles and chapters, which belong to the source's pictures but have times of their own.
extension Clip {
    /// The span of the output for a span of the source, both in seconds, cut to the part that is shown. Nil if none of
    /// it is shown.
    public func place(_ span: Range<Rational>, in track: VideoTrack) -> Range<Rational>? {
        guard frameCount > 0 else { return nil }
        let kept = span.clamped(to: map.span)
        guard !kept.isEmpty else { return nil }
        let ends = [kept.lowerBound, kept.upperBound].map { moment($0, in: track) }
        let (start, end) = direction == .backwards ? (ends[1], ends[0]) : (ends[0], ends[1])
        return start < end ? start..<end : nil
    }

    /// The time in the output of a moment of the part that is shown, in seconds. If frames run backwards with the
    /// source's timestamps, their durations change: the moment then stays in its frame, and its share of the duration
    /// before it becomes the share after it.
    private func moment(_ seconds: Rational, in track: VideoTrack) -> Rational {
        guard timestamps == .source, direction == .backwards else { return map.place(seconds) }
        let later = track.frames[frames].partitioningIndex { map.source.seconds($0.interval.start) > seconds }
        let frame = max(later - 1, firstFrame)
        let (own, place) = (track.frames[frame].interval, interval(of: frame, in: track))
        guard seconds < map.source.seconds(own.end) else { return map.output.seconds(place.start) }
        let scale = map.output.seconds(place.duration) / map.source.seconds(max(own.duration, Ticks(1)))
        return map.output.seconds(place.end) - (seconds - map.source.seconds(own.start)) * scale
    }
}
