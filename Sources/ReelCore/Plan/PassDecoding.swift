/// Decides which frames a pass holds. In a forward clip, each frame is encoded as soon as it is decoded. In a backward
/// clip, a pass that is decoded from its start holds a whole chunk before it can encode the chunk's last frame. If RAPs
/// are near, such a pass is decoded from its end instead, one decode window at a time, and only that window is held.
struct PassDecoding {
    /// The direction of the clip.
    let direction: Direction
    /// The chunks of a pass whose length memory does not limit.
    let free: PassWork
    /// The chunks of a pass that holds a whole one.
    let bound: PassWork
    /// The most frames that fit in memory; 0 if the source must be decoded from its start.
    let room: Int

    /// Frames that a pass of a forward clip holds: the one that is encoded, and the one before it, which stays on screen
    /// if a frame is missing.
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

    /// The chunks of a pass with these decode windows, if it has any.
    func work(windowFrames: Int?) -> PassWork { direction == .forwards || windowFrames != nil ? free : bound }
}

extension StartTable {
    /// The most frames that a pass of a clip in this direction holds in memory at a time.
    func framesHeld(by pass: VideoPass, _ direction: Direction) -> Int {
        guard direction == .backwards else { return min(PassDecoding.heldForwards, pass.frames.count) }
        let parts = pass.windowFrames.map { windows(of: pass.frames, least: $0) } ?? pass.chunks
        return parts.map(\.count).max() ?? 0
    }
}

extension SourceIndex {
    /// Whether the demuxer finds any RAP without reading the packets before it: by a sample table, by cues, or by its
    /// byte position.
    var seeksFreely: Bool {
        ["mov,", "matroska,", "mpegts"].contains { format.hasPrefix($0) }
    }
}
