/// Where passes can begin: the RAPs that are of use, and what starting at a frame costs.
public struct StartTable {
    /// The frames from which the RAPs of use decode correctly, ascending.
    let frames: [Int]
    /// The places of those RAPs in `VideoTrack.randomAccessPoints`.
    private let points: [Int]
    private let track: VideoTrack

    /// Fails with kind `.input` where the first frame cannot be decoded.
    public init(_ track: VideoTrack) throws(ReelFailure) {
        guard track.frames.count > 0 else { throw ReelFailure(.noFrames(path: nil)) }
        guard track.randomAccessPoints.first?.frame == 0 else {
            throw ReelFailure(.noStart)
        }
        // Seen from the end, a RAP is of use only if it reaches further back than every later one: decoding starts as
        // late as it can.
        var (points, frames): ([Int], [Int]) = ([], [])
        for (place, point) in track.randomAccessPoints.enumerated().reversed()
        where frames.last.map({ Int(point.frame) < $0 }) ?? true {
            points.append(place)
            frames.append(Int(point.frame))
        }
        self.points = points.reversed()
        self.frames = frames.reversed()
        self.track = track
    }

    /// The place in `VideoTrack.randomAccessPoints` of the latest RAP from which `frame` decodes correctly.
    public func point(for frame: Int) -> Int { points[frames.partition { $0 <= frame } - 1] }

    /// The windows of a range of frames, from its end to its start: each but the last begins at a RAP and has `least`
    /// frames at the least, and no more groups of pictures than that takes.
    public func windows(of range: Range<Int>, least: Int) -> [Range<Int>] {
        var (windows, end): ([Range<Int>], Int) = ([], range.upperBound)
        for frame in frames[..<frames.partition { $0 <= range.upperBound - least }].reversed() {
            guard frame > range.lowerBound else { break }
            guard end - frame >= least else { continue }
            windows.append(frame..<end)
            end = frame
        }
        return windows + [range.lowerBound..<end]
    }

    /// How many frames are decoded and discarded when a pass starts at `frame`.
    func lead(of frame: Int) -> Int {
        let skipped = track.frames[frame].packet - track.randomAccessPoints[point(for: frame)].packet
        return max(Int(skipped), 0) * track.frames.count / track.packets.count
    }

    /// The frame at which a RAP lies that is nearest to `frame`, the earlier of two; nil where there is none in `range`.
    func nearest(to frame: Int, in range: ClosedRange<Int>) -> Int? {
        let after = frames.partition { $0 < frame }
        return [after - 1, after].compactMap { frames.indices.contains($0) ? frames[$0] : nil }
            .filter(range.contains).min { abs($0 - frame) < abs($1 - frame) }
    }

    /// The last RAP's frame in `range`.
    func last(in range: ClosedRange<Int>) -> Int? {
        let end = frames.partition { $0 <= range.upperBound }
        return end > 0 && frames[end - 1] >= range.lowerBound ? frames[end - 1] : nil
    }

    /// The first RAP's frame in `range`.
    func first(in range: ClosedRange<Int>) -> Int? {
        let start = frames.partition { $0 < range.lowerBound }
        return start < frames.count && frames[start] <= range.upperBound ? frames[start] : nil
    }
}

extension RandomAccessCollection where Index == Int {
    /// How many leading elements satisfy `isBefore`, which holds for no element after one for which it does not.
    func partition(where isBefore: (Element) -> Bool) -> Int {
        var (low, high) = (startIndex, endIndex)
        while low < high {
            let middle = low + (high - low) / 2
            if isBefore(self[middle]) { low = middle + 1 } else { high = middle }
        }
        return low - startIndex
    }
}
