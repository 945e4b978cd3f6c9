/// Parameters of a video stream that planning needs and the output should keep. Codec, profile and pixel format are named
/// as FFmpeg names them: "h264", "High", "yuv420p10le". A value is nil if the file does not state it.
package struct VideoStream: Hashable, Codable, Sendable {
    /// The stream's index in the file.
    package var index: Int
    package var codec: String
    package var profile: String?
    /// As the codec counts it.
    package var level: Int?
    package var width: Int
    package var height: Int
    package var pixelFormat: String
    package var timeBase: TimeBase
    /// Frames per second on average; nil if neither the container nor the frames tell.
    package var frameRate: Rational?
    /// The frame rate that is assumed: 25 if none is known.
    var nominalRate: Rational { frameRate ?? Rational(25) }
    /// Width of a pixel divided by its height.
    package var sampleAspectRatio: Rational?
    /// The nine 16.16 and 2.30 fixed-point numbers of the display matrix (ISO 14496-12 8.3.2); nil if there is none.
    package var displayMatrix: [Int32]?
    package var colour: ColourTags
    package var masteringDisplay: MasteringDisplay?
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

    /// The stream with the range that an output's pictures have: that of this stream, the standard range if they are
    /// mapped to it, or limited range if decoders take the encoder's pictures for that.
    package func shown(in target: VideoTarget) -> VideoStream {
        guard let encoding = target.encoding else { return self }
        var stream = mapped(to: encoding.format)
        guard encoding.traits.isLimitedRange, stream.hasFullRange else { return stream }
        stream.colour.range = "tv"
        if pixelFormat.hasPrefix("yuvj") { stream.pixelFormat = "yuv" + pixelFormat.dropFirst(4) }
        return stream
    }

    /// The stream with the light of pictures in `format`: as it is, or of the standard range if they are mapped to it.
    package func mapped(to format: OutputFormat) -> VideoStream {
        format.toneMapping == nil ? self : mappedToStandardRange
    }

    /// The stream as it is with pictures of the standard dynamic range.
    package var mappedToStandardRange: VideoStream {
        guard colour.dynamicRange != .standard else { return self }
        var stream = self
        stream.colour = colour.mappedToStandardRange
        (stream.masteringDisplay, stream.contentLight) = (nil, nil)
        return stream
    }

    /// Whether the values of YCbCr reach from 0 to the greatest; the old formats say it in their names.
    package var hasFullRange: Bool {
        pixelFormat.hasPrefix("yuvj") || colour.range == "pc" && !PictureLayout(pixelFormat).isRGB
    }
}

/// How pixel values map to colours, in FFmpeg's names ("bt709", "tv", "left"); nil if unspecified.
package struct ColourTags: Hashable, Codable, Sendable {
    package var range: String?
    package var primaries: String?
    package var transfer: String?
    package var matrix: String?
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

    /// The colours of pictures whose light was mapped to the standard range; the same colours if they have that already.
    package var mappedToStandardRange: ColourTags {
        guard dynamicRange != .standard else { return self }
        return ColourTags(
            range: "tv", primaries: "bt709", transfer: "bt709", matrix: "bt709", chromaLocation: chromaLocation)
    }

    /// What the transfer characteristics say.
    package enum DynamicRange: String, Codable, Sendable {
        case standard
        /// Perceptual quantiser (SMPTE ST 2084).
        case perceptual
        /// Hybrid log-gamma (ARIB STD-B67).
        case logGamma
    }

    package var dynamicRange: DynamicRange {
        switch transfer {
        case "smpte2084": .perceptual
        case "arib-std-b67": .logGamma
        default: .standard
        }
    }
}

/// The display on which a film was graded (SMPTE ST 2086). Sources may state only one of the two parts.
package struct MasteringDisplay: Hashable, Codable, Sendable {
    /// A chromaticity in CIE 1931 coordinates.
    package struct Point: Hashable, Codable, Sendable {
        package var x: Rational
        package var y: Rational

        package init(x: Rational, y: Rational) {
            self.x = x
            self.y = y
        }
    }

    package struct Primaries: Hashable, Codable, Sendable {
        package var red: Point
        package var green: Point
        package var blue: Point
        package var white: Point

        package init(red: Point, green: Point, blue: Point, white: Point) {
            self.red = red
            self.green = green
            self.blue = blue
            self.white = white
        }
    }

    /// The darkest and brightest levels of the display, in cd/m².
    package struct Luminance: Hashable, Codable, Sendable {
        package var least: Rational
        package var most: Rational

        package init(least: Rational, most: Rational) {
            self.least = least
            self.most = most
        }
    }

    package var primaries: Primaries?
    package var luminance: Luminance?

    package init(primaries: Primaries?, luminance: Luminance?) {
        self.primaries = primaries
        self.luminance = luminance
    }
}

/// The brightness of the film itself (CTA-861.3), in cd/m².
package struct ContentLight: Hashable, Codable, Sendable {
    /// The brightest pixel of the film (MaxCLL).
    package var pixel: UInt32
    /// The greatest average of a frame (MaxFALL).
    package var average: UInt32

    package init(pixel: UInt32, average: UInt32) {
        self.pixel = pixel
        self.average = average
    }
}

/// How pictures with one display matrix are turned and mirrored so that they are upright under another.
package struct Turning: Equatable, Sendable {
    /// The images of a picture's axes: x becomes (a, b), y becomes (c, d), each -1, 0 or 1.
    package private(set) var (a, b, c, d) = (1, 0, 0, 1)

    /// A matrix that does not turn by quarters counts as no matrix, and so does nil.
    package init(from source: [Int32]?, to target: [Int32]?) {
        let (first, last) = (Turning.quarters(source), Turning.quarters(target))
        // The inverse of such a matrix is its transposition.
        a = first.a * last.a + first.b * last.b
        b = first.a * last.c + first.b * last.d
        c = first.c * last.a + first.d * last.b
        d = first.c * last.c + first.d * last.d
    }

    private static func quarters(_ matrix: [Int32]?) -> (a: Int, b: Int, c: Int, d: Int) {
        guard let matrix, matrix.count == 9 else { return (1, 0, 0, 1) }
        let found = (
            a: Int(matrix[0].signum()), b: Int(matrix[1].signum()), c: Int(matrix[3].signum()),
            d: Int(matrix[4].signum())
        )
        let isStraight = abs(found.a) == 1 && abs(found.d) == 1 && found.b == 0 && found.c == 0
        let isTurned = abs(found.b) == 1 && abs(found.c) == 1 && found.a == 0 && found.d == 0
        return isStraight || isTurned ? found : (1, 0, 0, 1)
    }

    /// Whether lines become columns.
    package var isSideways: Bool { a == 0 }

    package var isNone: Bool { (a, b, c, d) == (1, 0, 0, 1) }
}

/// Which field of an interlaced frame comes first in time; `unknown` if unspecified.
package enum FieldOrder: String, Codable, Sendable {
    case unknown, progressive, topFirst, bottomFirst

    /// Whether frames consist of two fields of known order.
    package var isInterlaced: Bool { self == .topFirst || self == .bottomFirst }
}

/// Counts of interlaced and progressive frames of a video, by field order, taken from the headers of all frames.
package struct FieldOrderCounts: Hashable, Sendable {
    package private(set) var topFirst = 0
    package private(set) var bottomFirst = 0
    package private(set) var progressive = 0

    package init() {}

    /// Counts one frame. `.unknown`, which a packet of a single field gives, is not counted.
    package mutating func add(_ order: FieldOrder) {
        switch order {
        case .topFirst: topFirst += 1
        case .bottomFirst: bottomFirst += 1
        case .progressive: progressive += 1
        case .unknown: break
        }
    }

    /// The field order of the video, and whether frames differ in it. The order of the `first` frame, as the decoder
    /// reports it, wins over the headers: if they all disagree, they were parsed wrongly. `stated` is the order in the
    /// container; `knowsOrder` tells whether the headers say which field comes first, and not only that there are two.
    package func settle(stated: FieldOrder, first: FieldOrder, knowsOrder: Bool) -> (order: FieldOrder, vary: Bool) {
        guard topFirst + bottomFirst > 0 else {
            if first.isInterlaced { return (first, false) }
            return (stated == .unknown && progressive > 0 ? .progressive : stated, false)
        }
        let most: FieldOrder = topFirst >= bottomFirst ? .topFirst : .bottomFirst
        let turns = knowsOrder && min(topFirst, bottomFirst) > 0
        if turns { return (most, true) }
        if progressive > 0 { return (first.isInterlaced ? first : most, true) }
        return (first == .unknown ? most : first, false)
    }
}

extension VideoStream {
    /// The field order to flag on a frame that is played in a direction, given the order that the decoder reported.
    /// Some decoders leave the order to the container, so the container's order applies if frames do not vary. If they
    /// do, a progressive frame states the order of the others, for encoders that cannot switch.
    package func fields(
        _ direction: Direction, interlaced: Bool, topFirst: Bool
    ) -> (interlaced: Bool, topFirst: Bool) {
        let order: FieldOrder = interlaced ? (topFirst ? .topFirst : .bottomFirst) : fieldOrder
        return (interlaced || fieldOrder.isInterlaced && !fieldsVary, direction.fields(order) == .topFirst)
    }
}
