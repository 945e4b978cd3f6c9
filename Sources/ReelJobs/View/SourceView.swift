public import ReelCore

/// What recon found in a source, as video engineers speak of it. Documented in docs/json.md; names only ever get added.
public struct SourceView: Codable, Hashable, Sendable {
    /// The demuxer's name as FFmpeg spells it.
    public var format: String
    /// Bytes of the file.
    public var size: Int64
    /// Seconds on the file's clock: where it starts, and where the video does.
    public var start: Double
    public var videoStart: Double
    /// Seconds from the first frame to the end of the last.
    public var seconds: Double
    public var video: VideoView
    public var groups: GroupsView
    public var audio: [AudioView]
    public var texts: [TextView]
    public var chapters: Int
    /// Covers and attached files, by their codec or media type.
    public var attachments: [String]

    public struct VideoView: Codable, Hashable, Sendable {
        public var stream: Int
        public var codec: String
        public var profile: String?
        /// As the codec counts it: 40 is level 4.0 of H.264, 120 that of HEVC.
        public var level: Int?
        public var width: Int
        public var height: Int
        public var pixelFormat: String
        /// "64:45" and "16:9"; missing where pixels are square or nothing is said.
        public var sampleAspectRatio: String?
        public var displayAspectRatio: String?
        /// Degrees clockwise that a player turns the picture; missing for 0.
        public var rotation: Int?
        /// "30000/1001".
        public var frameRate: String?
        public var isVariableRate: Bool
        /// Seconds that a frame lasts, the last frame not counted.
        public var shortestFrame: Double
        public var longestFrame: Double
        public var frames: Int
        public var packets: Int
        /// Packets that are decoded and not shown, as an edit list wants.
        public var hiddenPackets: Int
        public var fieldOrder: FieldOrder
        public var colour: ColourTags
    }

    /// From each random access point to the next, in frames.
    public struct GroupsView: Codable, Hashable, Sendable {
        public var count: Int
        public var shortest: Int
        public var longest: Int
        public var average: Double
        /// Groups with frames that are shown before their random access point and decoded after it.
        public var open: Int
        /// Frames that are shown before one decoded earlier, as B-frames are, and how many a decoder holds back.
        public var reorderedFrames: Int
        public var reorderDepth: Int
    }

    public struct AudioView: Codable, Hashable, Sendable {
        public var stream: Int
        public var codec: String
        public var profile: String?
        public var sampleRate: Int
        public var channelLayout: String
        public var sampleFormat: String
        public var bitsPerSample: Int?
        /// Bits per second on average.
        public var bitrate: Int64
        /// Seconds against the first frame of the video.
        public var start: Double
        public var end: Double
        public var language: String?
        public var title: String?
    }

    public struct TextView: Codable, Hashable, Sendable {
        public var stream: Int
        public var codec: String
        public var cues: Int
        public var language: String?
    }

    public init(_ index: SourceIndex) {
        let track = index.video
        let base = track.stream.timeBase
        let zero = track.frames.first.map { base.seconds($0.interval.start) } ?? Rational(0)
        format = index.format
        size = index.fileSize
        start = index.startTime.approximate
        videoStart = zero.approximate
        seconds = (base.seconds(track.end) - zero).approximate
        video = VideoView(track)
        groups = GroupsView(track)
        audio = index.audio.map { AudioView($0, zero: zero) }
        texts = index.subtitles.map { text in
            TextView(
                stream: text.parameters.index, codec: text.parameters.codec, cues: text.cues.count,
                language: text.parameters.details.language)
        }
        chapters = index.chapters.count
        attachments = index.attachments.map { $0.isCover ? "cover (\($0.codec))" : $0.mediaType }
    }
}

extension SourceView.VideoView {
    init(_ track: VideoTrack) {
        let own = track.stream
        let durations = track.frames.dropLast().lazy.map(\.interval.duration)
        let (least, most) = (durations.min() ?? .zero, durations.max() ?? .zero)
        stream = own.index
        codec = own.codec
        profile = own.profile
        level = own.level
        (width, height, pixelFormat) = (own.width, own.height, own.pixelFormat)
        if let aspect = own.sampleAspectRatio, aspect != Rational(1) {
            sampleAspectRatio = "\(aspect.numerator):\(aspect.denominator)"
            let shown = aspect * Rational(Int64(own.width), Int64(max(own.height, 1)))
            displayAspectRatio = "\(shown.numerator):\(shown.denominator)"
        }
        rotation = own.displayMatrix.flatMap(Self.degrees)
        frameRate = own.frameRate?.description
        // A clock that the rate does not divide makes durations differ by a tick; MPEG-4's whole milliseconds by two.
        isVariableRate = (most - least).count > 1 && own.timeBase.seconds(most - least) > Rational(2, 1000)
        shortestFrame = own.timeBase.seconds(least).approximate
        longestFrame = own.timeBase.seconds(most).approximate
        frames = track.frames.count
        packets = track.packets.count
        hiddenPackets = track.packets.count { $0.flags.contains(.discarded) }
        fieldOrder = own.fieldOrder
        colour = own.colour
    }

    /// Of a display matrix without shear (ISO 14496-12 8.3.2) whose turn is a quarter, a half or three quarters.
    private static func degrees(_ matrix: [Int32]) -> Int? {
        guard matrix.count == 9 else { return nil }
        switch (matrix[0].signum(), matrix[1].signum(), matrix[3].signum(), matrix[4].signum()) {
        case (0, 1, -1, 0): return 90
        case (-1, 0, 0, -1): return 180
        case (0, -1, 1, 0): return 270
        default: return nil
        }
    }
}

extension SourceView.GroupsView {
    init(_ track: VideoTrack) {
        let points = track.randomAccessPoints
        let starts = points.map { Int($0.frame) } + [track.frames.count]
        let lengths = zip(starts, starts.dropFirst()).map { max($1 - $0, 0) }
        count = points.count
        shortest = lengths.min() ?? 0
        longest = lengths.max() ?? 0
        average = lengths.isEmpty ? 0 : Double(lengths.reduce(0, +)) / Double(lengths.count)
        var (leading, reordered, earliest): (Set<Int>, Int, Int32) = ([], 0, .max)
        // That of a frame's packet: nearly always that of the frame after it, too.
        var group = points.count - 1
        for place in track.frames.indices.reversed() {
            let frame = track.frames[place]
            while group >= 0, points[group].packet > frame.packet { group -= 1 }
            while group + 1 < points.count, points[group + 1].packet <= frame.packet { group += 1 }
            if group >= 0, place < Int(points[group].frame) { leading.insert(group) }
            if frame.packet > earliest { reordered += 1 }
            earliest = min(earliest, frame.packet)
        }
        open = leading.count
        reorderedFrames = reordered
        reorderDepth = track.stream.reorderDepth
    }
}

extension SourceView.AudioView {
    init(_ track: AudioTrack, zero: Rational) {
        stream = track.index
        codec = track.codec
        profile = track.profile
        sampleRate = track.sampleRate
        channelLayout = track.channelLayout
        sampleFormat = track.sampleFormat
        bitsPerSample = track.bitsPerSample
        let length = track.timeBase.seconds(track.span.duration).approximate
        bitrate = length > 0 ? Int64((Double(track.bytes) * 8 / length).rounded()) : 0
        start = (track.timeBase.seconds(track.span.start) - zero).approximate
        end = (track.timeBase.seconds(track.span.end) - zero).approximate
        language = track.details.language
        title = track.details.title
    }
}
