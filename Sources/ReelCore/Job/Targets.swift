/// How the video will be encoded. Every chunk of a job is encoded with exactly this, but for a rate that is the source's.
public struct VideoTarget: Hashable, Codable, Sendable {
    /// The encoder's name as FFmpeg spells it, for example "libx264"; or `copy`.
    public var encoder: String
    public var pixelFormat: String
    public var width: Int
    public var height: Int
    /// Frames per second that the encoder is told; timestamps are exact beside it.
    public var frameRate: Rational
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
        encoder: String, pixelFormat: String, width: Int, height: Int, frameRate: Rational, options: [Tag],
        bitrate: VideoRate?, threads: Int, keyFrameInterval: Int, identity: EncoderIdentity
    ) {
        self.encoder = encoder
        self.pixelFormat = pixelFormat
        self.width = width
        self.height = height
        self.frameRate = frameRate
        self.options = options
        self.bitrate = bitrate
        self.threads = threads
        self.keyFrameInterval = keyFrameInterval
        self.identity = identity
    }

    public enum CodingKeys: String, CodingKey {
        case encoder = "encoder"
        case pixelFormat = "pixelFormat"
        case width = "width"
        case height = "height"
        case frameRate = "frameRate"
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

/// What becomes of an audio track on its way into the output.
public enum AudioHandling: String, Codable, Sendable {
    /// Decoded, reversed by the sample, encoded.
    case reversed
    /// Decoded and encoded in the order it has.
    case forwards
    /// Packet by packet as the source has them.
    case copied
}

/// How one audio track will be made.
public struct AudioTarget: Hashable, Codable, Sendable {
    /// The track's place in `SourceIndex.audio`.
    public var track: Int
    public var handling: AudioHandling
    /// The encoder's name as FFmpeg spells it, for example "aac" or "pcm_s16le"; "copy" where nothing is encoded.
    public var encoder: String
    /// Samples per second; differs from the source's only where the encoder cannot take that.
    public var sampleRate: Int
    public var channelLayout: String
    /// Bits per second, nil for encoders without one.
    public var bitrate: Int64?
    /// Nothing of it may change: samples bit for bit, no trimming.
    public var lossless: Bool

    public init(
        track: Int, handling: AudioHandling = .reversed, encoder: String, sampleRate: Int, channelLayout: String,
        bitrate: Int64?, lossless: Bool
    ) {
        self.track = track
        self.handling = handling
        self.encoder = encoder
        self.sampleRate = sampleRate
        self.channelLayout = channelLayout
        self.bitrate = bitrate
        self.lossless = lossless
    }

    public enum CodingKeys: String, CodingKey {
        case track = "track"
        case handling = "handling"
        case encoder = "encoder"
        case sampleRate = "sampleRate"
        case channelLayout = "channelLayout"
        case bitrate = "bitrate"
        case lossless = "lossless"
    }
}
