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
    /// The diagnostics of all segments, each once, as many as a pass may report.
    package var diagnostics: [Diagnostic] { [].adding(flatMap(\.diagnostics)) }
}

extension [Diagnostic] {
    /// These, and those of `others` that are not among them, as many as a pass may report: an engine that was taken over may
    /// have left any others.
    package func adding(_ others: [Diagnostic]) -> [Diagnostic] {
        others.reduce(into: self) { all, one in
            if all.count < Diagnostic.mostOfPass, !all.contains(one) { all.append(one) }
        }
    }
}
