/// The sound of an edit: which moments of its sources are heard when.
///
/// Sound lies where the video has its moment. Where a clip turns round and shows the turning frame once, the sound turns in
/// the middle of that frame: it runs forwards through the frame's first half and backwards through its second.
public struct SoundEdit: Hashable, Codable, Sendable {
    /// The pieces, one after the other from the output's start to its end.
    public let pieces: [Piece]

    /// Sound that runs in one direction.
    public struct Piece: Hashable, Codable, Sendable {
        /// The index of the source.
        public var source: Int
        /// When the piece begins in the output, in seconds.
        public var start: Rational
        /// When the piece ends in the output, in seconds.
        public var end: Rational
        /// The direction in which the sound runs.
        public var direction: Direction
        /// The moment of the source that would be heard at the output's start if the piece extended that far, in seconds
        /// on the source's clock.
        public var origin: Rational
        /// The length of the crossfade with the piece before, around `start`, in seconds; 0 for none.
        public var crossfade: Rational

        package enum CodingKeys: String, CodingKey {
            case source = "source"
            case start = "start"
            case end = "end"
            case direction = "direction"
            case origin = "origin"
            case crossfade = "crossfade"
        }
    }

    /// The sound of clips that follow one another; `tracks` is the video of their sources.
    public init(_ clips: [Clip], tracks: [VideoTrack]) {
        var pieces: [Piece] = []
        for (number, clip) in clips.enumerated() {
            let next = number + 1 < clips.count ? clips[number + 1].joint : nil
            let turns = (before: clip.joint == .turn(.once), after: next == .turn(.once))
            for piece in SoundEdit.pieces(of: clip, in: tracks[clip.source], turns) {
                if let last = pieces.last, piece.crossfade == Rational(0), last.source == piece.source,
                    last.direction == piece.direction, last.origin == piece.origin
                {
                    pieces[pieces.count - 1].end = piece.end
                } else {
                    pieces.append(piece)
                }
            }
        }
        self.pieces = pieces
    }

    /// The pieces of a clip. A turning frame is always one of a forward clip's, at its start or its end.
    private static func pieces(
        of clip: Clip, in track: VideoTrack, _ turns: (before: Bool, after: Bool)
    ) -> [Piece] {
        let clock = clip.map.source
        let (low, high) = (clock.seconds(clip.map.start), clock.seconds(clip.map.end))
        let (start, end) = (clip.map.offset, clip.map.offset + high - low)
        let crossfade = if case .join(let length) = clip.joint { length } else { Rational(0) }
        func piece(_ from: Rational, _ to: Rational, _ direction: Direction, _ moment: Rational) -> Piece {
            let origin = direction == .forwards ? moment - from : moment + from
            return Piece(
                source: clip.source, start: from, end: to, direction: direction, origin: origin,
                crossfade: from == start ? crossfade : Rational(0))
        }
        guard clip.direction == .forwards else { return [piece(start, end, .backwards, high)] }
        let half = { (frame: Int) in clock.seconds(track.frames[frame].interval.duration) / Rational(2) }
        let first = turns.before ? half(clip.frames.lowerBound) : Rational(0)
        let last = turns.after ? half(clip.frames.upperBound - 1) : Rational(0)
        let pieces = [
            piece(start, start + first, .backwards, low + first + first),
            piece(start + first, end - last, .forwards, low + first),
            piece(end - last, end, .backwards, high - last),
        ]
        return pieces.filter { $0.start < $0.end }
    }

    package enum CodingKeys: String, CodingKey {
        case pieces = "pieces"
    }
}

extension SoundEdit {
    /// A part of the output in samples, in which nothing changes: a run of one sound, or a crossfade of two.
    public struct Part: Hashable, Sendable {
        /// Samples per channel of the output.
        public var count: Int64
        /// The places on the timeline of what is heard, in the source's order; beyond the timeline there is silence.
        public var heard: Range<Int64>
        /// The direction in which it is heard.
        public var direction: Direction
        /// The sound that fades in while `heard` fades out; nil outside crossfades.
        public var rising: Rising?
    }

    /// The sound that fades in during a crossfade.
    public struct Rising: Hashable, Sendable {
        /// Its places on the timeline, in the source's order.
        public var heard: Range<Int64>
        /// The direction in which it is heard.
        public var direction: Direction
        /// Its share in the part's first sample, from 0 to 1.
        public var share: Double
        /// By how much its share grows with each sample.
        public var growth: Double
    }

    /// The parts of an edit whose pieces all come from one timeline. Samples lie where the pieces have them, rounded once;
    /// a crossfade goes on, at each side of its cut, with the sound that the timeline has there.
    public func parts(of timeline: AudioTimeline) -> [Part] {
        let clock = TimeBase(1, Int64(timeline.sampleRate))
        let rate = Rational(Int64(timeline.sampleRate))
        let sample = { (moment: Rational) in clock.ticks(in: moment, rounding: .nearest) }
        func places(_ piece: Piece, _ samples: Range<Int64>) -> Range<Int64> {
            let origin = sample(piece.origin - timeline.start)
            switch piece.direction {
            case .forwards: return origin + samples.lowerBound..<origin + samples.upperBound
            case .backwards: return origin - samples.upperBound..<origin - samples.lowerBound
            }
        }
        var parts: [Part] = []
        var done: Int64 = 0
        for (number, piece) in pieces.enumerated() {
            if number > 0, piece.crossfade > Rational(0) {
                let begin = piece.start - piece.crossfade / Rational(2)
                let (first, end) = (max(sample(begin), done), sample(begin + piece.crossfade))
                if first < end {
                    let before = pieces[number - 1]
                    let length = (piece.crossfade * rate).approximate
                    // The middle of a sample decides.
                    let share = (Double(first) + 0.5 - (begin * rate).approximate) / length
                    let rising = Rising(
                        heard: places(piece, first..<end), direction: piece.direction, share: share, growth: 1 / length)
                    parts.append(
                        Part(
                            count: end - first, heard: places(before, first..<end), direction: before.direction,
                            rising: rising))
                    done = end
                }
            }
            let after = number + 1 < pieces.count ? pieces[number + 1].crossfade : Rational(0)
            let end = sample(piece.end - after / Rational(2))
            guard done < end else { continue }
            parts.append(Part(count: end - done, heard: places(piece, done..<end), direction: piece.direction))
            done = end
        }
        return parts
    }
}
