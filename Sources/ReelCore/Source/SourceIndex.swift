/// What recon found in a source: everything that planning and decoding need, without the payload.
package struct SourceIndex: Equatable, Sendable {
    /// The demuxer's name as libavformat spells it, for example "mov,mp4,m4a,3gp,3g2,mj2".
    package var format: String
    package var fileSize: Int64
    /// The start of the file's clock, in seconds. The times of a spec's range count from here, as in ffmpeg.
    package var startTime: Rational
    package var video: VideoTrack
    /// The audio tracks that can be kept, in the order of the file.
    package var audio: [AudioTrack]
    package var subtitles: [SubtitleTrack]
    package var chapters: [Chapter]
    package var attachments: [Attachment]
    package var metadata: [MetadataEntry]
    /// Whether the video's packets can be shown in another order without being decoded.
    package var passthrough: PassthroughSupport
    package var diagnostics: [Diagnostic]

    package init(
        format: String, fileSize: Int64, startTime: Rational, video: VideoTrack, audio: [AudioTrack],
        subtitles: [SubtitleTrack] = [], chapters: [Chapter] = [], attachments: [Attachment] = [],
        metadata: [MetadataEntry], passthrough: PassthroughSupport, diagnostics: [Diagnostic]
    ) {
        self.format = format
        self.fileSize = fileSize
        self.startTime = startTime
        self.video = video
        self.audio = audio
        self.subtitles = subtitles
        self.chapters = chapters
        self.attachments = attachments
        self.metadata = metadata
        self.passthrough = passthrough
        self.diagnostics = diagnostics
    }
}

/// A tag of a file: a name with its value.
package struct MetadataEntry: Hashable, Codable, Sendable {
    package var name: String
    package var value: String

    package init(name: String, value: String) {
        self.name = name
        self.value = value
    }
}

/// A chapter of the source, in seconds on its clock.
package struct Chapter: Hashable, Codable, Sendable {
    package var start: Rational
    /// When the chapter ends. Not after `start` if the source states no usable end.
    package var end: Rational
    package var title: String?

    package init(start: Rational, end: Rational, title: String?) {
        self.start = start
        self.end = end
        self.title = title
    }

    /// The chapters of a clip in the output, in order, in seconds on the output's clock. Chapters that are not shown
    /// are left out. A chapter without an end lasts until the next one starts.
    package static func placed(_ chapters: [Chapter], by clip: Clip, of track: VideoTrack) -> [Chapter] {
        let starts = chapters.map(\.start).sorted()
        let placed = chapters.compactMap { chapter -> Chapter? in
            var end = chapter.end
            if end <= chapter.start {
                end = starts[starts.partitioningIndex { $0 > chapter.start }...].first ?? clip.map.span.upperBound
            }
            guard chapter.start < end, let place = clip.place(chapter.start..<end, in: track) else { return nil }
            return Chapter(start: place.lowerBound, end: place.upperBound, title: chapter.title)
        }
        let order = clip.direction.order(Array(placed.indices)).enumerated()
            .sorted { (placed[$0.element].start, $0.offset) < (placed[$1.element].start, $1.offset) }
        return order.map { placed[$0.element] }
    }
}

/// A cover or a file that the source stores beside its streams. Its bytes stay in the source.
package struct Attachment: Hashable, Codable, Sendable {
    /// The stream's index in the file.
    package var index: Int
    /// Whether it is a cover: a picture that represents the whole file.
    package var isCover: Bool
    /// The codec's name as FFmpeg spells it, for example "mjpeg" or "ttf"; "none" if it is unknown.
    package var codec: String
    /// The name under which the container stores the file; empty if unspecified.
    package var fileName: String
    /// The MIME type, for example "image/jpeg".
    package var mediaType: String
    package var title: String?
    package var bytes: Int64

    package init(
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
}

/// Descriptions of a track for people and players.
package struct TrackDetails: Hashable, Codable, Sendable {
    /// ISO 639-2 code; nil if unspecified.
    package var language: String?
    package var title: String?
    /// FFmpeg's AV_DISPOSITION_* names, for example "default".
    package var dispositions: [String]

    package init(language: String? = nil, title: String? = nil, dispositions: [String] = []) {
        self.language = language
        self.title = title
        self.dispositions = dispositions
    }
}
