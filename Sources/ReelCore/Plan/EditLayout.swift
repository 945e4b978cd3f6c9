/// Places the clips of an edit on the output's clock, one after the other. A clip of the edit becomes one clip of the
/// plan for each repeat, two if it is played forth and back, and one for each frame if it is a still at a constant
/// rate. If the output has one rate, the picture is cut at the frames that are nearest to the exact times, at which the
/// sound is.
struct EditLayout {
    private let edit: Edit
    private let indexes: [SourceIndex]
    private let output: TimeBase
    /// The rate of the output if it is not that of all sources; nil for times as in the sources.
    private let rate: Rational?
    /// The most frames a second that are shown; nil for all.
    private let mostFrames: Rational?
    /// How many frames a second a still becomes; nil for one frame.
    private let stillRate: Rational?
    /// The source whose frames are shown as black pictures in gaps.
    private let first: Int
    private(set) var clips: [Clip] = []
    /// Chapters of the clips that have a title, in seconds of the output.
    private(set) var chapters: [Chapter] = []
    /// The end of the clips so far, in seconds of the output.
    private var end = Rational(0)
    /// The frames of all stills so far; at most `Edit.mostClips`.
    private var stillFrames = 0

    /// `indexes` are those of the job's sources, in their order; `output` is the output's clock. Fails with kind
    /// `.usage` if no frame lies in the range of a clip, or if stills become too many frames.
    init(
        _ edit: Edit, indexes: [SourceIndex], output: TimeBase, rate: Rational?, mostFrames: Rational?,
        stillRate: Rational?
    ) throws(ReelFailure) {
        self.edit = edit
        self.indexes = indexes
        self.output = output
        self.rate = rate
        self.mostFrames = mostFrames
        self.stillRate = stillRate
        first = edit.firstSource
        let ranges = try EditRanges(edit, indexes)
        for (number, clip) in edit.clips.enumerated() {
            let begin = end
            let joins = ranges.joins[number]
            for time in 0..<clip.times {
                let joint: Joint? =
                    if time == 0 {
                        joins.before.map { .join(crossfade: $0) }
                    } else {
                        clip.play == .pingPong ? .turn(shown: edit.turn) : .join(crossfade: joins.between)
                    }
                try add(clip, number, ranges.frames[number], joint)
            }
            if let title = clip.title { chapters.append(Chapter(start: begin, end: end, title: title)) }
        }
    }

    /// Chooses the output's clock. An edit of one source at its own speed gets the source's clock. Other edits get the
    /// coarsest clock with a tick at the start of every frame. If that had ticks shorter than `finest`, it is `finest`;
    /// if its ticks were too short to count the longest still, it is a millisecond. Starts of frames are then rounded.
    static func clock(of edit: Edit, indexes: [SourceIndex], stillRate: Rational?) throws(ReelFailure) -> TimeBase {
        let sources = Set(edit.shownSources)
        let isPlain = edit.clips.allSatisfy { $0.speed == Rational(1) && $0.still == nil }
        if sources.count == 1, isPlain, let only = sources.first { return indexes[only].video.stream.timeBase }
        var stills = edit.clips.compactMap(\.still)
        // Containers store a frame's duration in 31 bits, so a long still needs longer ticks.
        let least = max(finest, (stills.max() ?? Rational(0)) / Rational(Int64(Int32.max)))
        if let stillRate, !stills.isEmpty { stills.append(Rational(1) / stillRate) }
        let first = edit.firstSource
        let played = edit.clips.filter { $0.still == nil }
        let ticks = played.map { indexes[$0.source ?? first].video.stream.timeBase.secondsPerTick / $0.speed }
        if let common = common(of: ticks + stills), common >= least { return TimeBase(secondsPerTick: common) }
        // The starts of a source's frames may be multiples of several of its ticks.
        let ranges = try EditRanges(edit, indexes)
        let steps = zip(edit.clips, ranges.frames).map { clip, frames in
            let track = indexes[clip.source ?? first].video
            return clip.still ?? track.stream.timeBase.secondsPerTick / clip.speed * Rational(track.step(of: frames))
        }
        if let common = common(of: steps), common >= least { return TimeBase(secondsPerTick: common) }
        return least == finest ? TimeBase(secondsPerTick: finest) : TimeBase(1, 1000)
    }

    /// The longest time that divides all of these lengths; nil without lengths, and beyond 64 bits.
    private static func common(of lengths: [Rational]) -> Rational? {
        let different = Set(lengths)
        return different.dropFirst().reduce(different.first) { common, length in
            common.flatMap { Rational.greatestCommonMeasure($0, length) }
        }
    }

    /// The shortest tick of an output's clock, in seconds.
    private static let finest = Rational(1, 1_000_000)

    /// Adds one repeat of a clip; `number` is the clip's place in the edit.
    private mutating func add(
        _ clip: EditClip, _ number: Int, _ frames: Range<Int>, _ joint: Joint?
    ) throws(ReelFailure) {
        if let still = clip.still { return try add(clip, number, frames, joint, for: still) }
        switch clip.play {
        case .forward: add(clip, .forwards, frames, joint)
        case .reverse: add(clip, .backwards, frames, joint)
        case .pingPong:
            add(clip, .forwards, frames, joint)
            let step = step(of: clip, frames)
            let shown = edit.turn.back(of: 0..<(frames.count + step - 1) / step)
            let back = frames.lowerBound + shown.lowerBound * step..<frames.lowerBound + shown.upperBound * step
            if !shown.isEmpty { add(clip, .backwards, back.clamped(to: frames), .turn(shown: edit.turn)) }
        }
    }

    /// Adds a still as one clip for each frame that it becomes: equal clips share their segments, so a frame is encoded
    /// once.
    private mutating func add(
        _ clip: EditClip, _ number: Int, _ frames: Range<Int>, _ joint: Joint?, for still: Rational
    ) throws(ReelFailure) {
        let rate = stillRate ?? Rational(1) / still
        let count = max(TimeBase(1, 1).ticks(in: still * rate, rounding: .down), 1)
        guard count <= Int64(Edit.mostClips - stillFrames) else {
            throw ReelFailure(.stillTooLong(clip: number, frames: Int(count), most: Edit.mostClips))
        }
        stillFrames += Int(count)
        var part = clip
        for place in 0..<count {
            // The last frame takes what is left of the still's time.
            part.still = place < count - 1 ? Rational(1) / rate : still - Rational(count - 1) / rate
            add(part, .forwards, frames, place == 0 ? joint : .join(crossfade: Rational(0)))
        }
    }

    /// The step with which a clip stays within `mostFrames`: every `step`-th frame is shown.
    private func step(of clip: EditClip, _ frames: Range<Int>) -> Int {
        guard clip.still == nil, rate == nil else { return 1 }
        return indexes[clip.source ?? first].step(of: frames, speed: clip.speed, mostFrames: mostFrames)
    }

    private mutating func add(_ clip: EditClip, _ direction: Direction, _ frames: Range<Int>, _ joint: Joint?) {
        let source = clip.source ?? first
        let index = indexes[source]
        let track = index.video
        let start = track.frames[frames.lowerBound].interval.start
        var last = track.frames[frames.upperBound - 1].interval.end
        var speed = clip.speed
        if let still = clip.still {
            // A damaged file may state no duration for the frame; then it counts as one tick.
            last = max(last, start + Ticks(1))
            speed = track.stream.timeBase.seconds(last - start) / still
        }
        let map = TimeMap(
            direction, source: track.stream.timeBase, output: output, start: start, end: last, offset: end, speed: speed
        )
        clips.append(
            Clip(
                source: source, frames: frames, step: step(of: clip, frames), map: map, joint: joint,
                isHeard: clip.sound && clip.still == nil, isBlack: clip.source == nil,
                pace: pace(of: index.video, frames.count, speed: speed, until: end + map.duration)))
        end = end + map.duration
    }

    /// How the next clip is shown in an output of one rate, if it lasts until `end`.
    private func pace(of track: VideoTrack, _ frames: Int, speed: Rational, until end: Rational) -> ClipPace? {
        guard let rate else { return nil }
        let first = EditLayout.frame(at: self.end, rate)
        let count = EditLayout.frame(at: end, rate) - first
        guard frames > 1, let own = track.constantRate else {
            return ClipPace(first: first, count: count, ratio: Rational(1), delay: Rational(0))
        }
        return ClipPace(
            first: first, count: count, ratio: own * speed / rate, delay: Rational(Int64(first)) - self.end * rate)
    }

    /// The frame of an output of one rate that begins nearest to a moment; one at least is shown before any moment but the
    /// start.
    private static func frame(at moment: Rational, _ rate: Rational) -> Int {
        guard moment > Rational(0) else { return 0 }
        return Int(max(TimeBase(1, 1).ticks(in: moment * rate - Rational(1, 2), rounding: .up), 1))
    }
}

extension VideoTrack {
    /// The greatest number of ticks that divides the distance from the first frame's start to the end of each frame; at
    /// least 1.
    fileprivate func step(of range: Range<Int>) -> Int64 {
        guard let first = range.first else { return 1 }
        let start = frames[first].interval.start
        let step = range.reduce(UInt64(0)) { step, frame in
            Rational.greatestCommonDivisor(step, (frames[frame].interval.end - start).count.magnitude)
        }
        return max(Int64(clamping: step), 1)
    }
}
