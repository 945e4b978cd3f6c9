/// What reel knows of a video encoder beyond what libavcodec reports; a row of `EncoderTraits.all`.
package struct EncoderTraits: Sendable {
    package internal(set) var name: String
    package let codec: String
    /// Whether reel names the encoder in its lists of encoders, and a worker in its report of the encoders that it has.
    package var isListed = true
    /// Whether reel has been tested with the encoder. Users may ask for any other; a warning says so.
    package var isTried = true
    /// Other names by which a user may ask for the encoder or its codec.
    package var aliases: [String] = []
    /// Whether a source of this codec is by default encoded in the same codec.
    package var keepsCodec = false
    /// The constant quality that matches about 18 on x264's scale; nil for encoders without constant quality of that
    /// kind.
    package var crf: Double?
    /// The option that trades speed for size, and the value that matches about x264's medium.
    package var preset: MediaOption?
    /// The presets that the encoder has, fastest first; empty if they are numbers, or if it has none.
    package var presets: [String] = []
    /// The highest value of its constant quality; nil for what libavcodec says.
    package var mostCRF: Double?
    /// The profiles that can be asked for; empty if the encoder has no option for them.
    package var profiles: [Profile] = []
    /// Options that reel always sets: closed groups of pictures, no log output, the plan's number of threads.
    package var options: @Sendable (_ threads: Int) -> [MediaOption] = { _ in [] }
    package var rateControl = RateControl.own
    package var keyFrameInterval = 250
    /// The most threads worth using. With more, the encoder gains little speed and loses quality, or its memory grows
    /// out of proportion.
    package var mostThreads = 16
    /// Whether the parameters (extradata) that the encoder writes are the same for any number of threads.
    package var isSameForAnyThreads = false
    package var isLossless = false
    package var tells: Told = []
    /// The syntax in which the encoder takes mastering display and light levels; nil if it takes none.
    package var lightSyntax: LightSyntax?
    /// The greatest frame rate that the encoder can be told; nil for any. A source may state a rate that is only the
    /// clock of its timestamps.
    package var greatestRate: Rational?
    /// The option that sets the encoder's level, which reel sets if the rate follows the source; nil if the encoder
    /// needs none.
    package var levelOption: LevelOption?
    /// Whether the encoder makes a second picture of the transparency, and beside each packet one of that picture,
    /// which few containers store.
    package var putsTransparencyBeside = false
    /// Whether decoders take all of its pictures for limited range: its streams have no place that says otherwise.
    package var isLimitedRange = false
    /// Whether the codec's frames follow each other at a constant rate, so that none may last long.
    package var wantsConstantRate = false
    /// The least number of packets by which a frame may come later in decode order than in presentation order. Some
    /// wrappers do not report it.
    package var leastReorderDepth = 0
    /// Whether the encoder hangs or crashes if memory or a thread is refused to it while it starts, and hangs if it is
    /// closed before its input has ended, or after an input without pictures.
    package var hangsUnlessFed = false
    /// The presets at which the first key frame is coded coarser than all later ones, as x264 does with macroblock
    /// trees; nil if no preset does.
    package var coarseFirstFrame: (@Sendable (_ preset: String) -> Bool)?
    /// Options that keep the encoder from using instructions whose results depend on more than the picture.
    package var optionsBesideAVX512: [MediaOption] = []
    /// The encoder's cost by preset; nil stands for the preset that reel sets, or for the encoder's default if reel
    /// sets none.
    var cost: @Sendable (_ preset: String?) -> EncoderCost

    /// A profile of a codec: what decoders must be able to do.
    package struct Profile: Sendable {
        package let name: String
        package let pixelFormats: Set<String>

        static func named(_ names: String..., formats: String...) -> [Profile] {
            names.map { Profile(name: $0, pixelFormats: Set(formats)) }
        }
    }

    package enum RateControl: Sendable {
        /// The encoder's own constant quality, or its default.
        case own
        /// Constant quality. If the rate follows the source, an upper bound on the rate too: chunks are short, and
        /// without a bound the rate control notices too late that it has spent too many bits.
        case bounded
        /// A fixed quantiser near the best that the codec has, for encoders without constant quality.
        case fixedQuantiser
        /// A fixed quantiser, with the rate fields of MPEG-2's parameters set to the same values for all rates.
        case fixedQuantiserOfMPEG2
        case ceiling
    }

    /// Facts that an encoder writes into its stream.
    package struct Told: OptionSet, Sendable {
        package let rawValue: Int
        package init(rawValue: Int) { self.rawValue = rawValue }

        package static let fields = Told(rawValue: 1)
        package static let fieldsOfEachFrame = Told(rawValue: 2)
        package static let colour = Told(rawValue: 4)
        /// Mastering display and light levels. Demuxers read them from the stream if the container has no place for
        /// them.
        package static let light = Told(rawValue: 8)
    }

    /// The encoder whose option syntax describes mastering display and light levels.
    package enum LightSyntax: Sendable { case x264, x265, svtAV1 }

    package enum LevelOption: Sendable { case x264, x265 }

    /// The listed row that a user means by the name of an encoder, one of its other names, or its codec; nil for any
    /// other text. An encoder's own name goes before the codec of another.
    package static func asked(for name: String) -> EncoderTraits? {
        let listed = all.filter(\.isListed)
        return listed.first { $0.name == name || $0.aliases.contains(name) } ?? listed.first { $0.codec == name }
    }

    /// The row of an encoder. An encoder without a row gets the defaults, with this codec.
    package static func named(_ name: String, codec: String = "") -> EncoderTraits {
        all.first { $0.name == name }
            ?? EncoderTraits(name: name, codec: codec, isTried: false) { _ in EncoderCost.ofUnknown }
    }
}

extension VideoEncoding {
    package var traits: EncoderTraits { EncoderTraits.named(encoder) }

    package var hasTransparencyBeside: Bool {
        traits.putsTransparencyBeside && PictureLayout(format.pixelFormat).hasAlpha
    }

    /// Time to encode a frame, in units of the time to decode one.
    package var encodingEffort: Double { EncoderNeeds(self).weight }
}

extension VideoTarget {
    /// Time to encode a frame, in units of the time to decode one; with passthrough, that of an unknown encoder.
    package var encodingEffort: Double { encoding?.encodingEffort ?? EncoderCost.ofUnknown.weight }
}

extension Plan {
    /// Address space in bytes that a pass takes beyond its memory: stacks of threads, and memory that is allocated and
    /// hardly touched.
    package var reservedAddresses: Int64 {
        // With passthrough, one thread reads ahead and one computes checksums.
        guard var encoding = video.encoding else { return 16 << 20 }
        let decoderStacks = Int64(encoding.threads) * 8 << 20
        encoding.threads = mostEncoderThreads
        return decoderStacks + EncoderNeeds(encoding).reserved
    }
}
