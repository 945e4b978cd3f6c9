package import ReelCore
internal import ReelStore

extension Pass {
    /// Frames of video in segments of this pass.
    package func frames(in segments: [SegmentRecord]) -> Int {
        guard case .video = self else { return 0 }
        return segments.reduce(0) { $0 + $1.frames }
    }

    /// The result of this pass if every segment of it is whole, from whichever attempt; else nil.
    package func result(of whole: [SegmentRecord?]) -> PassResult? {
        let segments = whole.compactMap(\.self)
        guard !whole.isEmpty, segments.count == whole.count else { return nil }
        return PassResult(
            segments: segments, statistics: PassStatistics(framesEncoded: frames(in: segments)),
            diagnostics: segments.diagnostics)
    }
}

extension [SegmentRecord] {
    /// The diagnostics of all segments, each once.
    package var diagnostics: [Diagnostic] {
        reduce(into: []) { found, segment in found += segment.diagnostics.filter { !found.contains($0) } }
    }
}
