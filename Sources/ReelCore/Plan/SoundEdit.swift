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
        /// When the piece begins and ends in the output, in seconds.
        package var start = Rational(0)
        package var end: Rational
        package var direction = Direction.forwards
        /// Seconds of the source in a second of the output; positive.
        package var speed = Rational(1)
        /// The moment of the source, in seconds on its clock, that would be heard at the output's start if the piece
        /// began there.
        package var origin = Rational(0)
        /// The length of the crossfade with the piece before, around `start`, in seconds; 0 for none.
        package var crossfade = Rational(0)

        /// The part of the source that is heard during samples of the output, as places on the source's timeline in the
        /// source's order. Beyond the timeline there is silence.
        package func places(_ samples: Range<Int64>, on timeline: AudioTimeline) -> Range<Int64> {
            let clock = TimeBase(1, Int64(timeline.sampleRate))
            let place = { (moment: Rational) in clock.ticks(in: moment - timeline.start, rounding: .nearest) }
            guard speed != Rational(1) else {
                let origin = place(origin)
                return direction == .forwards
                    ? origin + samples.lowerBound..<origin + samples.upperBound
                    : origin - samples.upperBound..<origin - samples.lowerBound
            }
            let count = clock.ticks(in: clock.seconds(Ticks(Int64(samples.count))) * speed, rounding: .nearest)
            let played = clock.seconds(Timestamp(samples.lowerBound)) * speed
            let first = place(direction == .forwards ? origin + played : origin - played)
            return direction == .forwards ? first..<first + count : first - count..<first
        }

        /// Whether this piece continues another without a change.
        fileprivate func continues(_ other: Piece) -> Bool {
            guard crossfade == Rational(0), source == other.source else { return false }
            return source == nil || direction == other.direction && origin == other.origin && speed == other.speed
        }
    }

    /// The sound of a plan's edit; `indexes` are those of its sources, in their order.
    package init(_ plan: Plan, _ indexes: [SourceIndex]) {
        guard let soundtrack = plan.soundtrack else {
            pieces = SoundEdit(plan.clips, tracks: indexes.map(\.video)).pieces
            return
        }
        // The soundtrack fades into silence at the end of the output.
        let end = plan.clips.last.map { $0.map.offset + $0.map.duration } ?? Rational(0)
        let fade = min(Soundtrack.fade, end)
        // Half of a crossfade lies on either side of the cut.
        let cut = end - fade / Rational(2)
        let origin = indexes[soundtrack.source].startTime + soundtrack.from
        pieces = [
            Piece(source: soundtrack.source, end: cut, origin: origin), Piece(start: cut, end: end, crossfade: fade),
        ]
    }

    /// The sound of clips that follow one another; `tracks` is the video of their sources.
    package init(_ clips: [Clip], tracks: [VideoTrack]) {
        var pieces: [Piece] = []
        for (number, clip) in clips.enumerated() {
            let next = number + 1 < clips.count ? clips[number + 1].joint : nil
            let turns = (before: clip.joint == .turn(shown: .once), after: next == .turn(shown: .once))
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
        guard clip.isHeard else { return [Piece(start: start, end: end, crossfade: crossfade)] }
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

    /// One piece at its own speed: a range of places on a source's timeline, from its first or its last sample on.
    fileprivate init(_ places: Range<Int64>, on timeline: AudioTimeline, of source: Int, _ direction: Direction) {
        let rate = Int64(timeline.sampleRate)
        let first = direction == .forwards ? places.lowerBound : places.upperBound
        pieces = [
            Piece(
                source: source, end: Rational(Int64(places.count), rate), direction: direction,
                origin: timeline.start + Rational(first, rate))
        ]
    }

    /// A part of the output in samples, in which nothing changes: a run of one sound, or a crossfade of two.
    package struct Part: Hashable, Sendable {
        /// The samples of the output, per channel.
        package var samples: Range<Int64>
        /// The piece that is heard, by its place in `pieces`. In a crossfade, its sound goes on beyond its end.
        package var piece: Int
        /// The crossfade to the piece after it; nil for a run.
        package var crossfade: Crossfade?

        /// The places in `pieces` of all that are heard: one, or two in a crossfade.
        package var pieces: Range<Int> { piece..<piece + (crossfade == nil ? 1 : 2) }
    }

    /// How the next piece fades in while the piece before fades out. Both shares add up to 1.
    package struct Crossfade: Hashable, Sendable {
        /// The share of the next piece in the part's first sample, from 0 to 1.
        package var share: Double
        /// The growth of that share with each sample.
        package var growth: Double
    }

    /// The parts of a run of samples of the output, one after the other. What they contain does not depend on the run.
    package func parts(rate: Int, in samples: Range<Int64>) -> [Part] {
        parts(rate: rate).compactMap { part in
            guard part.samples.overlaps(samples) else { return nil }
            var cut = part
            cut.samples = part.samples.clamped(to: samples)
            let left = Double(cut.samples.lowerBound - part.samples.lowerBound)
            cut.crossfade = part.crossfade.map { Crossfade(share: $0.share + left * $0.growth, growth: $0.growth) }
            return cut
        }
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
                    let crossfade = Crossfade(share: share, growth: 1 / length)
                    parts.append(Part(samples: first..<end, piece: number - 1, crossfade: crossfade))
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

/// The sound of an audio track of a plan. A reversal is an edit of one piece. It is as long as the sound that its
/// source really has, which is known only after decoding.
package struct TrackSound {
    private let target: AudioTarget
    private let clip: Clip
    /// The sound of an edit; nil for a reversal.
    private let edit: SoundEdit?
    /// For how long the sound has to last, in seconds; nil if it may begin and end when it does.
    private let length: Rational?
    /// Whether the output has no video beside which sound begins and ends.
    private let isAlone: Bool
    /// Whether the source has none.
    private let isOfSound: Bool
    /// When the first frame that is shown begins in the source, and when the last one ends; in seconds.
    private let shown: (start: Rational, end: Rational)
    /// The duration of the last frame of the source that is shown, in seconds.
    private let lastFrame: Rational

    /// - Parameter indexes: those of the plan's sources, in their order.
    package init(_ target: AudioTarget, of plan: Plan, _ indexes: [SourceIndex]) {
        self.target = target
        clip = plan.clips[0]
        edit = plan.isEdit ? SoundEdit(plan, indexes) : nil
        length = plan.soundLength
        (isAlone, isOfSound) = (plan.video.isNone, indexes[clip.source].video.isNone)
        let clock = clip.map.source
        shown = (clock.seconds(clip.map.start), clock.seconds(clip.map.end))
        let frames = indexes[clip.source].video.frames[clip.frames]
        lastFrame = clock.seconds(frames.last?.interval.duration ?? .zero)
    }

    /// Of a reversal, the range of the source that is shown, in seconds on its clock; nil for an edit.
    package var reversed: (start: Rational, end: Rational)? { edit == nil ? shown : nil }

    /// What is heard of a track.
    package struct Heard {
        /// The part of the track's timeline that may be heard.
        package let timeline: AudioTimeline
        package let edit: SoundEdit
        /// When the sound begins in the output, in samples of the output.
        package let start: Int64
        /// The length of what is cut off at the video's ends, in seconds; nil if that is nothing, or only padding of
        /// the source's encoder.
        package let trimmed: Rational?
    }

    /// What is heard of the track that the target names, by its timeline; nil if nothing is.
    package func heard(of track: AudioTimeline) -> Heard? {
        if let edit { return Heard(timeline: track, edit: edit, start: 0, trimmed: nil) }
        if isAlone {
            // Of a source of sound, all samples up to its end.
            let range = isOfSound ? (clip.audioFrom, clip.audioTo ?? shown.end) : (shown.start, shown.end)
            return track.clipped(from: range.0, to: range.1).map { own in
                Heard(
                    timeline: own, edit: SoundEdit(0..<own.count, on: own, of: target.source, target.direction),
                    start: 0,
                    trimmed: nil)
            }
        }
        // Sound that keeps its direction with reversed pictures lasts as long as they do.
        let range = target.direction == clip.direction ? (clip.audioFrom, clip.audioTo) : (shown.start, shown.end)
        guard let own = track.clipped(from: range.0, to: range.1),
            let (timeline, beyond) = length == nil ? trimmed(own) : cut(own)
        else { return nil }
        let isPadding = !target.lossless && beyond <= Rational(Self.longestPadding, Int64(own.sampleRate))
        let places = length == nil ? 0..<timeline.count : placesShown(on: timeline)
        return Heard(
            timeline: timeline, edit: SoundEdit(places, on: timeline, of: target.source, target.direction),
            start: length == nil ? start(of: timeline) : 0,
            trimmed: beyond > Rational(0) && !isPadding ? beyond : nil)
    }

    /// Encoders fill up their last packet with silence: of AAC it has 1024 samples, of MP3 1152.
    private static let longestPadding: Int64 = 1152

    /// Cuts off all sound beyond the video, because a container without timestamps cannot keep it.
    private func cut(_ own: AudioTimeline) -> (timeline: AudioTimeline, beyond: Rational)? {
        own.clipped(from: shown.start, to: shown.end).map { cut in
            (cut, Rational(own.count - cut.count, Int64(own.sampleRate)))
        }
    }

    /// Cuts off sound that outlasts reversed video by less than a frame, unless the track must be lossless. Otherwise
    /// all of the output would have to start later.
    private func trimmed(_ own: AudioTimeline) -> (timeline: AudioTimeline, beyond: Rational)? {
        let overhang = own.end - shown.end
        let frame = max(lastFrame, Rational(1024, Int64(own.sampleRate)))
        guard target.direction == .backwards, !target.lossless, overhang > Rational(0), overhang < frame,
            let cut = own.clipped(from: nil, to: shown.end)
        else { return (own, Rational(0)) }
        return (cut, overhang)
    }

    /// The places on a timeline that are heard while the video is shown.
    private func placesShown(on timeline: AudioTimeline) -> Range<Int64> {
        let clock = TimeBase(1, Int64(timeline.sampleRate))
        let first = clock.ticks(in: shown.start - timeline.start, rounding: .nearest)
        return first..<first + max(clock.ticks(in: shown.end - shown.start, rounding: .nearest), 0)
    }

    private func start(of timeline: AudioTimeline) -> Int64 {
        var map = clip.map
        map.direction = target.direction
        let start = min(map.place(timeline.start), map.place(timeline.end))
        return TimeBase(1, Int64(target.sampleRate)).ticks(in: start, rounding: .nearest)
    }
}
