/// The frames that the clips of an edit show, and the crossfades where they meet.
struct EditRanges {
    /// The frames of each clip, in the source's order; for a still, the one frame that is shown.
    let frames: [Range<Int>]
    let joins: [Joins]

    /// The lengths of a clip's crossfades in seconds: with the clip before and the clip after, nil without such a clip,
    /// and between its own repeats.
    struct Joins {
        var before: Rational?
        var after: Rational?
        var between: Rational
    }

    /// `indexes` are those of the job's sources, in their order. Fails with kind `.usage` if no frame lies in the range
    /// of a clip, or too few do, and with `.input` if a source has no frames, or if the soundtrack ends before its start.
    init(_ edit: Edit, _ indexes: [SourceIndex]) throws(ReelFailure) {
        let first = edit.firstSource
        var frames: [Range<Int>] = []
        for (number, clip) in edit.clips.enumerated() {
            let index = indexes[clip.source ?? first]
            let range = try index.frames(
                from: clip.from, to: clip.to, lasting: clip.duration, by: clip.rule,
                ofClip: clip.title == nil ? nil : number)
            if let least = clip.leastFrames, range.count < least, !index.video.isNone {
                throw ReelFailure(.rangeTooShort(from: clip.from, to: clip.to, frames: range.count, least: least))
            }
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
            // A repeat may have become shorter than its crossfade.
            joins = EditRanges.joins(edit, frames, indexes, atMost: longest)
        }
        (self.frames, self.joins) = (frames, joins)
    }

    private static func check(_ soundtrack: Soundtrack, _ index: SourceIndex) throws(ReelFailure) {
        // A source without sound gives a silent soundtrack.
        guard let track = index.audio.first else { return }
        let end = track.timeBase.seconds(track.span.end) - index.startTime
        guard soundtrack.from < end else { throw ReelFailure(.soundtrackOutOfRange(from: soundtrack.from, end: end)) }
    }

    /// A crossfade is at most as long as one repeat of each of the clips that it joins.
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

    /// The shortest crossfade unless the user asks for another, in seconds.
    private static let leastCrossfade = Rational(1, 100)

    private static func crossfade(_ edit: Edit, _ indexes: [SourceIndex]) -> Rational {
        if let crossfade = edit.crossfade { return crossfade }
        let index = indexes[edit.firstSource]
        guard !index.video.isNone else { return EditRanges.leastCrossfade }
        let frames = index.video.frames
        let (first, last) = (frames[0].interval, frames[frames.count - 1].interval)
        let (length, count) = frames.count > 1 ? (last.start - first.start, frames.count - 1) : (first.duration, 1)
        let halfFrame = index.video.stream.timeBase.seconds(length) / Rational(2 * Int64(count))
        return max(halfFrame, EditRanges.leastCrossfade)
    }
}

extension Turn {
    /// The frames that a clip shows on its way back.
    func back(of frames: Range<Int>) -> Range<Int> { self == .once ? frames.dropFirst().dropLast() : frames }
}

extension EditClip {
    /// How much sound its crossfades need before its range and after it in the source, in seconds: half of a crossfade
    /// lies beyond the cut.
    fileprivate func handles(_ joins: EditRanges.Joins) -> (before: Rational, after: Rational) {
        let between = times > 1 && play != .pingPong ? joins.between : Rational(0)
        let first = max(joins.before ?? Rational(0), between) / Rational(2)
        let last = max(joins.after ?? Rational(0), between) / Rational(2)
        return switch play {
        case .forward: (first, last)
        case .reverse: (last, first)
        // The clip begins and ends at the start of its range.
        case .pingPong: (max(first, last), Rational(0))
        }
    }
}

extension SourceIndex {
    /// How long one repeat of a range of frames takes at the source's speed, in seconds.
    fileprivate func duration(of frames: Range<Int>, _ play: Play, _ turn: Turn) -> Rational {
        let once = duration(of: frames)
        return play == .pingPong ? once + duration(of: turn.back(of: frames)) : once
    }

    /// The least step with which a range, played at a speed, shows at most `mostFrames` frames a second: one frame in
    /// each step is shown; all of them if `mostFrames` is nil.
    func step(of frames: Range<Int>, speed: Rational = Rational(1), mostFrames: Rational?) -> Int {
        guard let mostFrames else { return 1 }
        let shown = mostFrames * duration(of: frames) / speed
        guard shown > Rational(0) else { return frames.count }
        // Rates that are measured deviate a little: 30.01 frames a second are 30.
        let near = shown * Rational(101, 100)
        let step = TimeBase(1, 1).ticks(in: Rational(Int64(frames.count)) / near, rounding: .up)
        return Int(min(max(step, 1), Int64(frames.count)))
    }

    func duration(of frames: Range<Int>) -> Rational {
        guard !frames.isEmpty else { return Rational(0) }
        let (first, last) = (video.frames[frames.lowerBound].interval, video.frames[frames.upperBound - 1].interval)
        return video.stream.timeBase.seconds(last.end - first.start)
    }

    /// Shortens a range to the frames during which the first track has sound, with `handles` seconds of sound before
    /// and after them; a millisecond may be missing. A source without sound, or with sound alone, keeps the range.
    fileprivate func shared(_ frames: Range<Int>, leaving handles: (before: Rational, after: Rational)) -> Range<Int> {
        guard !video.isNone, let sound = audio.first else { return frames }
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
