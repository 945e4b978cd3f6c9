/// What the output's video is, whatever its sources are.
public struct OutputFormat: Hashable, Codable, Sendable {
    /// The output's clock, in which its video's timestamps count.
    public var timeBase: TimeBase
    public var width: Int
    public var height: Int
    /// As FFmpeg spells it.
    public var pixelFormat: String
    /// Frames per second that the encoder is told; timestamps are exact beside it.
    public var frameRate: Rational
    /// Which field of an interlaced frame is shown first.
    public var fieldOrder: FieldOrder
    /// Whether frames differ in that.
    public var fieldsVary: Bool

    public init(
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

    /// The format of a source played in one direction, its pixels as they are but for their format.
    public init(of stream: VideoStream, _ direction: Direction, pixelFormat: String) {
        self.init(
            timeBase: stream.timeBase, width: stream.width, height: stream.height, pixelFormat: pixelFormat,
            frameRate: stream.frameRate ?? Rational(25), fieldOrder: direction.fields(stream.fieldOrder),
            fieldsVary: stream.fieldsVary)
    }

    public enum CodingKeys: String, CodingKey {
        case timeBase = "timeBase"
        case width = "width"
        case height = "height"
        case pixelFormat = "pixelFormat"
        case frameRate = "frameRate"
        case fieldOrder = "fieldOrder"
        case fieldsVary = "fieldsVary"
    }
}
