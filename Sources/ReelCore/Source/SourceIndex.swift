/// What the reconnaissance of a source found: all that planning and decoding need to know, without the payload.
public struct SourceIndex: Equatable, Sendable {
    /// The demuxer's name as libavformat spells it, for example "mov,mp4,m4a,3gp,3g2,mj2".
    public var format: String
    public var fileSize: Int64
    /// Where the file's clock starts, in seconds: `--from` and `--to` count from here, as ffmpeg does.
    public var startTime: Rational
    public var video: VideoTrack
    public var audio: [AudioTrack]
    /// Subtitles that are text.
    public var texts: [TextTrack]
    public var chapters: [Chapter]
    public var attachments: [Attachment]
    /// Tags of the whole file, in the order of the file.
    public var metadata: [Tag]
    public var passthrough: PassthroughSupport
    /// What the source has that will not be kept, or had to be repaired.
    public var diagnostics: [Diagnostic]

    public init(
        format: String, fileSize: Int64, startTime: Rational, video: VideoTrack, audio: [AudioTrack],
        texts: [TextTrack] = [], chapters: [Chapter] = [], attachments: [Attachment] = [], metadata: [Tag],
        passthrough: PassthroughSupport, diagnostics: [Diagnostic]
    ) {
        self.format = format
        self.fileSize = fileSize
        self.startTime = startTime
        self.video = video
        self.audio = audio
        self.texts = texts
        self.chapters = chapters
        self.attachments = attachments
        self.metadata = metadata
        self.passthrough = passthrough
        self.diagnostics = diagnostics
    }
}

/// A name and its value, as containers keep them.
public struct Tag: Hashable, Codable, Sendable {
    public var name: String
    public var value: String

    public init(name: String, value: String) {
        self.name = name
        self.value = value
    }

    public enum CodingKeys: String, CodingKey {
        case name = "name"
        case value = "value"
    }
}

/// The main video: its parameters, and every packet, frame and random access point of it.
public struct VideoTrack: Equatable, Sendable {
    public var stream: VideoStream
    /// In decode order, as the demuxer gives them.
    public var packets: [PacketEntry]
    /// In presentation order: what is shown, and when. Intervals neither overlap nor go back.
    public var frames: [FrameSlot]
    /// In decode order; the first is where decoding the whole file starts.
    public var randomAccessPoints: [RandomAccessPoint]
    /// What each frame looks like, where the whole source was decoded; empty where tables and headers alone were read.
    public var pictures: [DecodedPicture]

    public init(
        stream: VideoStream, packets: [PacketEntry], frames: [FrameSlot], randomAccessPoints: [RandomAccessPoint],
        pictures: [DecodedPicture] = []
    ) {
        self.stream = stream
        self.packets = packets
        self.frames = frames
        self.randomAccessPoints = randomAccessPoints
        self.pictures = pictures
    }

    /// What the frame looks like, where that is known.
    public func picture(of frame: Int) -> DecodedPicture? { pictures.indices.contains(frame) ? pictures[frame] : nil }

    /// The end of the last frame, E; the clock's zero where there is no frame.
    public var end: Timestamp { frames.last?.interval.end ?? Timestamp(0) }

    /// Of a track that was not read to its end, leaves what is known for certain: the frames before the last RAP but one,
    /// whose leading pictures were all read and from which on another pass can start.
    public mutating func keepHead() {
        randomAccessPoints.removeLast(min(1, randomAccessPoints.count))
        let end = Int(randomAccessPoints.popLast()?.frame ?? 0)
        let lastPacket = frames[..<end].map(\.packet).max() ?? -1
        // The frame behind may begin later than the second field of this one.
        let next = frames[end...].map(\.packet).filter { $0 > lastPacket }.min() ?? Int32(packets.count)
        frames.removeSubrange(end...)
        pictures = Array(pictures.prefix(end))
        packets.removeSubrange(Int(next)...)
    }

    /// Whether all of `head` is here, and at the beginning: then its frames are these.
    public func begins(with head: VideoTrack) -> Bool {
        stream == head.stream && packets.starts(with: head.packets) && frames.starts(with: head.frames)
            && randomAccessPoints.starts(with: head.randomAccessPoints) && pictures.isEmpty == head.pictures.isEmpty
            && pictures.starts(with: head.pictures)
    }

    /// Which frame is shown from this time on; nil where none begins then.
    public func slot(at pts: Timestamp?) -> Int? {
        guard let pts else { return nil }
        let place = frames.partition { $0.interval.start < pts }
        return place < frames.count && frames[place].interval.start == pts ? place : nil
    }
}

/// One packet as the demuxer gave it.
public struct PacketEntry: Hashable, Sendable {
    /// Presentation time, repaired where the file had none or a duplicate.
    public var pts: Timestamp
    /// Decode time as the demuxer gave it; the presentation time where it gave none.
    public var dts: Timestamp
    /// Byte position in the file, −1 where the demuxer does not know.
    public var position: Int64
    /// Bytes of payload.
    public var size: Int32
    public var flags: Flags

    public init(pts: Timestamp, dts: Timestamp, size: Int32, position: Int64, flags: Flags) {
        self.pts = pts
        self.dts = dts
        self.size = size
        self.position = position
        self.flags = flags
    }

    public struct Flags: OptionSet, Hashable, Sendable {
        public let rawValue: UInt8
        public init(rawValue: UInt8) { self.rawValue = rawValue }
        /// The container calls it a key frame.
        public static let key = Flags(rawValue: 1)
        /// Decoded but not shown: an edit list hides it.
        public static let discarded = Flags(rawValue: 2)
    }
}

/// One frame that is shown: when, and by which packet it begins.
public struct FrameSlot: Hashable, Sendable {
    public var interval: Interval
    /// Its first packet's place in `VideoTrack.packets`.
    public var packet: Int32

    public init(interval: Interval, packet: Int32) {
        self.interval = interval
        self.packet = packet
    }
}

/// Where decoding can really start.
public struct RandomAccessPoint: Hashable, Sendable {
    /// The packet to feed first: its place in `VideoTrack.packets`.
    public var packet: Int32
    /// The first frame, in presentation order, from which on every frame decodes correctly.
    public var frame: Int32

    public init(packet: Int32, frame: Int32) {
        self.packet = packet
        self.frame = frame
    }
}
