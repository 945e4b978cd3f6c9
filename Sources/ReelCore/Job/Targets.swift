/// How the output's video is encoded. All chunks of a job are encoded with the same target; only a rate that follows
/// the source differs.
public struct VideoTarget: Hashable, Codable, Sendable {
    /// The encoder's name as FFmpeg spells it, for example "libx264"; `copy` for passthrough.
    public var encoder: String
    /// The format of the output's video.
    public var format: OutputFormat
    /// The encoder's private options, applied in this order.
    public var options: [Tag]
    /// The rate; nil if the options set a constant quality.
    public var bitrate: VideoRate?
    /// Encoder threads; at least 1.
    public var threads: Int
    /// The maximum distance between key frames, in frames.
    public var keyFrameInterval: Int
    /// The encoder build and parameters that all chunks must share.
    public var identity: EncoderIdentity

    /// The value of `encoder` for passthrough: the source's packets in another order.
    public static let copy = "copy"

    /// Whether the source's packets are passed through.
    public var isPassthrough: Bool { encoder == VideoTarget.copy }

    public init(
        encoder: String, format: OutputFormat, options: [Tag], bitrate: VideoRate?, threads: Int,
        keyFrameInterval: Int, identity: EncoderIdentity
    ) {
        self.encoder = encoder
        self.format = format
        self.options = options
        self.bitrate = bitrate
        self.threads = threads
        self.keyFrameInterval = keyFrameInterval
        self.identity = identity
    }

    public enum CodingKeys: String, CodingKey {
        case encoder = "encoder"
        case format = "format"
        case options = "options"
        case bitrate = "bitrate"
        case threads = "threads"
        case keyFrameInterval = "keyFrameInterval"
        case identity = "identity"
    }
}

/// The encoder that made a job's parameters. With it, workers with different builds are found before the work and not
/// at assembly.
public struct EncoderIdentity: Hashable, Codable, Sendable {
    /// The encoder and its library, for example "libx264 Lavc59.37.100"; workers report theirs.
    public var build: String
    /// SHA-256, in hexadecimal, of the extradata that the encoder made when it was opened for planning; of no bytes if
    /// it makes none.
    public var extradataHash: String

    public init(build: String, extradataHash: String) {
        self.build = build
        self.extradataHash = extradataHash
    }

    public enum CodingKeys: String, CodingKey {
        case build = "build"
        case extradataHash = "extradataHash"
    }
}

/// How one audio track of the output is made.
public struct AudioTarget: Hashable, Codable, Sendable {
    /// The clip whose source has the track: its index in `Plan.clips`.
    public var clip: Int
    /// The track's index in `SourceIndex.audio`.
    public var track: Int
    /// The direction of the sound.
    public var direction: Direction
    /// The encoder's name as FFmpeg spells it, for example "aac" or "pcm_s16le"; "copy" for passthrough.
    public var encoder: String
    /// Samples per second. It differs from the source's only if the encoder does not take that.
    public var sampleRate: Int
    /// The channel layout, as libavutil describes it.
    public var channelLayout: String
    /// Bits per second; nil for encoders without a rate.
    public var bitrate: Int64?
    /// Whether the track must be kept bit for bit, without trimming.
    public var lossless: Bool

    /// Whether the source's packets are passed through.
    public var isPassthrough: Bool { encoder == VideoTarget.copy }

    public init(
        clip: Int = 0, track: Int, direction: Direction, encoder: String, sampleRate: Int, channelLayout: String,
        bitrate: Int64?, lossless: Bool
    ) {
        self.clip = clip
        self.track = track
        self.direction = direction
        self.encoder = encoder
        self.sampleRate = sampleRate
        self.channelLayout = channelLayout
        self.bitrate = bitrate
        self.lossless = lossless
    }

    public enum CodingKeys: String, CodingKey {
        case clip = "clip"
        case track = "track"
        case direction = "direction"
        case encoder = "encoder"
        case sampleRate = "sampleRate"
        case channelLayout = "channelLayout"
        case bitrate = "bitrate"
        case lossless = "lossless"
    }
}
