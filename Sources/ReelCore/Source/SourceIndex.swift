/// What recon found in a source: everything that planning and decoding need, without the payload.
package struct SourceIndex: Equatable, Sendable {
    /// The demuxer's name as libavformat spells it, for example "mov,mp4,m4a,3gp,3g2,mj2".
    package var format: String
    /// The size of the source in bytes.
    package var fileSize: Int64
    /// The start of the file's clock, in seconds. The times of a spec's range count from here, as in ffmpeg.
    package var startTime: Rational
    /// The main video.
    package var video: VideoTrack
    /// The audio tracks that can be kept, in the order of the file.
    package var audio: [AudioTrack]
    /// Text subtitle tracks.
    package var subtitles: [SubtitleTrack]
    /// The chapters.
    package var chapters: [Chapter]
    /// Covers and attached files.
    package var attachments: [Attachment]
    /// Tags of the whole file, in their order there.
    package var metadata: [MetadataEntry]
    /// Whether the video's packets can be shown in another order without being decoded.
    package var passthrough: PassthroughSupport
    /// The losses and repairs.
    package var diagnostics: [Diagnostic]

    package init(
        format: String, fileSize: Int64, startTime: Rational, video: VideoTrack, audio: [AudioTrack],
        subtitles: [SubtitleTrack] = [], chapters: [Chapter] = [], attachments: [Attachment] = [],
        metadata: [MetadataEntry],
        passthrough: PassthroughSupport, diagnostics: [Diagnostic]
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
    /// The name.
    package var name: String
    /// The value.
    package var value: String

    package init(name: String, value: String) {
        self.name = name
        self.value = value
    }
}

/// The main video: its parameters, and all its packets, frames and RAPs.
package struct VideoTrack: Equatable, Sendable {
    /// The parameters of the stream.
    package var stream: VideoStream
    /// The packets in decode order, as the demuxer gives them.
    package var packets: [PacketEntry]
    /// The frames in presentation order. Their intervals increase and do not overlap.
    package var frames: [FrameEntry]
    /// The RAPs in decode order; decoding the whole file starts at the first.
    package var randomAccessPoints: [RandomAccessPoint]
    /// What each frame looks like, if the whole source was decoded; empty if only tables and headers were read.
    package var pictures: [DecodedPicture]

    package init(
        stream: VideoStream, packets: [PacketEntry], frames: [FrameEntry], randomAccessPoints: [RandomAccessPoint],
        pictures: [DecodedPicture] = []
    ) {
        self.stream = stream
        self.packets = packets
        self.frames = frames
        self.randomAccessPoints = randomAccessPoints
        self.pictures = pictures
    }

    /// The video of a source that is only heard: no frames.
    package static let none = VideoTrack(
        stream: VideoStream(
            index: -1, codec: "none", width: 0, height: 0, pixelFormat: "none", timeBase: TimeBase(1, 1),
            frameRate: nil, sampleAspectRatio: nil, displayMatrix: nil, colour: ColourTags(), fieldOrder: .unknown,
            reorderDepth: 0, frameBytes: 0, details: TrackDetails()),
        packets: [], frames: [], randomAccessPoints: [])

    /// The frame's likeness; nil if unknown.
    package func picture(of frame: Int) -> DecodedPicture? { pictures.indices.contains(frame) ? pictures[frame] : nil }

    /// E, the end of the last frame; the clock's zero if there are no frames.
    package var end: Timestamp { frames.last?.interval.end ?? Timestamp(0) }

    /// The index of the frame that is shown from this time on; nil if no frame begins then.
    package func frame(at pts: Timestamp?) -> Int? {
        guard let pts else { return nil }
        let place = frames.partitioningIndex { $0.interval.start >= pts }
        return place < frames.count && frames[place].interval.start == pts ? place : nil
    }
}

/// One packet as the demuxer gives it.
package struct PacketEntry: Hashable, Sendable {
    /// Presentation time, repaired if the file states none or a duplicate.
    package var pts: Timestamp
    /// Decode time as the demuxer gives it; the presentation time if it gives none.
    package var dts: Timestamp
    /// Byte position in the file; −1 if unknown.
    package var position: Int64
    /// Bytes of payload.
    package var size: Int32
    /// The container's statements about the packet.
    package var flags: Flags

    package init(pts: Timestamp, dts: Timestamp, size: Int32, position: Int64, flags: Flags) {
        self.pts = pts
        self.dts = dts
        self.size = size
        self.position = position
        self.flags = flags
    }

    /// What a container states about a packet.
    package struct Flags: OptionSet, Hashable, Sendable {
        /// One bit for each flag.
        package let rawValue: UInt8
        /// Makes a set of the flags with these bits.
        package init(rawValue: UInt8) { self.rawValue = rawValue }
        /// The container flags it as a key frame.
        package static let key = Flags(rawValue: 1)
        /// It is decoded but not shown, because an edit list hides it.
        package static let discarded = Flags(rawValue: 2)
    }
}

/// One frame that is shown.
package struct FrameEntry: Hashable, Sendable {
    /// When the frame is shown, in ticks of the video's time base.
    package var interval: Interval
    /// The index of its first packet in `VideoTrack.packets`.
    package var packet: Int32

    package init(interval: Interval, packet: Int32) {
        self.interval = interval
        self.packet = packet
    }
}

/// A random access point: a packet at which decoding can really start.
package struct RandomAccessPoint: Hashable, Sendable {
    /// The first packet to decode: its index in `VideoTrack.packets`.
    package var packet: Int32
    /// The first frame, in presentation order, from which on every frame decodes correctly: its index in
    /// `VideoTrack.frames`.
    package var frame: Int32

    package init(packet: Int32, frame: Int32) {
        self.packet = packet
        self.frame = frame
    }
}
