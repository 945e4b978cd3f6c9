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
    package var width: Int
    package var height: Int
    /// The pixel format's name as FFmpeg spells it, for example "yuv420p10le".
    package var pixelFormat: String
    package var timeBase: TimeBase
    /// Frames per second on average; nil if neither the container nor the frames tell.
    package var frameRate: Rational?
    /// The frame rate that is assumed: 25 if none is known.
    var nominalRate: Rational { frameRate ?? Rational(25) }
    /// Width of a pixel divided by its height; nil if unspecified.
    package var sampleAspectRatio: Rational?
    /// The nine 16.16 and 2.30 fixed-point numbers of the display matrix (ISO 14496-12 8.3.2); nil if there is none.
    package var displayMatrix: [Int32]?
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

    /// The display's primaries and white point.
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

    /// Whether the pictures stay as they are.
    package var isNone: Bool { (a, b, c, d) == (1, 0, 0, 1) }
}
