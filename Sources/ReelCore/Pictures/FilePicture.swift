/// A picture in a file of video, found by its time: one of an output, or of a segment of one.
public struct FilePicture: Hashable, Codable, Sendable {
    /// The file.
    public var file: Locator
    /// When it is shown, in seconds from the file's first picture on.
    public var start: Rational
    /// For how long, in seconds. Containers round times; a picture nearer to `start` than half of this is the one.
    public var lasts: Rational

    package init(file: Locator, start: Rational, lasts: Rational) {
        self.file = file
        self.start = start
        self.lasts = lasts
    }

    enum CodingKeys: String, CodingKey {
        case file, start, lasts
    }
}

/// Frames of a source at equal distances.
public struct FrameSample: Hashable, Codable, Sendable {
    /// The first of them, in presentation order.
    public var first: Int
    /// From one to the next; positive.
    public var step: Int
    /// How many; positive.
    public var count: Int

    /// One frame.
    public init(_ frame: Int) { self.init(first: frame, step: 1, count: 1) }

    /// So many frames of `all`, or as many as there are, each in the middle of its part.
    public init(_ count: Int, of all: Int) {
        let count = max(min(count, all), 1)
        let step = max(all / count, 1)
        self.init(first: max(all - 1 - step * (count - 1), 0) / 2, step: step, count: count)
    }

    private init(first: Int, step: Int, count: Int) {
        self.first = first
        self.step = step
        self.count = count
    }

    /// The frames, ascending.
    public var frames: [Int] { (0..<count).map { first + $0 * step } }

    enum CodingKeys: String, CodingKey {
        case first, step, count
    }
}

extension MemoryBudget {
    /// Bytes of an engine that decodes pictures of a stream for people, with this source's index in memory.
    package static func pictures(of index: SourceIndex, as stream: VideoStream) -> Int64 {
        let stated = max(index.video.stream.frameBytes, stream.frameBytes)
        let frames = 24 + Int64(min(max(index.video.stream.reorderDepth, 0), 1000))
        return base([index], packets: 0) + frames * min(max(stated, 1), 1 << 30)
    }
}
