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
    static func clock(
        of edit: Edit, indexes: [SourceIndex], stillRate: Rational?
    ) throws(ReelFailure) -> TimeBase {
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
            return clip.still
                ?? track.stream.timeBase.secondsPerTick / clip.speed * Rational(track.step(of: frames))
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

/// The frames that the clips of an edit show, and the crossfades where they meet.
struct EditRanges {
    /// For each clip, its frames in the source's order; for a still, the one that is shown.
    let frames: [Range<Int>]
    /// For each clip, the crossfades of its sound.
    let joins: [Joins]

    /// Lengths of the crossfades of a clip, in seconds.
    struct Joins {
        /// With the clip before; nil for the first clip.
        var before: Rational?
        /// With the clip after; nil for the last clip.
        var after: Rational?
        /// Between its repeats.
        var between: Rational
    }

    /// `indexes` are those of the job's sources, in their order. Fails with kind `.usage` if no frame lies in the range of a
    /// clip, and with `.input` if a source has no frames, or the soundtrack no sound from its start on.
    init(_ edit: Edit, _ indexes: [SourceIndex]) throws(ReelFailure) {
        let first = edit.firstSource
        var frames: [Range<Int>] = []
        for (number, clip) in edit.clips.enumerated() {
            let index = indexes[clip.source ?? first]
            let range = try index.frames(
                from: clip.from, to: clip.to, lasting: clip.duration, by: clip.rule,
                ofClip: clip.title == nil ? nil : number)
            frames.append(clip.still == nil ? range : range.prefix(1))
        }
        if let soundtrack = edit.soundtrack { try EditRanges.check(soundtrack, indexes[soundtrack.source]) }
        if edit.trim == .shared {
            for (number, clip) in edit.clips.enumerated() where clip.still == nil {
                frames[number] = indexes[clip.source ?? first].shared(
                    frames[number], leaving: (Rational(0), Rational(0)))
            }
        }
        let longest = EditRanges.crossfade(edit, indexes)
        var joins = EditRanges.joins(edit, frames, indexes, atMost: longest)
        if edit.trim == .shared {
            for (number, clip) in edit.clips.enumerated() where clip.still == nil {
                let index = indexes[clip.source ?? first]
                frames[number] = index.shared(frames[number], leaving: clip.handles(joins[number]))
                guard !frames[number].isEmpty else { throw ReelFailure(.clipUnshared(clip: number)) }
            }
            // Of what is left, a repeat may be shorter than the crossfade that it was to have.
            joins = EditRanges.joins(edit, frames, indexes, atMost: longest)
        }
        (self.frames, self.joins) = (frames, joins)
    }

    private static func check(_ soundtrack: Soundtrack, _ index: SourceIndex) throws(ReelFailure) {
        // Without any sound, there is no soundtrack to be out of range.
        guard let track = index.audio.first else { return }
        let end = track.timeBase.seconds(track.span.end) - index.startTime
        guard soundtrack.from < end else {
            throw ReelFailure(.soundtrackOutOfRange(from: soundtrack.from, end: end))
        }
    }

    /// The crossfades. None is longer than a repeat of either neighbour.
    private static func joins(
        _ edit: Edit, _ frames: [Range<Int>], _ indexes: [SourceIndex], atMost longest: Rational
    ) -> [Joins] {
        let first = edit.firstSource
        let lengths = zip(edit.clips, frames).map { clip, frames in
            clip.still ?? indexes[clip.source ?? first].duration(of: frames, clip.play, edit.turn) / clip.speed
        }
        return lengths.enumerated().map { number, length in
            func join(_ other: Int) -> Rational? {
                lengths.indices.contains(other) ? min(longest, length, lengths[other]) : nil
            }
            return Joins(before: join(number - 1), after: join(number + 1), between: min(longest, length))
        }
    }

    /// The longest crossfade, in seconds.
    private static func crossfade(_ edit: Edit, _ indexes: [SourceIndex]) -> Rational {
        if let crossfade = edit.crossfade { return crossfade }
        let index = indexes[edit.firstSource]
        let frames = index.video.frames
        let (first, last) = (frames[0].interval, frames[frames.count - 1].interval)
        let (length, count) =
            frames.count > 1 ? (last.start - first.start, frames.count - 1) : (first.duration, 1)
        let halfFrame = index.video.stream.timeBase.seconds(length) / Rational(2 * Int64(count))
        return max(halfFrame, Rational(1, 100))
    }
}

extension Turn {
    /// The frames that a clip shows on its way back.
    fileprivate func back(of frames: Range<Int>) -> Range<Int> {
        self == .once ? frames.dropFirst().dropLast() : frames
    }
}

extension EditClip {
    /// The sound that its crossfades need beyond its range, before and after it in the source; in seconds.
    fileprivate func handles(_ joins: EditRanges.Joins) -> (before: Rational, after: Rational) {
        let between = times > 1 && play != .pingPong ? joins.between : Rational(0)
        let first = max(joins.before ?? Rational(0), between) / Rational(2)
        let last = max(joins.after ?? Rational(0), between) / Rational(2)
        return switch play {
        case .forward: (first, last)
        case .reverse: (last, first)
        // Both ends are where its range begins.
        case .pingPong: (max(first, last), Rational(0))
        }
    }
}

extension SourceIndex {
    /// For how long a range of frames is shown once, played in this way, in seconds.
    fileprivate func duration(of frames: Range<Int>, _ play: Play, _ turn: Turn) -> Rational {
        let once = duration(of: frames)
        return play == .pingPong ? once + duration(of: turn.back(of: frames)) : once
    }

    /// The least number of which one frame is shown, so that a range shows at most `mostFrames` a second at a speed.
    func step(of frames: Range<Int>, speed: Rational, mostFrames: Rational) -> Int {
        let shown = mostFrames * duration(of: frames) / speed
        guard shown > Rational(0) else { return frames.count }
        // Clocks are off by a little: 30.01 frames a second are 30.
        let near = shown * Rational(101, 100)
        let step = TimeBase(1, 1).ticks(in: Rational(Int64(frames.count)) / near, rounding: .up)
        return Int(min(max(step, 1), Int64(frames.count)))
    }

    /// For how long a range of frames is shown, in seconds.
    func duration(of frames: Range<Int>) -> Rational {
        guard !frames.isEmpty else { return Rational(0) }
        let (first, last) = (video.frames[frames.lowerBound].interval, video.frames[frames.upperBound - 1].interval)
        return video.stream.timeBase.seconds(last.end - first.start)
    }

    /// Those frames of a range during which the first track has sound, and beyond which it has that of `handles`, in
    /// seconds, to a millisecond. All of them if there is no sound.
    fileprivate func shared(
        _ frames: Range<Int>, leaving handles: (before: Rational, after: Rational)
    ) -> Range<Int> {
        guard let sound = audio.first else { return frames }
        let (begin, end) = (sound.timeBase.seconds(sound.span.start), sound.timeBase.seconds(sound.span.end))
        let clock = video.stream.timeBase
        let near = Rational(1, 1000)
        let isShared = { (frame: Int) in
            let shown = self.video.frames[frame].interval
            let (from, to) = (clock.seconds(shown.start), clock.seconds(shown.end))
            return from >= begin && to <= end && from - handles.before >= begin - near
                && to + handles.after <= end + near
        }
        guard let first = frames.first(where: isShared), let last = frames.last(where: isShared) else {
            return frames.prefix(0)
        }
        return first..<last + 1
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
