package import ReelCore
internal import ReelStore

extension Pass {
    /// Frames of video in segments of this pass.
    package func frames(in segments: [SegmentRecord]) -> Int {
        guard case .video = self else { return 0 }
        return segments.reduce(0) { $0 + $1.frames }
    }

    /// The result of this pass where every segment of it is whole, whoever made them; nil else.
    package func result(of whole: [SegmentRecord?]) -> PassResult? {
        let segments = whole.compactMap(\.self)
        guard !whole.isEmpty, segments.count == whole.count else { return nil }
        return PassResult(
            segments: segments, statistics: PassStatistics(framesEncoded: frames(in: segments)),
            diagnostics: segments.diagnostics)
    }
}

extension [SegmentRecord] {
    /// What is to be told of them, each thing once.
    package var diagnostics: [Diagnostic] {
        reduce(into: []) { found, segment in found += segment.diagnostics.filter { !found.contains($0) } }
    }
}
