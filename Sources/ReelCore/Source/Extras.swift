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

    /// The chapters of a clip as the output has them, in order; one of which nothing is shown is left out. One without an
    /// end lasts until the next one starts.
    public static func placed(_ chapters: [Chapter], by clip: Clip, of track: VideoTrack) -> [Chapter] {
        let starts = chapters.map(\.start).sorted()
        let placed = chapters.compactMap { chapter -> Chapter? in
            var end = chapter.end
            if end <= chapter.start {
                end =
                    starts[starts.partitioningIndex { $0 > chapter.start }...].first
                    ?? clip.map.span.upperBound
            }
            guard chapter.start < end, let place = clip.place(chapter.start..<end, in: track) else { return nil }
            return Chapter(start: place.lowerBound, end: place.upperBound, title: chapter.title)
        }
        let order = clip.direction.order(Array(placed.indices)).enumerated()
            .sorted { (placed[$0.element].start, $0.offset) < (placed[$1.element].start, $1.offset) }
        return order.map { placed[$0.element] }
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
