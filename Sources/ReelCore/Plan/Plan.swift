/// A job's work, fixed before any of it is done. Immutable: the same plan gives the same bytes anywhere.
public struct Plan: Hashable, Codable, Sendable {
    /// Grows when the meaning of a plan changes; workers refuse what they do not know.
    public static let version = 6

    public var version: Int
    public var container: Container
    public var timeline: Timeline
    public var video: VideoTarget
    public var audio: [AudioTarget]
    /// In the order of the output: audio tracks first, then video from the source's end to its start; none of video
    /// where packets are copied, which the assembly does. It is not among them; its index on the board is
    /// `passes.count`.
    public var passes: [Pass]
    /// Bytes a slot must have for the most demanding pass.
    public var need: Int64
    public var verify: VerifyMode
    public var onDamage: DamageMode
    public var warnings: [String]

    public init(
        container: Container, timeline: Timeline, video: VideoTarget, audio: [AudioTarget], passes: [Pass],
        need: Int64, verify: VerifyMode, onDamage: DamageMode, warnings: [String]
    ) {
        self.version = Plan.version
        self.container = container
        self.timeline = timeline
        self.video = video
        self.audio = audio
        self.passes = passes
        self.need = need
        self.verify = verify
        self.onDamage = onDamage
        self.warnings = warnings
    }

    /// The most threads that a pass gives its encoder.
    public var mostEncoderThreads: Int {
        passes.reduce(1) { most, pass in if case .video(let pass) = pass { max(most, pass.threads) } else { most } }
    }
}

/// The unit of work: decoded in one go, published, claimed, retried. At most 200 bytes of JSON.
public enum Pass: Hashable, Codable, Sendable {
    case video(VideoPass)
    /// The place of the track in `Plan.audio`.
    case audio(Int)
    case assembly
}

/// Decoded from a RAP, discarding up to its first frame, and encoded run by run.
public struct VideoPass: Hashable, Sendable {
    /// The place of the RAP in `VideoTrack.randomAccessPoints`.
    public var randomAccessPoint: Int
    /// Frames in presentation order.
    public var frames: Range<Int>
    /// How many runs they are split into; see `runs`.
    public var runCount: Int
    /// Where RAPs are near, frames that a stretch has at the least: the pass is decoded stretch by stretch from its end,
    /// and only a stretch is held in memory; see `StartTable.stretches`. nil: it is decoded forwards, and a run is held.
    public var stretchFrames: Int?
    /// Of the encoder: those of the job's target, but more at the job's end.
    public var threads: Int

    public init(
        randomAccessPoint: Int, frames: Range<Int>, runCount: Int, stretchFrames: Int? = nil, threads: Int = 1
    ) {
        self.randomAccessPoint = randomAccessPoint
        self.frames = frames
        self.runCount = runCount
        self.stretchFrames = stretchFrames
        self.threads = threads
    }

    /// The runs in presentation order: as even as whole frames allow, the longer ones first.
    public var runs: [Range<Int>] {
        let (length, longer) = frames.count.quotientAndRemainder(dividingBy: runCount)
        var start = frames.lowerBound
        return (0..<runCount).map { run in
            let end = start + length + (run < longer ? 1 : 0)
            defer { start = end }
            return start..<end
        }
    }
}

/// Written as [rap, first frame, end, runs, frames of a stretch or 0, threads], since a pass on the board is short.
extension VideoPass: Codable {
    public init(from decoder: any Decoder) throws {
        var list = try decoder.unkeyedContainer()
        randomAccessPoint = try list.decode(Int.self)
        let (start, end) = (try list.decode(Int.self), try list.decode(Int.self))
        runCount = try list.decode(Int.self)
        let stretch = try list.decode(Int.self)
        threads = try list.decode(Int.self)
        guard 0 <= start, start < end, 0 < runCount, runCount <= end - start, randomAccessPoint >= 0, stretch >= 0,
            JobSpec.threadCounts.contains(threads)
        else {
            throw DecodingError.dataCorruptedError(in: list, debugDescription: "not a pass")
        }
        frames = start..<end
        stretchFrames = stretch > 0 ? stretch : nil
    }

    public func encode(to encoder: any Encoder) throws {
        var list = encoder.unkeyedContainer()
        for number in [randomAccessPoint, frames.lowerBound, frames.upperBound, runCount, stretchFrames ?? 0, threads] {
            try list.encode(number)
        }
    }
}
