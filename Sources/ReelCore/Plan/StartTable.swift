/// The useful RAPs of a track, and the cost of starting a pass at a frame.
package struct StartTable {
    /// The frames from which the useful RAPs decode correctly, ascending.
    let frames: [Int]
    /// The indexes of these RAPs in `VideoTrack.randomAccessPoints`.
    private let points: [Int]
    private let track: VideoTrack

    /// Throws `.noFrames` if the track has no frames, and `.noStart` if its first frame cannot be decoded.
    package init(_ track: VideoTrack) throws(ReelFailure) {
        guard track.frames.count > 0 else { throw ReelFailure(.noFrames(path: nil)) }
        guard track.randomAccessPoints.first?.frame == 0 else {
            throw ReelFailure(.noStart)
        }
        // A RAP is useful only if it decodes an earlier frame than every later RAP: decoding starts as late as
        // possible.
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

    /// The index in `VideoTrack.randomAccessPoints` of the latest RAP from which `frame` decodes correctly.
    package func point(for frame: Int) -> Int { points[frames.partitioningIndex { $0 > frame } - 1] }

    /// The decode windows of a range of frames, from its end to its start. Each but the last begins at a RAP and has at
    /// least `least` frames, in as few groups of pictures as possible.
    package func windows(of range: Range<Int>, least: Int) -> [Range<Int>] {
        var (windows, end): ([Range<Int>], Int) = ([], range.upperBound)
        for frame in frames[..<frames.partitioningIndex { $0 > range.upperBound - least }].reversed() {
            guard frame > range.lowerBound else { break }
            guard end - frame >= least else { continue }
            windows.append(frame..<end)
            end = frame
        }
        return windows + [range.lowerBound..<end]
    }

    /// The number of frames that are decoded and discarded if a pass starts at `frame`; an estimate from packet counts.
    func lead(of frame: Int) -> Int {
        let skipped = track.frames[frame].packet - track.randomAccessPoints[point(for: frame)].packet
        return max(Int(skipped), 0) * track.frames.count / track.packets.count
    }

    /// The RAP's frame nearest to `frame`, the earlier of two; nil if there is none in `range`.
    func nearest(to frame: Int, in range: ClosedRange<Int>) -> Int? {
        let after = frames.partitioningIndex { $0 >= frame }
        return [after - 1, after].compactMap { frames.indices.contains($0) ? frames[$0] : nil }
            .filter(range.contains).min { abs($0 - frame) < abs($1 - frame) }
    }

    /// The frame of the last RAP in `range`; nil if there is none.
    func last(in range: ClosedRange<Int>) -> Int? {
        let end = frames.partitioningIndex { $0 > range.upperBound }
        return end > 0 && frames[end - 1] >= range.lowerBound ? frames[end - 1] : nil
    }

    /// The frame of the first RAP in `range`; nil if there is none.
    func first(in range: ClosedRange<Int>) -> Int? {
        let start = frames.partitioningIndex { $0 >= range.lowerBound }
        return start < frames.count && frames[start] <= range.upperBound ? frames[start] : nil
    }
}
