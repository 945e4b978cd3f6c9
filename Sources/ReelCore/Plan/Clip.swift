/// Frames of a source in one direction: what an output is made of.
public struct Clip: Hashable, Codable, Sendable {
    /// The place of its source in `Plan.sources`.
    public var source: Int
    /// The frames that are shown, in the source's presentation order.
    public var firstFrame: Int
    public var frameCount: Int
    /// What becomes of the frames' times.
    public var timestamps: TimestampMode
    /// Where they lie in the output.
    public var map: TimeMap
    /// The sound of the source that is heard: seconds on the source's clock, nil for all of it.
    public var audioFrom: Rational?
    public var audioTo: Rational?

    public init(
        source: Int = 0, frames: Range<Int>, timestamps: TimestampMode = .mirror, map: TimeMap,
        audioFrom: Rational? = nil, audioTo: Rational? = nil
    ) {
        self.source = source
        firstFrame = frames.lowerBound
        frameCount = frames.count
        self.timestamps = timestamps
        self.map = map
        self.audioFrom = audioFrom
        self.audioTo = audioTo
    }

    public var frames: Range<Int> { firstFrame..<firstFrame + frameCount }

    public var direction: Direction { map.direction }

    /// The frame that the clip shows at a place, counted from 0.
    public func frame(at place: Int) -> Int {
        direction == .backwards ? frames.upperBound - 1 - place : firstFrame + place
    }

    /// The last frame that the clip shows.
    public var lastFrame: Int { frame(at: frameCount - 1) }

    /// When and for how long the output shows a frame of the source.
    public func interval(of frame: Int, in track: VideoTrack) -> Interval {
        switch timestamps {
        case .mirror: return map.place(track.frames[frame].interval)
        case .source:
            // The frame at the same place of the source lends its time.
            let place = direction == .backwards ? frames.upperBound - 1 - frame : frame - firstFrame
            var natural = map
            natural.direction = .forwards
            return natural.place(track.frames[firstFrame + place].interval)
        }
    }

    /// When the segment of a chunk shows one of its frames: a segment's clock begins with its first frame, whatever the
    /// output has before it.
    public func start(of frame: Int, inChunk frames: Range<Int>, of track: VideoTrack) -> Timestamp {
        let first = direction == .backwards ? frames.upperBound - 1 : frames.lowerBound
        return Timestamp((interval(of: frame, in: track).start - interval(of: first, in: track).start).count)
    }

    public enum CodingKeys: String, CodingKey {
        case source = "source"
        case firstFrame = "firstFrame"
        case frameCount = "frameCount"
        case timestamps = "timestamps"
        case map = "map"
        case audioFrom = "audioFrom"
        case audioTo = "audioTo"
    }
}

/// Where the output has what belongs to the source's pictures but has times of its own: subtitles, chapters.
extension Clip {
    /// Where the output has what the source has during `span`, in seconds of both clocks; cut to what is shown, nil
    /// where nothing of it is.
    public func place(_ span: Range<Rational>, in track: VideoTrack) -> Range<Rational>? {
        guard frameCount > 0 else { return nil }
        let kept = span.clamped(to: map.span)
        guard !kept.isEmpty else { return nil }
        let ends = [kept.lowerBound, kept.upperBound].map { moment($0, in: track) }
        let (start, end) = direction == .backwards ? (ends[1], ends[0]) : (ends[0], ends[1])
        return start < end ? start..<end : nil
    }

    /// Where a moment of the part that is shown lies in the output. Where frames keep the source's timestamps and run
    /// backwards, they last otherwise than they did: the moment stays in its frame, as far from its end as it was from its
    /// start.
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
