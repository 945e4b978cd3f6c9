/// Lays the clips of an edit out on the output's clock, one span after the other.
struct EditLayout {
    private let edit: Edit
    private let indexes: [SourceIndex]
    private let output: TimeBase
    /// The most frames a second that are shown; nil for all.
    private let mostFrames: Rational?
    /// How many frames a second a still becomes; nil for one frame.
    private let stillRate: Rational?
    /// The source whose frames carry black pictures.
    private let first: Int
    private(set) var clips: [Clip] = []
    /// Chapters of the clips that have a title, in seconds of the output.
    private(set) var chapters: [Chapter] = []
    /// The end of the clips so far, in seconds of the output.
    private var end = Rational(0)
    /// The frames of all stills so far; at most `Edit.mostClips`.
    private var stillFrames = 0

    /// The clips of an edit, each a span of frames of a source in one direction.
    ///
    /// - Parameters:
    ///   - indexes: those of the job's sources, in their order.
    ///   - output: the output's clock.
    ///   - mostFrames: the most frames a second that are shown; nil for all.
    ///   - stillRate: how many frames a second a still becomes; nil for one frame.
    ///
    /// Fails with kind `.usage` if no frame lies in the range of a clip, or if stills become too many frames.
    init(
        _ edit: Edit, indexes: [SourceIndex], output: TimeBase, mostFrames: Rational?, stillRate: Rational?
    ) throws(ReelFailure) {
        self.mostFrames = mostFrames
        self.stillRate = stillRate
        let ranges = try EditRanges(edit, indexes)
        self.edit = edit
        self.indexes = indexes
        self.output = output
        first = edit.firstSource
        for (number, clip) in edit.clips.enumerated() {
            let begin = end
            let joins = ranges.joins[number]
            for time in 0..<clip.times {
                let joint: Joint? =
                    time == 0
                    ? joins.before.map { .join(crossfade: $0) }
                    : clip.play == .pingPong ? .turn(edit.turn) : .join(crossfade: joins.between)
                try add(clip, number, ranges.frames[number], joint)
            }
            if let title = clip.title { chapters.append(Chapter(start: begin, end: end, title: title)) }
        }
    }

    /// The output's clock: that of the only source if it is played at its own speed. Else the coarsest that has a tick for
    /// the start of every frame and at most `finest` a second; else as many.
    ///
    /// - Parameter stillRate: how many frames a second a still becomes; nil for one frame.
    static func clock(of edit: Edit, indexes: [SourceIndex], stillRate: Rational?) throws(ReelFailure) -> TimeBase {
        let sources = Set(edit.shownSources)
        let isPlain = edit.clips.allSatisfy { $0.speed == Rational(1) && $0.still == nil }
        if sources.count == 1, isPlain, let only = sources.first { return indexes[only].video.stream.timeBase }
        // Containers count the ticks of a frame in 31 bits.
        let longest = edit.clips.compactMap(\.still)
        let stills = longest + (longest.isEmpty ? [] : [stillRate.map { Rational(1) / $0 }].compactMap(\.self))
        let least = max(finest, (longest.max() ?? Rational(0)) / Rational(Int64(Int32.max)))
        let first = edit.firstSource
        let played = edit.clips.filter { $0.still == nil }
        let ticks = played.map { indexes[$0.source ?? first].video.stream.timeBase.secondsPerTick / $0.speed }
        if let common = common(of: ticks + stills), common >= least { return TimeBase(secondsPerTick: common) }
        // Frames may need a coarser clock than their sources have.
        let ranges = try EditRanges(edit, indexes)
        let steps = zip(edit.clips, ranges.frames).map { clip, frames in
            let track = indexes[clip.source ?? first].video
            return clip.still ?? track.stream.timeBase.secondsPerTick / clip.speed * Rational(track.step(of: frames))
        }
        if let common = common(of: steps), common >= least { return TimeBase(secondsPerTick: common) }
        return least == finest ? TimeBase(secondsPerTick: finest) : TimeBase(1, 1000)
    }

    /// The longest time of which all of these lengths are multiples; nil beyond 64 bits, and of none.
    private static func common(of lengths: [Rational]) -> Rational? {
        let different = Set(lengths)
        return different.dropFirst().reduce(different.first) { common, length in
            common.flatMap { Rational.greatestCommonMeasure($0, length) }
        }
    }

    /// The shortest tick of an output's clock, in seconds.
    private static let finest = Rational(1, 1_000_000)

    /// Adds a clip, played once; `number` is its place in the edit.
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
            if !shown.isEmpty { add(clip, .backwards, back.clamped(to: frames), .turn(edit.turn)) }
        }
    }

    /// Adds a still. The frames that it becomes are clips of their own, and equal ones are encoded once.
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
            // The last one lasts to the end.
            part.still = place < count - 1 ? Rational(1) / rate : still - Rational(count - 1) / rate
            add(part, .forwards, frames, place == 0 ? joint : .join(crossfade: Rational(0)))
        }
    }

    /// A clip of these frames shows one frame in this many.
    private func step(of clip: EditClip, _ frames: Range<Int>) -> Int {
        guard let mostFrames, clip.still == nil else { return 1 }
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
            // A frame that damage left without a duration lasts a tick.
            last = max(last, start + Ticks(1))
            speed = track.stream.timeBase.seconds(last - start) / still
        }
        let map = TimeMap(
            direction, source: track.stream.timeBase, output: output, start: start, end: last, offset: end, speed: speed
        )
        clips.append(
            Clip(
                source: source, frames: frames, step: step(of: clip, frames), map: map, joint: joint,
                isHeard: clip.sound && clip.still == nil,
                isBlack: clip.source == nil))
        end = end + map.duration
    }
}

extension VideoTrack {
    /// The longest time, in ticks, of which the distances between the starts of these frames, and to the last one's end, are
    /// multiples; at least 1.
    fileprivate func step(of range: Range<Int>) -> Int64 {
        guard let first = range.first else { return 1 }
        let start = frames[first].interval.start
        let step = range.reduce(UInt64(0)) { step, frame in
            Rational.greatestCommonDivisor(step, (frames[frame].interval.end - start).count.magnitude)
        }
        return max(Int64(clamping: step), 1)
    }
}
