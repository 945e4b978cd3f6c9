/// The format of the output's video, whatever its sources are.
public struct OutputFormat: Hashable, Codable, Sendable {
    /// The output's clock: the unit of its video's timestamps.
    public var timeBase: TimeBase
    /// Pixels in a line; 1 to 65536.
    public var width: Int
    /// Lines; 1 to 65536.
    public var height: Int
    /// The pixel format, as FFmpeg spells it.
    public var pixelFormat: String
    /// The nominal frame rate passed to the encoder, in frames per second. Timestamps do not depend on it.
    public var frameRate: Rational
    /// Which field of an interlaced frame is shown first.
    public var fieldOrder: FieldOrder
    /// Whether the field order differs between frames.
    public var fieldsVary: Bool

    package init(
        timeBase: TimeBase, width: Int, height: Int, pixelFormat: String, frameRate: Rational,
        fieldOrder: FieldOrder = .unknown, fieldsVary: Bool = false
    ) {
        self.timeBase = timeBase
        self.width = width
        self.height = height
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
    public init(
        of stream: VideoStream, _ directions: Set<Direction>, timeBase: TimeBase, pixelFormat: String,
        beside others: [VideoStream] = []
    ) {
        let turns = directions.count > 1 && stream.fieldOrder.isInterlaced
        let differ = others.contains { $0.fieldsVary || $0.fieldOrder != stream.fieldOrder }
        self.init(
            timeBase: timeBase, width: stream.width, height: stream.height, pixelFormat: pixelFormat,
            frameRate: stream.frameRate ?? Rational(25),
            fieldOrder: (directions.contains(.forwards) ? .forwards : Direction.backwards).fields(stream.fieldOrder),
            fieldsVary: stream.fieldsVary || turns || differ)
    }

    package enum CodingKeys: String, CodingKey {
        case timeBase = "timeBase"
        case width = "width"
        case height = "height"
        case pixelFormat = "pixelFormat"
        case frameRate = "frameRate"
        case fieldOrder = "fieldOrder"
        case fieldsVary = "fieldsVary"
    }
}
