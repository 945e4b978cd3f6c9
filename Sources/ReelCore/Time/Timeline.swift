/// The clock of the output: which frames of the source it shows, and when.
public struct Timeline: Hashable, Codable, Sendable {
    /// The source video's time base; the output's timestamps count in it, too.
    public var timeBase: TimeBase
    public var mode: TimestampMode
    /// The frames that are shown, in the source's presentation order.
    public var firstFrame: Int
    public var frameCount: Int
    /// E, the end of the last frame that is shown.
    public var end: Timestamp
    /// The audio of the source that is heard: seconds on the source's clock, nil for all of it.
    public var audioFrom: Rational?
    public var audioTo: Rational?

    public init(
        timeBase: TimeBase, mode: TimestampMode, frames: Range<Int>, end: Timestamp, audioFrom: Rational? = nil,
        audioTo: Rational? = nil
    ) {
        self.timeBase = timeBase
        self.mode = mode
        self.firstFrame = frames.lowerBound
        self.frameCount = frames.count
        self.end = end
        self.audioFrom = audioFrom
        self.audioTo = audioTo
    }

    public var frames: Range<Int> { firstFrame..<firstFrame + frameCount }

    /// Where the output shows frame `index` of the source. The first frame of the output starts at 0.
    public func interval(of index: Int, in track: VideoTrack) -> Interval {
        switch mode {
        case .mirror:
            return track.frames[index].interval.mirrored(at: end)
        case .source:
            let shown = track.frames[frames.upperBound - 1 - (index - frames.lowerBound)].interval
            let zero = track.frames[frames.lowerBound].interval.start
            return Interval(start: Timestamp((shown.start - zero).count), duration: shown.duration)
        }
    }

    /// When the segment of a chunk shows one of its frames: a segment's clock begins with its first frame, whatever the
    /// output has before it.
    public func start(of index: Int, inChunk frames: Range<Int>, of track: VideoTrack) -> Timestamp {
        let first = interval(of: frames.upperBound - 1, in: track).start
        return Timestamp((interval(of: index, in: track).start - first).count)
    }

    /// Where a moment of the source, in seconds on its clock, lies in the output.
    public func mirror(_ seconds: Rational) -> Rational { timeBase.seconds(end) - seconds }

    public enum CodingKeys: String, CodingKey {
        case timeBase = "timeBase"
        case mode = "mode"
        case firstFrame = "firstFrame"
        case frameCount = "frameCount"
        case end = "end"
        case audioFrom = "audioFrom"
        case audioTo = "audioTo"
    }
}
