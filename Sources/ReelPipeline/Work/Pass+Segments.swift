internal import ReelCore
internal import ReelStore

extension Pass {
    /// Of the whole segments of this pass, those that are of the plan's runs, in run order.
    func fitting(_ whole: [SegmentRecord]) -> [SegmentRecord] {
        switch self {
        case .assembly: return []
        case .audio: return whole.filter { $0.run == 0 }
        case .video(let video):
            let frames = video.runs.map(\.count)
            return whole.filter { frames.indices.contains($0.run) && frames[$0.run] == $0.frames }
        }
    }

    /// Frames of video in segments of this pass.
    func frames(in segments: [SegmentRecord]) -> Int {
        guard case .video = self else { return 0 }
        return segments.reduce(0) { $0 + $1.frames }
    }

    /// The result of this pass where every segment of it is whole, whoever made them; nil else.
    func result(of fitting: [SegmentRecord]) -> PassResult? {
        let due =
            switch self {
            case .assembly: 0
            case .audio: 1
            case .video(let video): video.runCount
            }
        guard due > 0, fitting.count == due else { return nil }
        return PassResult(
            segments: fitting, statistics: PassStatistics(framesEncoded: frames(in: fitting)),
            warnings: fitting.warnings)
    }
}

extension [SegmentRecord] {
    /// What is to be told of them, each thing once.
    var warnings: [String] {
        reduce(into: []) { found, segment in found += (segment.warnings ?? []).filter { !found.contains($0) } }
    }
}
