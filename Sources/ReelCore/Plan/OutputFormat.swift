/// The format of the output's video, whatever its sources are.
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
    /// The pixel format, as FFmpeg spells it.
    package var pixelFormat: String
    /// The nominal frame rate passed to the encoder, in frames per second. Timestamps do not depend on it.
    package var frameRate: Rational
    /// Which field of an interlaced frame is shown first.
    package var fieldOrder: FieldOrder
    /// Whether the field order differs between frames.
    package var fieldsVary: Bool

    package init(
        timeBase: TimeBase, width: Int, height: Int, sampleAspectRatio: Rational? = nil,
        displayMatrix: [Int32]? = nil, pixelFormat: String, frameRate: Rational, fieldOrder: FieldOrder = .unknown,
        fieldsVary: Bool = false
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

    /// The format of a source played in these directions, with its pixels converted only to `pixelFormat`. If it is played
    /// in both, the order of its fields varies.
    ///
    /// - Parameters:
    ///   - timeBase: the output's clock.
    ///   - others: streams of other sources that are shown, too.
    ///   - size: the size of the pictures, which are then upright and have square pixels; nil leaves them as they are.
    ///   - isUpright: whether the pictures themselves are turned, so that players need not turn them.
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

    /// Whether pictures of a stream are shown in this format without being scaled, turned or given other colours.
    ///
    /// - Parameter main: the stream whose colours the output has.
    package func takes(_ stream: VideoStream, beside main: VideoStream) -> Bool {
        stream.fits(main) && width == main.width && height == main.height
            && (sampleAspectRatio ?? Rational(1)) == (main.sampleAspectRatio ?? Rational(1))
            && displayMatrix == main.displayMatrix
            && PictureLayout(pixelFormat).isRGB == PictureLayout(main.pixelFormat).isRGB
    }

    /// Bytes of a picture.
    var frameBytes: Int64 { Int64(Double(width * height) * PictureLayout(pixelFormat).bytesPerPixel) }
}
