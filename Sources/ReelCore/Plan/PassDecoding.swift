/// Decides in which direction a pass is decoded. Forwards, a whole chunk is held before its last frame can be encoded. Where
/// RAPs are near, the pass is decoded from its end instead, a window at a time, and no more than that is held.
struct PassDecoding {
    /// Chunks as they are where memory does not limit them.
    let work: PassWork
    /// The most frames that fit in memory; 0 where the source must be decoded forwards.
    let room: Int

    /// Each window costs a seek, and with open groups of pictures some frames twice: with so many frames in it that is
    /// less than 3 % of decoding. No plan needs memory for fewer.
    static let usualWindow = PassWork.leastChunk
    /// Frames decoded and discarded, at the most, as a share of a pass: a RAP may lie before its first correct frame.
    private static let greatestLead = 0.03

    /// `VideoPass.windowFrames` of a pass; nil where it holds no fewer frames so, or decodes too many again.
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
        // Single groups of pictures only where whole chunks do not fit.
        return longestChunk > room && suffices(1) ? 1 : nil
    }
}

extension StartTable {
    /// The most frames that a pass has in memory at a time.
    func framesHeld(by pass: VideoPass) -> Int {
        let parts = pass.windowFrames.map { windows(of: pass.frames, least: $0) } ?? pass.chunks
        return parts.map(\.count).max() ?? 0
    }
}

extension SourceIndex {
    /// Whether any RAP is found without reading up to it: by a sample table, by cues, by its place in the file.
    var seeksFreely: Bool {
        ["mov,", "matroska,", "mpegts"].contains { format.hasPrefix($0) }
    }
}
