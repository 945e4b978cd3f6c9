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

/// An audio track. Codec, channel layout and sample format are named as FFmpeg names them: "aac", "5.1(side)", "fltp".
package struct AudioTrack: Hashable, Codable, Sendable {
    package var index: Int
    package var codec: String
    package var sampleRate: Int
    package var channels: Int
    package var channelLayout: String
    /// The decoder's.
    package var sampleFormat: String
    /// Significant bits of each sample if the codec states them: 24 in samples of 32 bits.
    package var bitsPerSample: Int?
    package var profile: String?
    package var timeBase: TimeBase
    /// From the time of the first packet to the end of the last, as the container states them. What is really heard is
    /// known only after decoding.
    package var span: Interval
    package var bytes: Int64
    /// Nil if the packets have holes or other times than their samples, and for short tracks: then decoding begins at
    /// the first packet.
    package var steady: SteadySound?
    package var parameters: CodecParameters
    package var details: TrackDetails

    package init(
        index: Int, codec: String, sampleRate: Int, channels: Int, channelLayout: String, sampleFormat: String,
        bitsPerSample: Int? = nil, profile: String? = nil, timeBase: TimeBase, span: Interval, bytes: Int64,
        steady: SteadySound? = nil, parameters: CodecParameters = CodecParameters(), details: TrackDetails
    ) {
        self.index = index
        self.codec = codec
        self.sampleRate = sampleRate
        self.channels = channels
        self.channelLayout = channelLayout
        self.sampleFormat = sampleFormat
        self.bitsPerSample = bitsPerSample
        self.profile = profile
        self.timeBase = timeBase
        self.span = span
        self.bytes = bytes
        self.steady = steady
        self.parameters = parameters
        self.details = details
    }
}

/// The parameters with which a container stores a stream's packets unchanged: the part of libavcodec's
/// AVCodecParameters that audio packets need.
package struct CodecParameters: Hashable, Codable, Sendable {
    /// The decoder's set-up data, in hexadecimal; may be empty.
    package var extradata: String
    /// Samples per channel in each packet; 0 if it varies.
    package var frameSize: Int
    /// Bytes of a block of samples in the container (AVCodecParameters.block_align); 0 if unspecified.
    package var blockAlign: Int
    /// Bits per second on average; 0 if unknown.
    package var bitrate: Int64
    package var profile: Int
    /// Bits per sample as coded; 0 if unspecified.
    package var bitsPerCodedSample: Int
    /// Significant bits per sample; 0 if unspecified.
    package var bitsPerRawSample: Int
    /// Samples that a decoder must get before its output is correct.
    package var seekPreroll: Int

    package init(
        extradata: String = "", frameSize: Int = 0, blockAlign: Int = 0, bitrate: Int64 = 0, profile: Int = -99,
        bitsPerCodedSample: Int = 0, bitsPerRawSample: Int = 0, seekPreroll: Int = 0
    ) {
        self.extradata = extradata
        self.frameSize = frameSize
        self.blockAlign = blockAlign
        self.bitrate = bitrate
        self.profile = profile
        self.bitsPerCodedSample = bitsPerCodedSample
        self.bitsPerRawSample = bitsPerRawSample
        self.seekPreroll = seekPreroll
    }
}
