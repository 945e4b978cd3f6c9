/// How the video will be encoded. Every chunk of a job is encoded with exactly this, but for a rate that is the source's.
public struct VideoTarget: Hashable, Codable, Sendable {
    /// The encoder's name as FFmpeg spells it, for example "libx264"; or `copy`.
    public var encoder: String
    /// What is encoded.
    public var format: OutputFormat
    /// Private options of the encoder, by name, applied in this order.
    public var options: [Tag]
    /// nil where the options say a constant quality.
    public var bitrate: VideoRate?
    public var threads: Int
    /// The most frames from one key frame to the next.
    public var keyFrameInterval: Int
    public var identity: EncoderIdentity

    /// What `encoder` says where the source's packets are passed on as they are, in another order.
    public static let copy = "copy"

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

/// Which encoder made a job's parameters, so that a mixed fleet is found before work and not at assembly.
public struct EncoderIdentity: Hashable, Codable, Sendable {
    /// The encoder and the library it lives in, for example "libx264 Lavc59.37.100": what workers say they have.
    public var build: String
    /// SHA-256 of the extradata it made when it was opened once, in hexadecimal; of nothing where it makes none.
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

/// How one audio track will be made.
public struct AudioTarget: Hashable, Codable, Sendable {
    /// The clip whose source has the track, by its place in `Plan.clips`.
    public var clip: Int
    /// The track's place in `SourceIndex.audio`.
    public var track: Int
    public var direction: Direction
    /// The encoder's name as FFmpeg spells it, for example "aac" or "pcm_s16le"; "copy" where nothing is encoded.
    public var encoder: String
    /// Samples per second; differs from the source's only where the encoder cannot take that.
    public var sampleRate: Int
    public var channelLayout: String
    /// Bits per second, nil for encoders without one.
    public var bitrate: Int64?
    /// Nothing of it may change: samples bit for bit, no trimming.
    public var lossless: Bool

    /// Whether the source's packets are passed on as they are.
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
