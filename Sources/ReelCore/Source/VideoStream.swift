/// Parameters of a video stream that planning needs and the output should keep.
package struct VideoStream: Hashable, Codable, Sendable {
    /// The stream's index in the file.
    package var index: Int
    /// The codec's name as FFmpeg spells it, for example "h264".
    package var codec: String
    /// The codec's profile as FFmpeg spells it; nil if unspecified.
    package var profile: String?
    /// The codec's level as the codec counts it; nil if unspecified.
    package var level: Int?
    /// Pixels in a line.
    package var width: Int
    /// Lines.
    package var height: Int
    /// The pixel format's name as FFmpeg spells it, for example "yuv420p10le".
    package var pixelFormat: String
    /// The unit of the stream's timestamps.
    package var timeBase: TimeBase
    /// Frames per second on average; nil if neither the container nor the frames tell.
    package var frameRate: Rational?
    /// The frame rate that is assumed: 25 if none is known.
    var nominalRate: Rational { frameRate ?? Rational(25) }
    /// Width of a pixel divided by its height; nil if unspecified.
    package var sampleAspectRatio: Rational?
    /// The nine 16.16 and 2.30 fixed-point numbers of the display matrix (ISO 14496-12 8.3.2); nil if there is none.
    package var displayMatrix: [Int32]?
    /// How pixel values map to colours.
    package var colour: ColourTags
    /// The display on which the film was graded; nil if unspecified.
    package var masteringDisplay: MasteringDisplay?
    /// The brightness of the film; nil if unspecified.
    package var contentLight: ContentLight?
    /// The field order of the stream, or of most of its interlaced frames.
    package var fieldOrder: FieldOrder
    /// Whether some frames differ from `fieldOrder`, which is then that of most interlaced frames: they are
    /// progressive, or their other field comes first.
    package var fieldsVary = false
    /// Side data that no encoder can write. Passthrough keeps it.
    package var losses: [Diagnostic] = []
    /// The number of frames that the decoder keeps to reorder them.
    package var reorderDepth: Int
    /// Bytes of one decoded frame in memory: all planes with their padding.
    package var frameBytes: Int64
    /// Language, title and dispositions.
    package var details: TrackDetails

    package init(
        index: Int, codec: String, width: Int, height: Int, pixelFormat: String, timeBase: TimeBase,
        frameRate: Rational?, sampleAspectRatio: Rational?, displayMatrix: [Int32]?, colour: ColourTags,
        fieldOrder: FieldOrder, reorderDepth: Int, frameBytes: Int64, details: TrackDetails
    ) {
        self.index = index
        self.codec = codec
        self.width = width
        self.height = height
        self.pixelFormat = pixelFormat
        self.timeBase = timeBase
        self.frameRate = frameRate
        self.sampleAspectRatio = sampleAspectRatio
        self.displayMatrix = displayMatrix
        self.colour = colour
        self.fieldOrder = fieldOrder
        self.reorderDepth = reorderDepth
        self.frameBytes = frameBytes
        self.details = details
    }

    /// Whether its pictures can be shown as those of `other`, without being scaled, turned or converted.
    package func fits(_ other: VideoStream) -> Bool {
        width == other.width && height == other.height && pixelFormat == other.pixelFormat
            && (sampleAspectRatio ?? Rational(1)) == (other.sampleAspectRatio ?? Rational(1))
            && displayMatrix == other.displayMatrix && colour.matrix == other.colour.matrix
            && colour.range == other.colour.range
    }

    /// The stream with the range that an output's pictures have: that of this stream, or limited range if decoders take
    /// the encoder's pictures for that.
    package func shown(in target: VideoTarget) -> VideoStream {
        guard target.encoding?.traits.isLimitedRange == true, hasFullRange else { return self }
        var stream = self
        stream.colour.range = "tv"
        if pixelFormat.hasPrefix("yuvj") { stream.pixelFormat = "yuv" + pixelFormat.dropFirst(4) }
        return stream
    }

    /// Whether the values of YCbCr reach from 0 to the greatest; the old formats say it in their names.
    package var hasFullRange: Bool {
        pixelFormat.hasPrefix("yuvj") || colour.range == "pc" && !PictureLayout(pixelFormat).isRGB
    }
}

/// How pixel values map to colours, in FFmpeg's names ("bt709", "tv", "left"); nil if unspecified.
package struct ColourTags: Hashable, Codable, Sendable {
    /// The range of the sample values, for example "tv".
    package var range: String?
    /// The colour primaries, for example "bt709".
    package var primaries: String?
    /// The transfer characteristics, for example "smpte2084".
    package var transfer: String?
    /// The matrix between RGB and YCbCr, for example "bt2020nc".
    package var matrix: String?
    /// The position of the chroma samples, for example "left".
    package var chromaLocation: String?

    package init(
        range: String? = nil, primaries: String? = nil, transfer: String? = nil, matrix: String? = nil,
        chromaLocation: String? = nil
    ) {
        self.range = range
        self.primaries = primaries
        self.transfer = transfer
        self.matrix = matrix
        self.chromaLocation = chromaLocation
    }
}

/// Which field of an interlaced frame comes first in time; `unknown` if unspecified.
package enum FieldOrder: String, Codable, Sendable {
    case unknown, progressive, topFirst, bottomFirst
}

extension ColourTags {
    /// The kinds of brightness that no conversion here brings together.
    package enum DynamicRange: String, Codable, Sendable {
        case standard
        /// Perceptual quantiser (SMPTE ST 2084).
        case perceptual
        /// Hybrid log-gamma (ARIB STD-B67).
        case logGamma
    }

    /// What the transfer characteristics say.
    package var dynamicRange: DynamicRange {
        switch transfer {
        case "smpte2084": .perceptual
        case "arib-std-b67": .logGamma
        default: .standard
        }
    }
}
