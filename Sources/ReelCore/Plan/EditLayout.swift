/// Lays the clips of an edit out on the output's clock, one span after the other.
struct EditLayout {
    private let index: SourceIndex
    private let edit: Edit
    private let output: TimeBase
    private var clips: [Clip] = []
    /// The end of the clips so far, in seconds of the output.
    private var end = Rational(0)

    /// The clips of an edit of one source, each a span of frames in one direction; `output` is the output's clock. Fails
    /// with kind `.usage` if no frame lies in the range of a clip.
    static func clips(of edit: Edit, index: SourceIndex, output: TimeBase) throws(ReelFailure) -> [Clip] {
        var layout = EditLayout(index: index, edit: edit, output: output)
        let ranges = try edit.clips.map { (clip) throws(ReelFailure) in
            try index.frames(from: clip.from, to: clip.to)
        }
        let lengths = zip(edit.clips, ranges).map { clip, frames in
            // The crossfade must not reach beyond the sound of the shorter neighbour.
            index.duration(of: frames) * Rational(Int64(clip.play.directions.count))
        }
        for (number, clip) in edit.clips.enumerated() {
            let before = number > 0 ? lengths[number - 1] : nil
            for time in 0..<clip.times {
                let neighbour = time > 0 ? lengths[number] : before
                let joint: Joint? =
                    time > 0 && clip.play == .pingPong
                    ? .turn(edit.turn) : neighbour.map { .join(crossfade: min(layout.crossfade, $0, lengths[number])) }
                layout.add(clip.play, ranges[number], joint)
            }
        }
        return layout.clips
    }

    private init(index: SourceIndex, edit: Edit, output: TimeBase) {
        self.index = index
        self.edit = edit
        self.output = output
    }

    /// The longest crossfade, in seconds.
    private var crossfade: Rational {
        if let crossfade = edit.crossfade { return crossfade }
        let frames = index.video.frames
        let (first, last) = (frames[0].interval, frames[frames.count - 1].interval)
        let (length, count) =
            frames.count > 1 ? (last.start - first.start, frames.count - 1) : (first.duration, 1)
        let halfFrame = index.video.stream.timeBase.seconds(length) / Rational(2 * Int64(count))
        return max(halfFrame, Rational(1, 100))
    }

    /// Adds a clip, played once.
    private mutating func add(_ play: Play, _ frames: Range<Int>, _ joint: Joint?) {
        switch play {
        case .forward: add(.forwards, frames, joint)
        case .reverse: add(.backwards, frames, joint)
        case .pingPong:
            add(.forwards, frames, joint)
            // The frames at both ends are shown once.
            let back = edit.turn == .once ? frames.dropFirst().dropLast() : frames
            if !back.isEmpty { add(.backwards, back, .turn(edit.turn)) }
        }
    }

    private mutating func add(_ direction: Direction, _ frames: Range<Int>, _ joint: Joint?) {
        let track = index.video
        let map = TimeMap(
            direction, source: track.stream.timeBase, output: output,
            start: track.frames[frames.lowerBound].interval.start,
            end: track.frames[frames.upperBound - 1].interval.end, offset: end)
        clips.append(Clip(frames: frames, map: map, joint: joint))
        end = end + index.duration(of: frames)
    }
}

extension SourceIndex {
    /// The frames with from ≤ t < to, in seconds from the file's start. Fails with kind `.usage` if there are none, and
    /// with `.input` if the video has no frames.
    func frames(from: Rational?, to: Rational?) throws(ReelFailure) -> Range<Int> {
        guard video.frames.count > 0 else { throw ReelFailure(.noFrames(path: nil)) }
        if let from, let to, from >= to { throw ReelFailure(.rangeEmpty(from: from, to: to)) }
        let timeBase = video.stream.timeBase
        func framesBefore(_ moment: Rational) -> Int {
            // A frame starts before the moment if its tick is less than the moment's, rounded up.
            let tick = timeBase.ticks(in: startTime + moment, rounding: .up)
            return video.frames.partitioningIndex { $0.interval.start.ticks >= tick }
        }
        let first = from.map(framesBefore) ?? 0
        let end = to.map(framesBefore) ?? video.frames.count
        guard first < end else {
            throw ReelFailure(.nothingInRange(from: from, to: to, end: timeBase.seconds(video.end) - startTime))
        }
        return first..<end
    }

    /// For how long a range of frames is shown, in seconds; the range is not empty.
    func duration(of frames: Range<Int>) -> Rational {
        let (first, last) = (video.frames[frames.lowerBound].interval, video.frames[frames.upperBound - 1].interval)
        return video.stream.timeBase.seconds(last.end - first.start)
    }
}
