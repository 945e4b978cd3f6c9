/// A range of a source's frames in one direction, with its place in the output. A plan is an ordered list of clips.
package struct Clip: Hashable, Codable, Sendable {
    package var source: Int
    package var firstFrame: Int
    /// The number of frames in the range; positive.
    package var rangeCount: Int
    /// Every `step`-th frame is shown, from the first on. It stands for the frames up to the next one.
    package var step: Int
    package var timestamps: TimestampMode
    package var map: TimeMap
    /// The start of the sound that is heard, in seconds on the source's clock; nil for no limit.
    package var audioFrom: Rational?
    package var audioTo: Rational?
    /// The transition from the sound of the clip before; nil for the first clip.
    package var joint: Joint?
    package var isHeard: Bool
    /// Whether black pictures are shown in place of its frames, as in a gap.
    package var isBlack: Bool
    /// Which frames are shown, and how often, in an output of one rate; nil for each `step`-th once.
    package var pace: ClipPace?

    package init(
        source: Int = 0, frames: Range<Int>, step: Int = 1, timestamps: TimestampMode = .mirror, map: TimeMap,
        audioFrom: Rational? = nil, audioTo: Rational? = nil, joint: Joint? = nil, isHeard: Bool = true,
        isBlack: Bool = false, pace: ClipPace? = nil
    ) {
        self.source = source
        firstFrame = frames.lowerBound
        rangeCount = frames.count
        self.step = step
        self.timestamps = timestamps
        self.map = map
        self.audioFrom = audioFrom
        self.audioTo = audioTo
        self.joint = joint
        self.isHeard = isHeard
        self.isBlack = isBlack
        self.pace = pace
    }

    /// The clip as if it were alone in its output. Clips for which this is equal show the same frames for the same
    /// times, and share their segments.
    package var alone: Clip {
        var clip = self
        clip.map.offset = Rational(0)
        clip.pace?.first = 0
        (clip.audioFrom, clip.audioTo, clip.joint, clip.isHeard) = (nil, nil, nil, true)
        return clip
    }

    package var frames: Range<Int> { firstFrame..<firstFrame + rangeCount }

    /// How many frames the output shows of it; none of a clip that is shorter than half a frame of an output of one rate.
    package var frameCount: Int { pace?.count ?? (rangeCount + step - 1) / step }

    package var direction: Direction { map.direction }

    /// The frame of the source that the clip shows at a place in its own order, counted from 0.
    package func frame(at place: Int) -> Int {
        if let pace {
            let passed = min(pace.framesPassed(at: place), rangeCount - 1)
            return direction == .backwards ? frames.upperBound - 1 - passed : firstFrame + passed
        }
        return firstFrame + (direction == .backwards ? frameCount - 1 - place : place) * step
    }

    /// The places at which the clip shows frames of a part of the source.
    package func places(showing part: Range<Int>) -> Range<Int> {
        let own = part.clamped(to: frames)
        guard !own.isEmpty else { return 0..<0 }
        let isBackwards = direction == .backwards
        guard let pace else {
            let shown = ShownFrames(of: own, from: firstFrame, step: step)
            let first = (own.lowerBound - firstFrame + step - 1) / step
            let start = isBackwards ? frameCount - first - shown.count : first
            return start..<start + shown.count
        }
        let start = isBackwards ? frames.upperBound - own.upperBound : own.lowerBound - firstFrame
        let first = start == 0 ? 0 : pace.place(after: start)
        let end = start + own.count == rangeCount ? pace.count : pace.place(after: start + own.count)
        return first..<max(first, end)
    }

    /// The frames of a part of the source that the clip shows, each once, in the source's order.
    package func shown(in part: Range<Int>) -> [Int] {
        direction.order(places(showing: part)).reduce(into: []) { shown, place in
            let frame = frame(at: place)
            if shown.last != frame { shown.append(frame) }
        }
    }

    /// The interval of the source for which a frame is shown: its own, with those of the frames that it stands for.
    private func span(of frame: Int, in track: VideoTrack) -> Interval {
        let own = track.frames[frame].interval
        guard step > 1 else { return own }
        let end = track.frames[min(frame + step, frames.upperBound) - 1].interval.end
        return Interval(start: own.start, duration: max(end - own.start, own.duration))
    }

    /// The interval in which the output shows the frame at a place, in ticks of the output's clock.
    package func interval(at place: Int, in track: VideoTrack) -> Interval {
        if let pace { return Interval(start: Timestamp(Int64(pace.first + place)), duration: Ticks(1)) }
        let frame = frame(at: place)
        switch timestamps {
        case .mirror: return map.place(span(of: frame, in: track))
        case .source:
            // The frame gets the interval of the frame that has its place in the source's order.
            var natural = map
            natural.direction = .forwards
            return natural.place(span(of: firstFrame + place * step, in: track))
        }
    }

    /// When the segment of a chunk shows the frame at a place, in ticks of the output's clock. A segment's clock starts at
    /// 0 with its first frame, wherever the segment lies in the output. The chunk has a frame that is shown.
    package func start(at place: Int, inChunk frames: Range<Int>, of track: VideoTrack) -> Timestamp {
        let first = places(showing: frames).lowerBound
        return Timestamp((interval(at: place, in: track).start - interval(at: first, in: track).start).count)
    }

    /// When the output has shown all of it, in ticks of the output's clock.
    package func end(in track: VideoTrack) -> Timestamp {
        if let pace { return Timestamp(Int64(pace.first + pace.count)) }
        return interval(at: frameCount - 1, in: track).end
    }
}

/// The frames of a clip in an output of one rate, which shows some pictures several times, or not at all: in each frame
/// of the output the picture that the clip shows in the middle of it.
package struct ClipPace: Hashable, Codable, Sendable {
    /// The number of frames that the output shows before the clip, and how many it shows of it.
    package var first: Int
    package var count: Int
    /// The frames of the source for a frame of the output; positive.
    package var ratio: Rational
    /// How much later than the clip its first frame begins, in frames of the output; negative if it begins earlier.
    package var delay: Rational

    package init(first: Int, count: Int, ratio: Rational, delay: Rational) {
        self.first = first
        self.count = count
        self.ratio = ratio
        self.delay = delay
    }

    /// The frames of the clip, in its own order, that are over in the middle of the frame at a place.
    fileprivate func framesPassed(at place: Int) -> Int {
        let middle = Rational(Int64(2 * place + 1), 2) + delay
        return max(Int(TimeBase(1, 1).ticks(in: middle * ratio, rounding: .down)), 0)
    }

    /// The first place in whose middle this many frames of the clip are over.
    fileprivate func place(after passed: Int) -> Int {
        let middle = Rational(Int64(passed)) / ratio - delay - Rational(1, 2)
        return min(max(Int(TimeBase(1, 1).ticks(in: middle, rounding: .up)), 0), count)
    }

    /// Whether no arithmetic leaves its bounds.
    var isSound: Bool {
        let counts = 0...Int(Timestamp.bound)
        return counts.contains(first) && counts.contains(count) && ratio > Rational(0)
            && Rational(-1)...Rational(1) ~= delay
    }
}

/// Frames at equal distances in a source, in its order.
package struct ShownFrames: RandomAccessCollection, Sendable {
    private let first: Int
    private let step: Int
    package let count: Int

    /// The frames of `part`, counted from `origin`, which is not after it.
    package init(of part: Range<Int>, from origin: Int, step: Int) {
        first = origin + (part.lowerBound - origin + step - 1) / step * step
        self.step = step
        count = Swift.max((part.upperBound - first + step - 1) / step, 0)
    }

    package var startIndex: Int { 0 }
    package var endIndex: Int { count }
    package subscript(place: Int) -> Int { first + place * step }
}

/// The transition from one clip's sound to the next.
package enum Joint: Hashable, Codable, Sendable {
    /// One sound fades into the other around the cut; in seconds.
    case join(crossfade: Rational)
    /// The clips turn round, and show the turning frame so often.
    case turn(shown: Turn)
}

/// The places of subtitles and chapters, which belong to the source's pictures but have times of their own.
extension Clip {
    /// The span of the output for a span of the source, both in seconds. Nil if the clip shows no part of it.
    package func place(_ span: Range<Rational>, in track: VideoTrack) -> Range<Rational>? {
        guard rangeCount > 0 else { return nil }
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
        let frame = firstFrame + (max(later - 1, firstFrame) - firstFrame) / step * step
        // Only a range that is reversed once has the source's timestamps.
        let place = interval(at: frameCount - 1 - (frame - firstFrame) / step, in: track)
        let own = span(of: frame, in: track)
        guard seconds < map.source.seconds(own.end) else { return map.output.seconds(place.start) }
        let scale = map.output.seconds(place.duration) / map.source.seconds(max(own.duration, Ticks(1)))
        return map.output.seconds(place.end) - (seconds - map.source.seconds(own.start)) * scale
    }
}

/// The frames of a plan's clips in the order of the output.
package struct FrameOrder: Sendable {
    private let clips: [Clip]
    /// For each clip, the number of frames that the output shows before it.
    private let starts: [Int]
    package let count: Int

    package init(_ plan: Plan) {
        clips = plan.clips
        var (starts, count): ([Int], Int) = ([], 0)
        for clip in clips {
            starts.append(count)
            count += clip.frameCount
        }
        (self.starts, self.count) = (starts, count)
    }

    /// The clip that the output shows at `place`, counted in frames from 0, and the frame of that clip's source.
    /// `place` is within `count`.
    package func frame(at place: Int) -> (clip: Clip, frame: Int) {
        let number = clip(at: place)
        return (clips[number], clips[number].frame(at: place - starts[number]))
    }

    package func clip(at place: Int) -> Int { starts.partitioningIndex { $0 > place } - 1 }

    /// A place of the output, counted in the frames of its clip.
    package func placeInClip(at place: Int) -> Int { place - starts[clip(at: place)] }

    /// When the output shows the frame at `place`, in ticks of its clock; `tracks` are those of the plan's sources.
    package func interval(at place: Int, in tracks: [VideoTrack]) -> Interval {
        let number = clip(at: place)
        return clips[number].interval(at: place - starts[number], in: tracks[clips[number].source])
    }
}
