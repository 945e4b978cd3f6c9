/// What reel knows of a video encoder beyond what libavcodec tells: a row of `EncoderTraits.all`.
public struct EncoderTraits: Sendable {
    /// As FFmpeg spells it.
    public internal(set) var name: String
    /// The codec it makes, as FFmpeg spells it.
    public let codec: String
    /// Whether reel names it when it lists encoders, and a worker when it says which ones it has.
    public var isListed = true
    /// Other names by which a person may ask for it or its codec.
    public var aliases: [String] = []
    /// Whether a source of its codec is encoded in it again.
    public var keepsCodec = false
    /// About what 18 is on x264's scale; nil for encoders without constant quality of that kind.
    public var crf: Double?
    /// The option that trades speed for size, and its value for about x264's medium.
    public var preset: Preset?
    /// What reel always sets: closed groups of pictures, silence, threads as the plan fixes them.
    public var options: @Sendable (_ threads: Int) -> [Tag] = { _ in [] }
    /// What is set beside constant quality or a rate.
    public var rateControl = RateControl.own
    /// The most frames from one key frame to the next.
    public var keyFrameInterval = 250
    /// Beyond so many threads, it gains little and loses quality, or takes memory out of all proportion.
    public var mostThreads = 16
    /// Whether what it writes into its parameters is the same for any number of threads.
    public var isSameForAnyThreads = false
    /// Whether it gives every sample back as it was.
    public var isLossless = false
    /// What it says in its own stream.
    public var tells: Told = []
    /// How it is told of mastering display and light levels; nil if it cannot be.
    public var lightSyntax: LightSyntax?
    /// The option that names its level, beside a rate that follows the source; nil if it needs none.
    public var levelOption: LevelOption?
    /// Formats that it takes, but not in a way that segments keep.
    public var unusedFormats: Set<String> = []
    /// Packets by which a frame may come later in decode order, at the least: some wrappers do not say it.
    public var leastReorderDepth = 0
    /// Whether it waits for ever, or dies, when it is refused memory or a thread while it starts, and waits for ever when it
    /// is closed before its input has ended, or ended without a picture.
    public var hangsUnlessFed = false
    /// The presets at which the first key frame is coded coarser than all later ones, as x264 does with macroblock trees;
    /// nil if it is not.
    public var coarseFirstFrame: (@Sendable (_ preset: String) -> Bool)?
    /// Options that keep it from using instructions whose results depend on more than the picture.
    public var optionsBesideAVX512: [Tag] = []
    /// What it costs, by its preset; nil for the one that reel sets or, without any, the encoder's own.
    var cost: @Sendable (_ preset: String?) -> EncoderCost

    public struct Preset: Sendable {
        public let option: String
        public let value: String
    }

    public enum RateControl: Sendable {
        /// Its own constant quality, or none.
        case own
        /// The same, and a bound on the rate that follows the source: a chunk is short, and without a bound the rate
        /// control finds out too late that it gave too much.
        case bounded
        /// No constant quality: a fixed quantiser, near the best that the codec has.
        case fixedQuantiser
        /// That, and what MPEG-2 writes into its parameters settled for all rates.
        case fixedQuantiserOfMPEG2
        /// A rate is the ceiling of its constant quality.
        case ceiling
    }

    /// Facts that an encoder writes into its stream.
    public struct Told: OptionSet, Sendable {
        public let rawValue: Int
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// How fields follow each other, for the whole video.
        public static let fields = Told(rawValue: 1)
        /// The same for each frame.
        public static let fieldsOfEachFrame = Told(rawValue: 2)
        /// All of the colour.
        public static let colour = Told(rawValue: 4)
        /// Mastering display and light levels, read from the stream where a container has no place for them.
        public static let light = Told(rawValue: 8)
    }

    public enum LightSyntax: Sendable { case x264, x265, svtAV1 }

    public enum LevelOption: Sendable { case x264, x265 }

    /// The row of an encoder; one without special knowledge for any other.
    ///
    /// - Parameter codec: what it makes, for an encoder that has no row.
    public static func named(_ name: String, codec: String = "") -> EncoderTraits {
        all.first { $0.name == name } ?? EncoderTraits(name: name, codec: codec) { _ in EncoderCost.ofUnknown }
    }
}

extension VideoTarget {
    /// What reel knows of its encoder.
    public var traits: EncoderTraits { EncoderTraits.named(encoder) }

    /// Time to encode a frame, where decoding one takes 1.
    public var encodingEffort: Double { EncoderNeeds(self).weight }
}

extension Plan {
    /// Bytes of address space that a pass takes beside its memory: stacks of threads, and what is allocated and hardly
    /// touched.
    public var reservedAddresses: Int64 {
        var target = video
        target.threads = mostEncoderThreads
        return Int64(video.threads) * 8 << 20 + EncoderNeeds(target).reserved
    }
}
