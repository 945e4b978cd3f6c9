internal import ReelCore
internal import ReelStore

/// What `plan` shows: the work that a submission would cause. Documented in docs/json.md; names only ever get added.
public struct PlanView: Codable, Hashable, Sendable {
    public var id: String
    public var source: String
    public var container: String
    public var videoEncoder: String
    public var pixelFormat: String
    public var width: Int
    public var height: Int
    public var audioEncoders: [String]
    /// Frames of video that the output shows.
    public var frames: Int
    /// Seconds of video that the output shows.
    public var seconds: Double
    /// In the order of the output: audio first, then video from the source's end to its start.
    public var passes: [PassView]
    /// Bytes that a pass may take.
    public var need: Int64
    /// Frames that the decoders will have to decode, those included that a pass discards before its first.
    public var framesToDecode: Int
    public var warnings: [String]

    public struct PassView: Codable, Hashable, Sendable {
        /// "audio" or "video".
        public var kind: String
        /// Frames of the source in presentation order, from and up to but not including; missing for audio.
        public var firstFrame: Int?
        public var endFrame: Int?
        /// Segments that it makes.
        public var runs: Int
    }

    public init(_ preparation: Preparation) {
        let plan = preparation.plan
        let track = preparation.source.video
        id = preparation.record.id.text
        source = preparation.record.source
        container = plan.container.rawValue
        videoEncoder = plan.video.encoder
        pixelFormat = plan.video.pixelFormat
        width = plan.video.width
        height = plan.video.height
        audioEncoders = plan.audio.map(\.encoder)
        frames = plan.timeline.frameCount
        let shown = track.frames[plan.timeline.frames]
        let length = shown.last.flatMap { last in shown.first.map { last.interval.end - $0.interval.start } }
        seconds = plan.timeline.timeBase.seconds(length ?? .zero).approximate
        need = plan.need
        warnings = plan.warnings
        passes = plan.passes.compactMap(PassView.init)
        framesToDecode = plan.passes.reduce(0) { sum, pass in
            guard case .video(let video) = pass else { return sum }
            let start = Int(track.randomAccessPoints[video.randomAccessPoint].frame)
            return sum + video.frames.upperBound - min(start, video.frames.lowerBound)
        }
    }
}

extension PlanView.PassView {
    init?(_ pass: Pass) {
        switch pass {
        case .assembly: return nil
        case .audio: self.init(kind: "audio", firstFrame: nil, endFrame: nil, runs: 1)
        case .video(let video):
            self.init(
                kind: "video", firstFrame: video.frames.lowerBound, endFrame: video.frames.upperBound,
                runs: video.runCount)
        }
    }
}
