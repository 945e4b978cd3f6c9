/// The format of the output's video.
package struct OutputFormat: Hashable, Codable, Sendable {
    /// The output's clock: the unit of its video's timestamps.
    package var timeBase: TimeBase
    /// Pixels in a line; 1 to 65536.
    package var width: Int
    /// Lines; 1 to 65536.
    package var height: Int
    /// Width of a pixel divided by its height; nil if unknown.
    package var sampleAspectRatio: Rational?
    /// The matrix by which players turn the pictures, as libavformat gives it; nil for none.
    package var displayMatrix: [Int32]?
    package var pixelFormat: String
    /// The nominal frame rate passed to the encoder, in frames per second. Timestamps do not depend on it.
    package var frameRate: Rational
    package var fieldOrder: FieldOrder
    package var fieldsVary: Bool
    /// How pictures of high dynamic range are shown; nil for as they are.
    package var toneMapping: ToneMapping?
    /// How pictures of other proportions fill the output's; nil for `Fit.standard`.
    package var fit: Fit?

    package init(
        timeBase: TimeBase, width: Int, height: Int, sampleAspectRatio: Rational? = nil, displayMatrix: [Int32]? = nil,
        pixelFormat: String, frameRate: Rational, fieldOrder: FieldOrder = .unknown, fieldsVary: Bool = false
    ) {
        self.timeBase = timeBase
        self.width = width
        self.height = height
        self.sampleAspectRatio = sampleAspectRatio
        self.displayMatrix = displayMatrix
        self.pixelFormat = pixelFormat
        self.frameRate = frameRate
        self.fieldOrder = fieldOrder
        self.fieldsVary = fieldsVary
    }

    /// The format of a source played in these directions, with its pixels converted to `pixelFormat`. If it is played
    /// in both, the order of its fields varies. `others` are streams of other sources that are shown, too. With a
    /// `size`, the pictures are upright and have square pixels; with `isUpright`, they are turned already, so that
    /// players need not turn them.
    package init(
        of stream: VideoStream, _ directions: Set<Direction>, timeBase: TimeBase, pixelFormat: String,
        beside others: [VideoStream] = [], size: PictureSize? = nil, isUpright: Bool = false
    ) {
        let turns = directions.count > 1 && stream.fieldOrder.isInterlaced
        let differ = others.contains { $0.fieldsVary || $0.fieldOrder != stream.fieldOrder }
        var own = PictureSize(width: stream.width, height: stream.height)
        var aspect = stream.sampleAspectRatio
        if isUpright, Turning(from: stream.displayMatrix, to: nil).isSideways {
            own = PictureSize(width: stream.height, height: stream.width)
            aspect = aspect.map { Rational(1) / $0 }
        }
        self.init(
            timeBase: timeBase, width: size?.width ?? own.width, height: size?.height ?? own.height,
            sampleAspectRatio: size == nil ? aspect : Rational(1),
            displayMatrix: size == nil && !isUpright ? stream.displayMatrix : nil, pixelFormat: pixelFormat,
            frameRate: stream.nominalRate,
            fieldOrder: (directions.contains(.forwards) ? .forwards : Direction.backwards).fields(stream.fieldOrder),
            fieldsVary: stream.fieldsVary || turns || differ)
    }

    /// Whether pictures of a stream are shown in this format without being scaled, turned or given other colours. The
    /// output has the colours of `main`.
    package func takes(_ stream: VideoStream, beside main: VideoStream) -> Bool {
        stream.fits(main) && width == main.width && height == main.height
            && (sampleAspectRatio ?? Rational(1)) == (main.sampleAspectRatio ?? Rational(1))
            && displayMatrix == main.displayMatrix
            && (toneMapping == nil || stream.colour.dynamicRange == .standard)
            && PictureLayout(pixelFormat).isRGB == PictureLayout(main.pixelFormat).isRGB
    }

    var frameBytes: Int64 { Int64(Double(width * height) * PictureLayout(pixelFormat).bytesPerPixel) }
}

/// How pictures of other proportions than the output's fill it.
package enum Fit: String, Codable, CaseIterable, Sendable {
    /// All of them is shown, and the rest is black.
    case bars
    /// All of the output is filled, and what lies beyond is cut off on both sides.
    case crop
    /// All of them is shown, and the rest is filled by the same pictures, blurred.
    case blur

    package static let standard = Fit.bars
}

/// How pictures of high dynamic range become others.
package enum ToneMapping: String, Codable, Sendable {
    /// The range and colours of BT.709, highlights compressed by the curve of Hable.
    case hable
}

/// The size of a picture in pixels.
package struct PictureSize: Hashable, Codable, Sendable {
    package var width: Int
    package var height: Int

    package init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    package static let sidesAllowed = 2...16_384

    /// Reads "640x360"; nil for anything else, and for sides that are not allowed.
    package init?(_ text: String) {
        let sides = text.split(separator: "x", omittingEmptySubsequences: false).map { Int($0) }
        guard sides.count == 2, let width = sides[0], let height = sides[1],
            PictureSize.sidesAllowed.contains(width), PictureSize.sidesAllowed.contains(height), !text.contains("+")
        else { return nil }
        self.init(width: width, height: height)
    }

    /// The size in the same proportions, its longer side at most this many pixels; no side below 1.
    package func limited(to most: Int?) -> PictureSize {
        let longer = max(width, height)
        guard let most, longer > most else { return self }
        func scaled(_ side: Int) -> Int { max((side * most + longer / 2) / longer, 1) }
        return PictureSize(width: scaled(width), height: scaled(height))
    }
}

extension VideoStream {
    /// The size of its pictures as they are shown: upright, with square pixels.
    package var shownSize: PictureSize {
        let wide = Rational(Int64(width)) * (sampleAspectRatio ?? Rational(1))
        // Some files state shapes of pixels that no picture has.
        let shown = min(max(TimeBase(1, 1).ticks(in: wide, rounding: .nearest), 1), 1 << 16)
        let isSideways = Turning(from: displayMatrix, to: nil).isSideways
        return isSideways
            ? PictureSize(width: height, height: Int(shown)) : PictureSize(width: Int(shown), height: height)
    }
}

/// The size of pixels, derived from the name of the pixel format as FFmpeg spells it.
struct PictureLayout {
    let bytesPerPixel: Double
    let opaqueBytesPerPixel: Double
    let hasAlpha: Bool
    /// Whether the samples are red, green and blue, or places in a palette of such.
    let isRGB: Bool

    init(_ pixelFormat: String) {
        isRGB = ["rgb", "bgr", "gbr", "argb", "abgr", "0rgb", "0bgr", "pal8"].contains { pixelFormat.hasPrefix($0) }
        let samples: Double =
            if pixelFormat.hasPrefix("gray") || pixelFormat.hasPrefix("mono") || pixelFormat == "pal8" {
                1
            } else if pixelFormat.contains("420") || pixelFormat.hasPrefix("nv") || pixelFormat.hasPrefix("p01") {
                1.5
            } else if pixelFormat.contains("422") || pixelFormat.contains("440") {
                2
            } else {
                3
            }
        hasAlpha = ["yuva", "gbrap", "rgba", "bgra", "argb", "abgr", "ya"].contains { pixelFormat.hasPrefix($0) }
        let isWide = ["9", "10", "12", "14", "16", "48", "64"].contains { depth in
            ["", "le", "be"].contains { pixelFormat.hasSuffix(depth + $0) }
        }
        let bytesPerSample: Double = pixelFormat.contains("f32") ? 4 : isWide ? 2 : 1
        opaqueBytesPerPixel = samples * bytesPerSample
        bytesPerPixel = opaqueBytesPerPixel + (hasAlpha ? bytesPerSample : 0)
    }
}
