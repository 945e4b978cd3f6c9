extension SourceIndex {
    /// The frames with from ≤ t < to, where t is the moment of a frame that `rule` names; nil for its start. `duration`
    /// is the length of the range if `to` is nil. `clip` is the number of the clip to be shown, counted from 0; nil for
    /// the range of an option. Fails with kind `.usage` if the range has no frames or no frame has a timecode, and with
    /// `.input` if the video has no frames.
    func frames(
        from: Position?, to: Position?, lasting duration: Position?, by rule: RangeRule? = nil, ofClip clip: Int? = nil
    ) throws(ReelFailure) -> Range<Int> {
        guard video.frames.count > 0 else { throw ReelFailure(.noFrames(path: nil)) }
        if let from, let to, from == to || to.precedes(from) == true {
            throw ReelFailure(.rangeEmpty(from: from, to: to))
        }
        let first = try from.map { position throws(ReelFailure) in try frame(at: position, rule) } ?? 0
        let end: Int
        if let to {
            end = try frame(at: to, rule)
        } else if let duration {
            end = try frame(after: duration, from: from, first, rule)
        } else {
            end = video.frames.count
        }
        guard first < end else {
            let length = video.stream.timeBase.seconds(video.end) - startTime
            throw ReelFailure(
                clip.map { .clipOutOfRange(clip: $0, from: from, to: to, end: length) }
                    ?? .nothingInRange(from: from, to: to, end: length))
        }
        return first..<end
    }

    /// The moments at which the sound of a range begins and ends, in seconds on the source's clock: the bounds if they
    /// are in seconds, else those of the frames; nil for no limit.
    func soundSpan(
        of frames: Range<Int>, from: Position?, to: Position?, lasting duration: Position?
    ) -> (from: Rational?, to: Rational?) {
        let clock = video.stream.timeBase
        let start = clock.seconds(video.frames[frames.lowerBound].interval.start)
        let end: Rational? =
            frames.upperBound < video.frames.count ? clock.seconds(video.frames[frames.upperBound].interval.start) : nil
        let begin: Rational? =
            switch from {
            case nil: nil
            case .seconds(let seconds): startTime + seconds
            case .frames, .timecode: start
            }
        switch (to, duration) {
        case (nil, nil): return (begin, nil)
        case (.seconds(let seconds), _): return (begin, startTime + seconds)
        case (nil, .seconds(let seconds)): return (begin, (begin ?? startTime) + seconds)
        default: return (begin, end)
        }
    }

    /// The first frame that is at a position, or later.
    private func frame(at position: Position, _ rule: RangeRule?) throws(ReelFailure) -> Int {
        switch position {
        case .seconds(let seconds): return frame(at: startTime + seconds, by: rule)
        case .frames(let frames): return min(Int(frames), video.frames.count)
        case .timecode(let timecode): return frame(at: try firstMoment + seconds(timecode), by: .middle)
        }
    }

    /// The first frame at `length` after a range's start, or later. `first` is the frame at that start.
    private func frame(
        after length: Position, from start: Position?, _ first: Int, _ rule: RangeRule?
    ) throws(ReelFailure) -> Int {
        guard first < video.frames.count else { return first }
        let moment = video.stream.timeBase.seconds(video.frames[first].interval.start)
        switch (length, start) {
        case (.frames(let frames), _): return min(first + Int(frames), video.frames.count)
        case (.timecode(let timecode), _): return frame(at: try moment + seconds(timecode), by: .middle)
        case (.seconds(let seconds), .seconds(let from)): return frame(at: startTime + from + seconds, by: rule)
        case (.seconds(let seconds), nil): return frame(at: startTime + seconds, by: rule)
        case (.seconds(let seconds), _): return frame(at: moment + seconds, by: rule)
        }
    }

    /// The number of frames before a moment, in seconds on the source's clock.
    private func frame(at moment: Rational, by rule: RangeRule?) -> Int {
        let timeBase = video.stream.timeBase
        switch rule {
        case nil:
            // A frame starts before the moment if its tick is less than the moment's, rounded up.
            let tick = timeBase.ticks(in: moment, rounding: .up)
            return video.frames.partitioningIndex { $0.interval.start.ticks >= tick }
        case .middle:
            // Twice the middle is a whole tick.
            let tick = timeBase.ticks(in: moment * Rational(2), rounding: .up)
            return video.frames.partitioningIndex { $0.interval.start.ticks + $0.interval.end.ticks >= tick }
        }
    }

    /// When the first frame begins, in seconds on the source's clock.
    private var firstMoment: Rational { video.stream.timeBase.seconds(video.frames[0].interval.start) }

    /// How long after the first frame a timecode's frame begins. Compare it with the middles of frames, since
    /// timestamps may be rounded.
    private func seconds(_ timecode: Timecode) throws(ReelFailure) -> Rational {
        let rate = video.stream.frameRate.map { Rational.broadcastRate(near: $0.approximate) ?? $0 }
        do throws(TimecodeFlaw) {
            let frames = try timecode.frame(at: rate)
            return rate.map { Rational(frames) / $0 } ?? Rational(0)
        } catch {
            throw ReelFailure(.timecodeInvalid(timecode: timecode.description, flaw: error))
        }
    }
}
