/// The sound of an edit: which moments of its sources are heard when. A moment of sound is heard when the video shows
/// that moment. If a clip turns round and shows the turning frame once, the sound turns in the middle of that frame: it
/// runs forwards through the frame's first half and backwards through its second.
package struct SoundEdit: Hashable, Codable, Sendable {
    /// The pieces, one after the other from the output's start to its end.
    package let pieces: [Piece]

    /// Sound of one source that runs in one direction, or silence.
    package struct Piece: Hashable, Codable, Sendable {
        /// The index of the source; nil for silence.
        package var source: Int?
        /// When the piece begins in the output, in seconds.
        package var start: Rational
        package var end: Rational
        package var direction: Direction
        /// Seconds of the source in a second of the output; positive.
        package var speed: Rational
        /// The moment of the source, in seconds on its clock, that would be heard at the output's start if the piece
        /// began there.
        package var origin: Rational
        /// The length of the crossfade with the piece before, around `start`, in seconds; 0 for none.
        package var crossfade: Rational

        /// The moment of the source that is heard at a moment of the output, both in seconds.
        package func moment(at time: Rational) -> Rational {
            direction == .forwards ? origin + time * speed : origin - time * speed
        }

        /// Whether this piece continues another without a change.
        fileprivate func continues(_ other: Piece) -> Bool {
            guard crossfade == Rational(0), source == other.source else { return false }
            return source == nil || direction == other.direction && origin == other.origin && speed == other.speed
        }

        /// The part of the source that is heard during samples of the output, as places on the source's timeline in the
        /// source's order. Beyond the timeline there is silence. The piece is played at its own speed.
        package func places(_ samples: Range<Int64>, on timeline: AudioTimeline) -> Range<Int64> {
            let clock = TimeBase(1, Int64(timeline.sampleRate))
            let origin = clock.ticks(in: origin - timeline.start, rounding: .nearest)
            return switch direction {
            case .forwards: origin + samples.lowerBound..<origin + samples.upperBound
            case .backwards: origin - samples.upperBound..<origin - samples.lowerBound
            }
        }
    }

    /// The sound of a plan's edit; `indexes` are those of its sources, in their order.
    package init(_ plan: Plan, _ indexes: [SourceIndex]) {
        guard let soundtrack = plan.soundtrack else {
            self.init(plan.clips, tracks: indexes.map(\.video))
            return
        }
        let end = plan.clips.last.map { $0.map.offset + $0.map.duration } ?? Rational(0)
        self.init(soundtrack, startTime: indexes[soundtrack.source].startTime, end: end)
    }

    /// A soundtrack that fades into silence at the `end` of the output. `startTime` is the start of its file's clock.
    /// Both are in seconds.
    package init(_ soundtrack: Soundtrack, startTime: Rational, end: Rational) {
        let fade = min(Soundtrack.fade, end)
        // Half of a crossfade lies on either side of the cut.
        let cut = end - fade / Rational(2)
        pieces = [
            Piece(
                source: soundtrack.source, start: Rational(0), end: cut, direction: .forwards, speed: Rational(1),
                origin: startTime + soundtrack.from, crossfade: Rational(0)),
            Piece(
                source: nil, start: cut, end: end, direction: .forwards, speed: Rational(1), origin: Rational(0),
                crossfade: fade),
        ]
    }

    /// The sound of clips that follow one another; `tracks` is the video of their sources.
    package init(_ clips: [Clip], tracks: [VideoTrack]) {
        var pieces: [Piece] = []
        for (number, clip) in clips.enumerated() {
            let next = number + 1 < clips.count ? clips[number + 1].joint : nil
            let turns = (before: clip.joint == .turn(.once), after: next == .turn(.once))
            for piece in SoundEdit.pieces(of: clip, in: tracks[clip.source], turns) {
                if let last = pieces.last, piece.continues(last) {
                    pieces[pieces.count - 1].end = piece.end
                } else {
                    pieces.append(piece)
                }
            }
        }
        self.pieces = pieces
    }

    /// The pieces of a clip. A turning frame is always one of a forward clip's, at its start or its end.
    private static func pieces(of clip: Clip, in track: VideoTrack, _ turns: (before: Bool, after: Bool)) -> [Piece] {
        let (clock, speed) = (clip.map.source, clip.map.speed)
        let (low, high) = (clock.seconds(clip.map.start), clock.seconds(clip.map.end))
        let (start, end) = (clip.map.offset, clip.map.offset + clip.map.duration)
        let crossfade = if case .join(let length) = clip.joint { length } else { Rational(0) }
        func piece(_ from: Rational, _ to: Rational, _ direction: Direction, _ moment: Rational) -> Piece {
            let origin = direction == .forwards ? moment - from * speed : moment + from * speed
            return Piece(
                source: clip.source, start: from, end: to, direction: direction, speed: speed, origin: origin,
                crossfade: from == start ? crossfade : Rational(0))
        }
        guard clip.isHeard else {
            return [
                Piece(
                    source: nil, start: start, end: end, direction: .forwards, speed: Rational(1), origin: Rational(0),
                    crossfade: crossfade)
            ]
        }
        guard clip.direction == .forwards else { return [piece(start, end, .backwards, high)] }
        let half = { (frame: Int) in clock.seconds(track.frames[frame].interval.duration) / Rational(2) }
        let first = turns.before ? half(clip.frames.lowerBound) : Rational(0)
        let last = turns.after ? half(clip.frames.upperBound - 1) : Rational(0)
        let (turned, turns) = (start + first / speed, end - last / speed)
        let pieces = [
            piece(start, turned, .backwards, low + first + first), piece(turned, turns, .forwards, low + first),
            piece(turns, end, .backwards, high - last),
        ]
        return pieces.filter { $0.start < $0.end }
    }

    package var sources: [Int] {
        pieces.compactMap(\.source).reduce(into: []) { known, source in
            if !known.contains(source) { known.append(source) }
        }
    }

    /// A part of the output in samples, in which nothing changes: a run of one sound, or a crossfade of two.
    package struct Part: Hashable, Sendable {
        /// The samples of the output, per channel.
        package var samples: Range<Int64>
        /// The piece that is heard, by its place in `pieces`. In a crossfade, its sound goes on beyond its end.
        package var piece: Int
        package var crossfade: Crossfade?
    }

    /// How the next piece fades in while the piece before fades out. Both shares add up to 1.
    package struct Crossfade: Hashable, Sendable {
        /// The share of the next piece in the part's first sample, from 0 to 1.
        package var share: Double
        /// The growth of that share with each sample.
        package var growth: Double
    }

    /// The parts of the output at a sample rate, one after the other. Each bound is rounded once.
    package func parts(rate: Int) -> [Part] {
        let clock = TimeBase(1, Int64(rate))
        let rate = Rational(Int64(rate))
        let sample = { (moment: Rational) in clock.ticks(in: moment, rounding: .nearest) }
        var parts: [Part] = []
        var done: Int64 = 0
        for (number, piece) in pieces.enumerated() {
            if number > 0, piece.crossfade > Rational(0) {
                let begin = piece.start - piece.crossfade / Rational(2)
                let (first, end) = (max(sample(begin), done), sample(begin + piece.crossfade))
                if first < end {
                    let length = (piece.crossfade * rate).approximate
                    // The middle of a sample decides.
                    let share = (Double(first) + 0.5 - (begin * rate).approximate) / length
                    parts.append(
                        Part(
                            samples: first..<end, piece: number - 1,
                            crossfade: Crossfade(share: share, growth: 1 / length)))
                    done = end
                }
            }
            let after = number + 1 < pieces.count ? pieces[number + 1].crossfade : Rational(0)
            let end = sample(piece.end - after / Rational(2))
            guard done < end else { continue }
            parts.append(Part(samples: done..<end, piece: number))
            done = end
        }
        return parts
    }
}
