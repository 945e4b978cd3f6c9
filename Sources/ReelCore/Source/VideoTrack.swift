/// The main video: its parameters, and all its packets, frames and RAPs.
package struct VideoTrack: Equatable, Sendable {
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

    /// The video of a source without pictures whose sound a job shows: one frame that lasts as long as the sound, on a
    /// clock that counts its samples.
    package static func sound(_ span: Interval, clock: TimeBase) -> VideoTrack {
        var track = VideoTrack.none
        track.stream.timeBase = clock
        track.packets = [PacketEntry(pts: span.start, dts: span.start, size: 0, position: -1, flags: .key)]
        track.frames = [FrameEntry(interval: span, packet: 0)]
        track.randomAccessPoints = [RandomAccessPoint(packet: 0, frame: 0)]
        return track
    }

    /// Whether there are no pictures.
    package var isNone: Bool { stream.index < 0 }

    /// Nil if the source was not decoded.
    package func picture(of frame: Int) -> DecodedPicture? { pictures.indices.contains(frame) ? pictures[frame] : nil }

    /// E, the end of the last frame; the clock's zero if there are no frames.
    package var end: Timestamp { frames.last?.interval.end ?? Timestamp(0) }

    /// The index of the frame that is shown from this time on; nil if no frame begins then.
    package func frame(at pts: Timestamp?) -> Int? {
        guard let pts else { return nil }
        let place = frames.partitioningIndex { $0.interval.start >= pts }
        return place < frames.count && frames[place].interval.start == pts ? place : nil
    }

    /// The source's bits per second for these frames, at least 1; nil if their durations add up to 0.
    package func bitrate(of range: Range<Int>) -> Int64? {
        guard let first = frames[range].first, let last = frames[range].last else { return nil }
        let seconds = stream.timeBase.seconds(last.interval.end - first.interval.start).approximate
        return seconds > 0 ? max(Int64((bits(of: range) / seconds).rounded()), 1) : nil
    }

    /// The bits that these frames have in the source, if the first of them were a key frame: each segment begins with
    /// one.
    package func bitsFromKey(of range: Range<Int>) -> Double {
        guard let first = range.first else { return 0 }
        let own = Int(frames[first].packet)
        let last = frames[range].map { Int($0.packet) }.max() ?? own
        let keys = randomAccessPoints.map { Int($0.packet) }
        guard !keys.contains(where: { own...max(own, last) ~= $0 }), let key = keys.last(where: { $0 < own }) else {
            return bits(of: range)
        }
        return bits(of: range) + 8 * Double(max(packets[key].size - packets[own].size, 0))
    }

    /// Packets that do not begin a frame, such as second fields, are spread over all frames in proportion.
    private func bits(of range: Range<Int>) -> Double {
        let own = frames[range].reduce(0) { $0 + Int64(packets[Int($1.packet)].size) }
        let owned = frames.reduce(0) { $0 + Int64(packets[Int($1.packet)].size) }
        let all = packets.reduce(0) { $0 + Int64($1.size) }
        return 8 * Double(own) * Double(all) / Double(max(owned, 1))
    }

    /// The size of a read block in bytes, unless a single packet is larger. Files are read forwards, so passthrough
    /// reads a block at a time.
    static let readBlockBytes: Int64 = 16 << 20
    /// Bytes that a packet takes in memory beside its payload.
    private static let packetOverhead: Int64 = 1 << 10

    /// The frames of a range that come first in a direction, and whose packets make a read block; at least one frame.
    package func readBlock(of frames: Range<Int>, _ direction: Direction) -> Range<Int> {
        var (count, bytes) = (0, Int64(0))
        for frame in direction.order(frames) {
            bytes += packetBytes(of: frame)
            guard count == 0 || bytes <= VideoTrack.readBlockBytes else { break }
            count += 1
        }
        return direction == .forwards ? frames.prefix(count) : frames.suffix(count)
    }

    func packetBytes(of frame: Int) -> Int64 {
        Int64(packets[Int(frames[frame].packet)].size) + VideoTrack.packetOverhead
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
    package var size: Int32
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
        package let rawValue: UInt8
        package init(rawValue: UInt8) { self.rawValue = rawValue }
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
