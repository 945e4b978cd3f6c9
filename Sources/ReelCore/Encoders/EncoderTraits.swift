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
    /// How chunks get a coarser quality than `crf` if the source has far fewer bits for their frames; nil if all have the
    /// same.
    package var coarsening: Coarsening?
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
    /// Whether the encoder makes about as many bits as it is told.
    package var keepsRate = true
    package var keyFrameInterval = 250
    /// The most threads worth using. With more, the encoder gains little speed and loses quality, or its memory grows
    /// out of proportion.
    package var mostThreads = 16
    /// The same if the rate has an upper bound.
    package var mostThreadsBounded = Int.max
    /// Whether the parameters (extradata) that the encoder writes are the same for any number of threads.
    package var isSameForAnyThreads = false
    package var isLossless = false
    package var tells: Told = []
    /// The syntax in which the encoder takes mastering display and light levels; nil if it takes none.
    package var lightSyntax: LightSyntax?
    /// The greatest frame rate that the encoder can be told; nil for any. A source may state a rate that is only the
    /// clock of its timestamps.
    package var greatestRate: Rational?
    /// The highest rate that it takes, in bits per second; nil if it takes any.
    package var highestBitrate: Int64?
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

    package struct Coarsening: Sendable {
        /// The coarsest quality.
        package let most: Double
        /// How much coarser a quality is that makes half the bits, as a rule.
        package let halving: Double
        /// Keeps the quality out of the parameters, so that chunks of different qualities join; nil if it is never there.
        package var option: MediaOption?
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

    /// The most threads with which the same pictures make the same bytes, and worth using.
    package var mostThreads: Int {
        bitrate == .source ? min(traits.mostThreads, traits.mostThreadsBounded) : traits.mostThreads
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

/// The cost of an encoder: memory, and time relative to decoding. Measured with FFmpeg 5.1.9 on pictures of 320×240 to
/// 3840×2160 in 8 and 10 bits, as the peak resident memory of the process minus that of the same process without an
/// encoder, rounded up.
///
/// memory = constant + pixels · (perPixel + pictures · bytes per pixel) · scale · (1 + perThread · (threads − 1)), plus
/// the pictures that lookahead threads hold, plus `constantPerThread` for each further thread.
struct EncoderCost {
    var constant: Int64 = 4 << 20
    var constantPerThread = 0.0
    var perPixel: Double
    var pictures: Double
    var scale = 1.0
    var perThread = 0.08
    /// Number of pixels from which the encoder holds fewer pictures: memory is then 0.7 times as much.
    var holdsFewerFrom = Double.infinity
    /// Time to encode a frame, in units of the time to decode one of H.264. A value that is too small only leads to
    /// fewer passes.
    var weight: Double
    /// With two or more threads, x264 adds a lookahead thread, whatever the preset. It holds three times the pictures
    /// that each thread then encodes.
    var looksAhead = false
    /// Address space that each thread reserves beyond the memory, as a fraction of the memory.
    var untouched = 0.0
    /// Address space that the stacks of one thread take, in bytes.
    var stacks: Int64 = 8 << 20

    /// The cost assumed for an encoder that is not in the table.
    static let ofUnknown = EncoderCost(perPixel: 40, pictures: 20, weight: 2)

    /// Bytes per pixel that x264's lookahead threads hold; 0 with one thread.
    fileprivate func heldByThreads(_ threads: Int, _ bytesPerPixel: Double) -> Double {
        looksAhead && threads > 1 ? (15.5 + 8.6 * bytesPerPixel) * Double(threads + 1) / 3 : 0
    }
}

/// What an encoder with its settings takes: memory, address space and time.
package struct EncoderNeeds {
    /// Memory of the encoder in bytes, its frames included.
    package let memory: Int64
    /// Address space in bytes beyond the memory: stacks of the encoder's threads, and memory that it allocates and
    /// hardly touches.
    package let reserved: Int64
    package let weight: Double

    package init(_ video: VideoEncoding) {
        let cost = video.traits.cost(video.options.last { $0.name == "preset" }?.value)
        let pixels = Double(video.format.width) * Double(video.format.height)
        let largePictures = pixels > cost.holdsFewerFrom ? 0.7 : 1
        let further = Double(video.threads - 1)
        let threads = 1 + cost.perThread * further
        let layout = PictureLayout(video.format.pixelFormat)
        let bytesPerPixel = video.hasTransparencyBeside ? layout.opaqueBytesPerPixel : layout.bytesPerPixel
        // A second encoder makes the transparency, as a picture of the same size and format.
        let encoders = video.hasTransparencyBeside ? 2.0 : 1
        let variable = pixels * (cost.perPixel + cost.pictures * bytesPerPixel) * cost.scale * largePictures * threads
        let held = cost.heldByThreads(video.threads, bytesPerPixel) * pixels + cost.constantPerThread * further
        memory = Int64(min((Double(cost.constant) + variable + held) * encoders, 0x1p60))
        reserved =
            Int64(min(Double(memory) * cost.untouched * Double(video.threads), 0x1p60))
            + Int64(encoders) * Int64(video.threads) * cost.stacks
        weight = cost.weight * encoders
    }
}
