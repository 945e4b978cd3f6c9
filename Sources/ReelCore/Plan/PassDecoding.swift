/// Decides in which direction a pass is decoded. Forwards, a whole run is held before its last frame can be encoded. Where
/// RAPs are near, the pass is decoded from its end instead, a stretch at a time, and no more than that is held.
struct PassDecoding {
    /// Runs as they are where memory does not limit them.
    let work: PassWork
    /// The most frames that fit in memory; 0 where the source must be decoded forwards.
    let room: Int

    /// Each stretch costs a seek, and with open groups of pictures some frames twice: with so many frames in it that is
    /// less than 3 % of decoding. No plan needs memory for fewer.
    static let usualStretch = PassWork.leastRun
    /// Frames decoded and discarded, at the most, as a share of a pass: a RAP may lie before its first correct frame.
    private static let greatestLead = 0.03

    /// `VideoPass.stretchFrames` of a pass; nil where it holds no fewer frames so, or decodes too many again.
    func stretchFrames(of frames: Range<Int>) -> Int? {
        guard room > 0 else { return nil }
        let runs = work.runs(in: frames.count)
        let longestRun = (frames.count + runs - 1) / runs
        func suffices(_ least: Int) -> Bool {
            let stretches = work.starts.stretches(of: frames, least: least)
            let held = stretches.map(\.count).max() ?? 0
            let leads = stretches.dropLast().reduce(0) { $0 + work.starts.lead(of: $1.lowerBound) }
            return held <= room && held < longestRun
                && Double(leads) <= PassDecoding.greatestLead * Double(frames.count)
        }
        let usual = min(PassDecoding.usualStretch, room)
        if suffices(usual) { return usual }
        // Single groups of pictures only where whole runs do not fit.
        return longestRun > room && suffices(1) ? 1 : nil
    }
}

extension StartTable {
    /// The most frames that a pass has in memory at a time.
    func framesHeld(by pass: VideoPass) -> Int {
        let parts = pass.stretchFrames.map { stretches(of: pass.frames, least: $0) } ?? pass.runs
        return parts.map(\.count).max() ?? 0
    }
}

extension SourceIndex {
    /// Whether any RAP is found without reading up to it: by a sample table, by cues, by its place in the file.
    var seeksFreely: Bool {
        ["mov,", "matroska,", "mpegts"].contains { format.hasPrefix($0) }
    }
}
