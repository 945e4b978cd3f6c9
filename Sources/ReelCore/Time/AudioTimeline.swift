/// Where the decoded samples of an audio track lie in time: continuous sound, and the holes in it.
public struct AudioTimeline: Hashable, Sendable {
    /// Samples per second.
    public let sampleRate: Int
    /// When the first sample is heard, in seconds on the source's clock.
    public private(set) var start: Rational
    /// Samples per channel, decoded and in holes.
    public private(set) var count: Int64
    /// The sound in order of time; between two pieces, and nowhere else, is silence.
    public private(set) var pieces: [Piece]

    /// A piece of continuous sound.
    public struct Piece: Hashable, Sendable {
        /// Its first sample among the decoded ones.
        public var sample: Int64
        /// Its first sample on the timeline, holes counted.
        public var place: Int64
        public var count: Int64
        /// The silence before it is that of packets which did not decode.
        public var followsLoss: Bool
    }

    /// A decoded block: when it is heard by its timestamp, and how many samples it has.
    public struct Block: Hashable, Sendable {
        public var time: Rational
        public var count: Int
        /// A packet before it did not decode.
        public var followsLoss: Bool

        public init(time: Rational, count: Int, followsLoss: Bool = false) {
            self.time = time
            self.count = count
            self.followsLoss = followsLoss
        }
    }

    /// A hole is where timestamps run ahead of the samples, for good, by so many seconds. Less is jitter.
    public static let shortestHole = Rational(15, 1000)
    /// Where packets are known to be lost, timestamps are believed from here on: Matroska rounds them to 1 ms.
    public static let shortestLoss = Rational(2, 1000)

    /// Holes that were longer than any that is believed: there the sound goes on without one.
    public private(set) var closedHoles = 0

    /// Nil where nothing was decoded. `longestHole`, in seconds, bounds what damaged timestamps can make of a track.
    public init?(blocks: [Block], sampleRate: Int, longestHole: Rational = Rational(86_400)) {
        guard let first = blocks.first else { return nil }
        self.sampleRate = sampleRate
        start = first.time
        // How many samples each block's timestamp is ahead of the samples before it.
        var decoded: Int64 = 0
        var ahead: [Int64] = []
        let clock = TimeBase(1, Int64(sampleRate))
        for block in blocks {
            let ticks = clock.ticks(in: block.time - first.time, rounding: .nearest)
            ahead.append(min(max(ticks, -Timestamp.bound), Timestamp.bound) - decoded)
            decoded += Int64(block.count)
        }
        var leastFromHere = ahead
        for place in leastFromHere.indices.dropLast().reversed() {
            leastFromHere[place] = min(leastFromHere[place], leastFromHere[place + 1])
        }
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
                    let followsLoss = block.followsLoss
                    pieces.append(Piece(sample: sample, place: sample + silence, count: 0, followsLoss: followsLoss))
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

    /// When the last sample has been heard, in seconds on the source's clock.
    public var end: Rational { start + Rational(count, Int64(sampleRate)) }

    /// Keeps what is heard from `from` up to `to`, in seconds on the source's clock, to the nearest sample. Nil where
    /// nothing is left.
    public func clipped(from: Rational?, to: Rational?) -> AudioTimeline? {
        let clock = TimeBase(1, Int64(sampleRate))
        let place = { (seconds: Rational) in clock.ticks(in: seconds - start, rounding: .nearest) }
        let low = max(from.map(place) ?? 0, 0)
        let high = min(to.map(place) ?? count, count)
        guard low < high else { return nil }
        var clip = self
        clip.pieces = pieces.compactMap { piece in
            let (first, end) = (max(piece.place, low), min(piece.place + piece.count, high))
            guard first < end else { return nil }
            var part = piece
            (part.sample, part.place, part.count) = (piece.sample + first - piece.place, first - low, end - first)
            return part
        }
        guard !clip.pieces.isEmpty else { return nil }
        clip.start = start + Rational(low, Int64(sampleRate))
        clip.count = high - low
        return clip
    }

    /// What is heard, one after the other, when the track is played in a direction.
    public func spans(_ direction: Direction) -> [Span] {
        var spans: [Span] = []
        var place: Int64 = 0
        for piece in pieces {
            if piece.place > place { spans.append(.silence(piece.place - place)) }
            spans.append(.sound(sample: piece.sample, count: piece.count))
            place = piece.place + piece.count
        }
        if count > place { spans.append(.silence(count - place)) }
        return direction.order(spans)
    }

    /// Samples per channel: decoded ones from `sample` on, or silence.
    public enum Span: Hashable, Sendable {
        case sound(sample: Int64, count: Int64)
        case silence(Int64)
    }
}
