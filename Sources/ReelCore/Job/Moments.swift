/// Some frames of a source: how many, which they are, and when they are shown. Of many only the first places are kept.
public struct Moments: Hashable, Codable, Sendable {
    /// Consecutive frames in presentation order.
    public struct Place: Hashable, Codable, Sendable {
        public var frames: Range<Int>
        /// When the first and the last of them begin, in seconds from the file's start.
        public var first: Rational
        public var last: Rational

        public init(frames: Range<Int>, first: Rational, last: Rational) {
            self.frames = frames
            self.first = first
            self.last = last
        }

        enum CodingKeys: String, CodingKey {
            case frames, first, last
        }
    }

    /// Frames in all.
    public var count: Int
    /// The first of them.
    public var places: [Place]
    /// How many more places there are.
    public var more: Int

    public init(count: Int, places: [Place], more: Int = 0) {
        self.count = count
        self.places = places
        self.more = more
    }

    /// The moments of some of a track's slots, in any order; `startTime` is where the file's clock starts, in seconds.
    public init(of slots: [Int], in track: VideoTrack, startTime: Rational) {
        var ranges: [Range<Int>] = []
        for slot in slots.sorted() {
            if let last = ranges.last, last.upperBound >= slot {
                ranges[ranges.count - 1] = last.lowerBound..<max(slot + 1, last.upperBound)
            } else {
                ranges.append(slot..<slot + 1)
            }
        }
        func moment(_ slot: Int) -> Rational {
            track.stream.timeBase.seconds(track.frames[slot].interval.start) - startTime
        }
        let places = ranges.prefix(Self.mostPlaces).map { range in
            Place(frames: range, first: moment(range.lowerBound), last: moment(range.upperBound - 1))
        }
        self.init(count: slots.count, places: places, more: ranges.count - places.count)
    }

    private static let mostPlaces = 8

    enum CodingKeys: String, CodingKey {
        case count, places, more
    }
}
