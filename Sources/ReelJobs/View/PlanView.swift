public import ReelCore
public import ReelStore

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
    /// What recon found in the source.
    public var found: SourceView
    /// The video encoder's own options, as "preset=medium crf=18.0".
    public var encoderOptions: String
    /// Bits per second of the video; missing where quality is what stays constant.
    public var bitrate: VideoRate?
    /// What becomes of each audio track.
    public var audio: [AudioView]
    /// Frames of video that the output shows.
    public var frames: Int
    /// Seconds of video that the output shows.
    public var seconds: Double
    /// In the order of the output: audio first, then video from the source's end to its start; none of video where
    /// packets are copied.
    public var passes: [PassView]
    /// Bytes that a pass may take.
    public var need: Int64
    /// Frames that the decoders will have to decode, those included that a pass discards before its first; none where
    /// packets are copied.
    public var framesToDecode: Int
    public var warnings: [String]
    /// The same as codes with their facts.
    public var diagnostics: [DiagnosticView]

    public struct PassView: Codable, Hashable, Sendable {
        /// "audio" or "video".
        public var kind: String
        /// Frames of the source in presentation order, from and up to but not including; missing for audio.
        public var firstFrame: Int?
        public var endFrame: Int?
        /// Its chunks, each of which becomes a segment.
        public var runs: Int
        /// Threads of its encoder; missing for audio.
        public var threads: Int?
    }

    public struct AudioView: Codable, Hashable, Sendable {
        /// The track's place among those of the source.
        public var track: Int
        public var handling: AudioHandling
        public var encoder: String
        public var sampleRate: Int
        public var channelLayout: String
        /// Bits per second; missing where the encoder has none.
        public var bitrate: Int64?
    }

    /// What becomes of a track on its way into the output.
    public enum AudioHandling: String, Codable, Sendable {
        /// Decoded, reversed by the sample, encoded.
        case reversed
        /// Decoded and encoded in the order it has.
        case forwards
        /// Packet by packet as the source has them.
        case copied

        init(_ target: AudioTarget) {
            self = target.isPassthrough ? .copied : target.direction == .forwards ? .forwards : .reversed
        }
    }

    /// Throws where the store has not the index that the job's plan was made of.
    public init(_ job: PlacedJob, in store: Store) throws(ReelFailure) {
        self.init(
            id: job.id.text, source: job.record.source.path, plan: job.plan, indexes: try job.indexes(in: store))
    }

    /// - Parameter indexes: those of the plan's sources, in their order.
    public init(id: String, source: String, plan: Plan, indexes: [SourceIndex]) {
        let index = indexes[plan.clips[0].source]
        self.id = id
        self.source = source
        found = SourceView(index)
        let encoding = plan.video.encoding
        encoderOptions = encoding?.options.map { "\($0.name)=\($0.value)" }.joined(separator: " ") ?? ""
        bitrate = encoding?.bitrate
        audio = plan.audio.map { target in
            AudioView(
                track: target.track, handling: AudioHandling(target), encoder: target.encoder,
                sampleRate: target.sampleRate, channelLayout: target.channelLayout, bitrate: target.bitrate)
        }
        container = plan.container.rawValue
        videoEncoder = plan.video.encoder
        pixelFormat = plan.video.format.pixelFormat
        width = plan.video.format.width
        height = plan.video.format.height
        audioEncoders = plan.audio.map(\.encoder)
        frames = plan.frameCount
        seconds = plan.video.format.timeBase.seconds(plan.end(in: indexes)).approximate
        need = plan.need
        diagnostics = plan.diagnostics.map(DiagnosticView.init)
        warnings = diagnostics.map(\.message)
        passes = plan.passes.compactMap(PassView.init)
        framesToDecode = plan.passes.reduce(0) { sum, pass in
            guard case .video(let video) = pass else { return sum }
            let track = indexes[plan.clips[video.clip].source].video
            let start = Int(track.randomAccessPoints[video.randomAccessPoint].frame)
            return sum + video.frames.upperBound - min(start, video.frames.lowerBound)
        }
    }
}

extension PlanView.PassView {
    init?(_ pass: Pass) {
        switch pass {
        case .assembly, .probe: return nil
        case .audio: self.init(kind: "audio", firstFrame: nil, endFrame: nil, runs: 1)
        case .video(let video):
            self.init(
                kind: "video", firstFrame: video.frames.lowerBound, endFrame: video.frames.upperBound,
                runs: video.chunkCount, threads: video.threads)
        }
    }
}
