/// Decides in which direction a pass is decoded. Forwards, a whole chunk is held before its last frame can be encoded.
/// If RAPs are near, the pass is decoded from its end instead, one decode window at a time, and only that window is
/// held.
struct PassDecoding {
    /// The chunks of a pass whose length memory does not limit.
    let work: PassWork
    /// The most frames that fit in memory; 0 if the source must be decoded forwards.
    let room: Int

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
        guard room > 0 else { return nil }
        let chunks = work.chunks(in: frames.count)
        let longestChunk = (frames.count + chunks - 1) / chunks
        func suffices(_ least: Int) -> Bool {
            let windows = work.starts.windows(of: frames, least: least)
            let held = windows.map(\.count).max() ?? 0
            let leads = windows.dropLast().reduce(0) { $0 + work.starts.lead(of: $1.lowerBound) }
            return held <= room && held < longestChunk
                && Double(leads) <= PassDecoding.greatestLead * Double(frames.count)
        }
        let usual = min(PassDecoding.usualWindow, room)
        if suffices(usual) { return usual }
        // Windows of single groups of pictures only if whole chunks do not fit.
        return longestChunk > room && suffices(1) ? 1 : nil
    }
}

extension StartTable {
    /// The most frames that a pass holds in memory at a time.
    func framesHeld(by pass: VideoPass) -> Int {
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
