/// The decoded samples of an audio track in time: pieces of continuous sound, and the holes between them. Samples are
/// counted per channel.
package struct AudioTimeline: Hashable, Sendable {
    package let sampleRate: Int
    /// When the first sample is heard, in seconds on the source's clock.
    package private(set) var start: Rational
    /// Samples per channel, those of holes included.
    package private(set) var count: Int64
    /// The pieces of sound in order of time. Between two pieces there is silence, and nowhere else.
    private var pieces: [Piece]

    private struct Piece: Hashable, Sendable {
        /// The piece's first sample, counted in decoded samples.
        var sample: Int64
        /// The piece's first sample, counted on the timeline, holes included.
        var place: Int64
        var count: Int64
        /// Whether the silence before the piece stands for packets that did not decode.
        var followsLoss: Bool
    }

    package struct Block: Hashable, Sendable {
        /// When the block is heard by its timestamp, in seconds on the source's clock.
        package var time: Rational
        package var count: Int
        /// Whether a packet right before the block did not decode.
        package var followsLoss: Bool

        package init(time: Rational, count: Int, followsLoss: Bool = false) {
            self.time = time
            self.count = count
            self.followsLoss = followsLoss
        }
    }

    /// The shortest hole, in seconds: timestamps run ahead of the samples by at least this much and stay ahead. Less is
    /// jitter.
    package static let shortestHole = Rational(15, 1000)
    /// The shortest hole, in seconds, at places where packets are known to be lost. It exceeds 1 ms, since Matroska
    /// rounds timestamps to that.
    package static let shortestLoss = Rational(2, 1000)

    /// The number of holes that were longer than `longestHole`. Sound continues there without a hole.
    package private(set) var closedHoles = 0

    /// Places decoded blocks, which are in decode order. Nil if there are none. `longestHole`, in seconds, bounds the
    /// effect of damaged timestamps on the length of a track.
    package init?(blocks: [Block], sampleRate: Int, longestHole: Rational = Rational(86_400)) {
        guard let first = blocks.first else { return nil }
        self.sampleRate = sampleRate
        start = first.time
        let clock = TimeBase(1, Int64(sampleRate))
        var decoded: Int64 = 0
        // For each block, the number of samples by which its timestamp is ahead of the samples before it.
        let ahead = blocks.map { block in
            defer { decoded += Int64(block.count) }
            let ticks = clock.ticks(in: block.time - first.time, rounding: .nearest)
            return min(max(ticks, -Timestamp.bound), Timestamp.bound) - decoded
        }
        let leastFromHere = ahead.leastFromEach
        let threshold = clock.ticks(in: Self.shortestHole, rounding: .up)
        let lossThreshold = clock.ticks(in: Self.shortestLoss, rounding: .up)
        let longest = clock.ticks(in: longestHole, rounding: .down)
        pieces = [Piece(sample: 0, place: 0, count: 0, followsLoss: false)]
        var (sample, silence, most) = (Int64(0), Int64(0), ahead[0])
        for (number, block) in blocks.enumerated() {
            let step = leastFromHere[number] - most
            if number > 0, step >= (block.followsLoss ? lossThreshold : threshold) {
                let hole = ahead[number] - ahead[number - 1]
                if hole <= longest {
                    silence += hole
                    let place = sample + silence
                    pieces.append(Piece(sample: sample, place: place, count: 0, followsLoss: block.followsLoss))
                } else {
                    closedHoles += 1
                }
            }
            most = max(most, ahead[number])
            sample += Int64(block.count)
            pieces[pieces.count - 1].count += Int64(block.count)
        }
        count = sample + silence
    }

    /// The timeline of a steady track after a decoder has given some runs of its samples, one after the other. It is
    /// silent outside these runs.
    ///
    /// - Parameter runs: places among the samples that are heard, in order and without overlap.
    package init(_ sound: SteadySound, of track: AudioTrack, decoded runs: [Range<Int64>]) {
        sampleRate = track.sampleRate
        start = track.timeBase.seconds(sound.start)
        count = sound.count
        var sample: Int64 = 0
        pieces = runs.map { run in
            defer { sample += Int64(run.count) }
            return Piece(sample: sample, place: run.lowerBound, count: Int64(run.count), followsLoss: true)
        }
    }

    /// When the last sample ends, in seconds on the source's clock.
    package var end: Rational { moment(count) }

    private func moment(_ place: Int64) -> Rational { start + Rational(place, Int64(sampleRate)) }

    /// The holes that stand for no lost packets, in seconds on the source's clock.
    package var holes: [(start: Rational, end: Rational)] {
        zip(pieces, pieces.dropFirst()).filter { !$1.followsLoss }.map { before, after in
            (moment(before.place + before.count), moment(after.place))
        }
    }

    /// The part that is heard from `from` up to `to`, in seconds on the source's clock, cut to the nearest sample. Nil
    /// if no sound is left.
    package func clipped(from: Rational?, to: Rational?) -> AudioTimeline? {
        let clock = TimeBase(1, Int64(sampleRate))
        let place = { (seconds: Rational) in clock.ticks(in: seconds - start, rounding: .nearest) }
        let low = max(from.map(place) ?? 0, 0)
        let high = min(to.map(place) ?? count, count)
        guard low < high else { return nil }
        let clip = narrowed(to: low..<high)
        return clip.pieces.isEmpty ? nil : clip
    }

    /// The part with these places, which counts from its own first place on.
    package func narrowed(to places: Range<Int64>) -> AudioTimeline {
        var clip = self
        clip.pieces = pieces.compactMap { piece in
            let (first, end) = (max(piece.place, places.lowerBound), min(piece.place + piece.count, places.upperBound))
            guard first < end else { return nil }
            var part = piece
            part.sample = piece.sample + first - piece.place
            (part.place, part.count) = (first - places.lowerBound, end - first)
            return part
        }
        (clip.start, clip.count) = (moment(places.lowerBound), Int64(places.count))
        return clip
    }

    /// The spans of sound and silence in a range of places on the timeline, in the order in which they are heard in a
    /// direction. Samples within a span stay in the source's order. Beyond the timeline there is silence.
    package func spans(in places: Range<Int64>, _ direction: Direction) -> [Span] {
        var spans: [Span] = []
        var place = places.lowerBound
        // The pieces before the first that reaches into the range have nothing to do with it.
        for piece in pieces[pieces.partitioningIndex { $0.place + $0.count > place }...] {
            guard piece.place < places.upperBound else { break }
            if piece.place > place {
                spans.append(.silence(piece.place - place))
                place = piece.place
            }
            let end = min(piece.place + piece.count, places.upperBound)
            spans.append(.sound(sample: piece.sample + place - piece.place, count: end - place))
            place = end
        }
        if places.upperBound > place { spans.append(.silence(places.upperBound - place)) }
        return direction.order(spans)
    }

    /// A run of decoded samples, beginning with `sample`, or of silence. Counts are samples per channel.
    package enum Span: Hashable, Sendable {
        case sound(sample: Int64, count: Int64)
        case silence(Int64)

        /// Samples per channel.
        package var count: Int64 {
            switch self {
            case .sound(_, let count), .silence(let count): count
            }
        }
    }
}
