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
        guard track.randomAccessPoints.first?.frame == 0 else { throw ReelFailure(.noStart) }
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

    /// The RAP's frame nearest to `frame`, the earlier of two; nil if `range` has no RAP.
    func nearest(to frame: Int, in range: ClosedRange<Int>) -> Int? {
        let after = frames.partitioningIndex { $0 >= frame }
        return [after - 1, after].compactMap { frames.indices.contains($0) ? frames[$0] : nil }
            .filter(range.contains).min { abs($0 - frame) < abs($1 - frame) }
    }

    /// The frames of the RAPs in `range`, ascending.
    func frames(in range: ClosedRange<Int>) -> ArraySlice<Int> {
        frames[frames.partitioningIndex { $0 >= range.lowerBound }..<frames.partitioningIndex { $0 > range.upperBound }]
    }

    /// The most frames that a pass of a clip in this direction holds in memory at a time.
    func framesHeld(by pass: VideoPass, _ direction: Direction) -> Int {
        guard direction == .backwards else { return min(PassDecoding.heldForwards, pass.frames.count) }
        let parts = pass.windowFrames.map { windows(of: pass.frames, least: $0) } ?? pass.chunks
        return parts.map(\.count).max() ?? 0
    }
}

/// Decides which frames a pass holds. In a forward clip, each frame is encoded as soon as it is decoded. In a backward
/// clip, a pass that is decoded from its start holds a whole chunk before it can encode the chunk's last frame. If RAPs
/// are near, such a pass is decoded from its end instead, one decode window at a time, and only that window is held.
struct PassDecoding {
    let direction: Direction
    /// The chunks of a pass whose length memory does not limit.
    let free: PassWork
    /// The chunks of a pass that holds a whole one.
    let bound: PassWork
    /// The most frames that fit in memory; 0 if the source must be decoded from its start.
    let room: Int

    /// Frames that a pass of a forward clip holds: the one that is encoded, and the one before it, which stays on
    /// screen if a frame is missing.
    static let heldForwards = 2
    /// The usual least number of frames of a window. Each window costs a seek and, with open groups of pictures,
    /// decoding some frames twice; with this many frames, that is less than 3 % of decoding. Every plan has memory for
    /// them.
    static let usualWindow = PassWork.leastChunk
    /// The greatest share of a pass's frames that may be decoded and discarded. A RAP may lie before the first frame
    /// that it decodes correctly.
    private static let greatestLead = 0.03

    /// `VideoPass.windowFrames` for a pass of these frames; nil if windows hold no fewer frames than chunks, or decode
    /// too many frames twice.
    func windowFrames(of frames: Range<Int>) -> Int? {
        guard direction == .backwards, room > 0 else { return nil }
        let chunks = free.chunks(in: frames.count)
        let longestChunk = (frames.count + chunks - 1) / chunks
        func suffices(_ least: Int) -> Bool {
            let windows = free.starts.windows(of: frames, least: least)
            let held = windows.map(\.count).max() ?? 0
            let leads = windows.dropLast().reduce(0) { $0 + free.starts.lead(of: $1.lowerBound) }
            return held <= room && held < longestChunk
                && Double(leads) <= PassDecoding.greatestLead * Double(frames.count)
        }
        let usual = min(PassDecoding.usualWindow, room)
        if suffices(usual) { return usual }
        // Windows of single groups of pictures only if whole chunks do not fit.
        return longestChunk > room && suffices(1) ? 1 : nil
    }

    func work(windowFrames: Int?) -> PassWork { direction == .forwards || windowFrames != nil ? free : bound }
}

extension SourceIndex {
    /// Whether the demuxer finds any RAP without reading the packets before it: by a sample table, by cues, or by its
    /// byte position.
    var seeksFreely: Bool { ["mov,", "matroska,", "mpegts"].contains { format.hasPrefix($0) } }
}
