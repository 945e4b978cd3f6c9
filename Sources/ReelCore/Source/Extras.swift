/// A chapter of the source, in seconds on its clock.
public struct Chapter: Hashable, Codable, Sendable {
    public var start: Rational
    /// Not after `start` where nothing sensible is said.
    public var end: Rational
    public var title: String?

    public init(start: Rational, end: Rational, title: String?) {
        self.start = start
        self.end = end
        self.title = title
    }

    /// The chapters of the reversed video, in order; one of which nothing is shown is left out. One without an end
    /// lasts until the next one starts.
    public static func reversed(_ chapters: [Chapter], on timeline: Timeline, track: VideoTrack) -> [Chapter] {
        let starts = chapters.map(\.start).sorted()
        let turned = chapters.compactMap { chapter -> Chapter? in
            var end = chapter.end
            if end <= chapter.start {
                end =
                    starts[starts.partitioningIndex { $0 > chapter.start }...].first
                    ?? timeline.shown(in: track).upperBound
            }
            guard chapter.start < end, let place = timeline.reversed(chapter.start..<end, in: track) else { return nil }
            return Chapter(start: place.lowerBound, end: place.upperBound, title: chapter.title)
        }
        let order = turned.indices.sorted { (turned[$0].start, -$0) < (turned[$1].start, -$1) }
        return order.map { turned[$0] }
    }

    public enum CodingKeys: String, CodingKey {
        case start = "start"
        case end = "end"
        case title = "title"
    }
}

/// A cover or a file that the source carries beside its streams. Its bytes stay in the source.
public struct Attachment: Hashable, Codable, Sendable {
    /// The stream's place in the file.
    public var index: Int
    /// A picture that stands for the whole file.
    public var isCover: Bool
    /// The codec's name as FFmpeg spells it, for example "mjpeg" or "ttf"; "none" where it has none.
    public var codec: String
    public var fileName: String
    /// As MIME has it, for example "image/jpeg".
    public var mediaType: String
    public var title: String?
    public var bytes: Int64

    public init(
        index: Int, isCover: Bool, codec: String, fileName: String, mediaType: String, title: String?, bytes: Int64
    ) {
        self.index = index
        self.isCover = isCover
        self.codec = codec
        self.fileName = fileName
        self.mediaType = mediaType
        self.title = title
        self.bytes = bytes
    }

    public enum CodingKeys: String, CodingKey {
        case index = "index"
        case isCover = "isCover"
        case codec = "codec"
        case fileName = "fileName"
        case mediaType = "mediaType"
        case title = "title"
        case bytes = "bytes"
    }
}
