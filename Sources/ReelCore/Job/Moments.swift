/// Some frames of a source: how many, which, and when they are shown. If they are at many places, only the first places
/// are kept.
package struct Moments: Hashable, Codable, Sendable {
    /// Consecutive frames in presentation order.
    package struct Place: Hashable, Codable, Sendable {
        /// The frames' indexes in presentation order.
        package var frames: Range<Int>
        /// When the first of the frames begins, in seconds from the file's start.
        package var first: Rational
        /// When the last of the frames begins, in seconds from the file's start.
        package var last: Rational

        package init(frames: Range<Int>, first: Rational, last: Rational) {
            self.frames = frames
            self.first = first
            self.last = last
        }
    }

    /// The number of frames at all places.
    package var count: Int
    /// The first places.
    package var places: [Place]
    /// The number of further places.
    package var more: Int

    package init(count: Int, places: [Place], more: Int = 0) {
        self.count = count
        self.places = places
        self.more = more
    }

    /// The moments of frames of a track, given by their indexes in any order; `startTime` is the start of the file's
    /// clock, in seconds.
    package init(of frames: [Int], in track: VideoTrack, startTime: Rational) {
        var ranges: [Range<Int>] = []
        for frame in frames.sorted() {
            if let last = ranges.last, last.upperBound >= frame {
                ranges[ranges.count - 1] = last.lowerBound..<max(frame + 1, last.upperBound)
            } else {
                ranges.append(frame..<frame + 1)
            }
        }
        func moment(_ frame: Int) -> Rational {
            track.stream.timeBase.seconds(track.frames[frame].interval.start) - startTime
        }
        let places = ranges.prefix(Self.mostPlaces).map { range in
            Place(frames: range, first: moment(range.lowerBound), last: moment(range.upperBound - 1))
        }
        self.init(count: frames.count, places: places, more: ranges.count - places.count)
    }

    private static let mostPlaces = 8
}
