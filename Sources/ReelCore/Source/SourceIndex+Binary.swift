/// The index as a file: "REELIDX", a version byte, the parameters as JSON, the tables as differences, a checksum.
///
///     packet   DTS step less the previous step · PTS − DTS · size · position − end of the previous payload · flags
///     frame    packet − previous packet − 1 · start − that packet's PTS
///     duration only of frames that do not last until the next one starts: place − previous such place · ticks
///     RAP      packet − previous · frame − previous
///     picture  hash · likeness · flags: damaged, of another size than the one before, of another pixel format than the
///              first · width · height; none if the source was not decoded
///     cue      start − previous start · duration · payload · identifier · settings
///
/// A regular packet takes about 8 bytes, a regular frame 2.
extension SourceIndex {
    private static let magic = Array("REELIDX".utf8)
    /// The format version. It grows when the meaning of an index changes.
    package static let version: UInt8 = 6

    /// The index as bytes. Equal indexes give equal bytes.
    package func encoded() -> [UInt8] {
        var writer = IndexEncoder()
        writer.reserve(4096 + video.packets.count * 10 + video.frames.count * 2)
        writer.append(Self.magic)
        writer.append(Self.version)
        let parameters = CanonicalJSON.bytes(
            ofSafe: StoredParameters(
                format: format, fileSize: fileSize, startTime: startTime, stream: video.stream, audio: audio,
                subtitles: subtitles.map(\.parameters), chapters: chapters, attachments: attachments,
                metadata: metadata, passthrough: passthrough, diagnostics: diagnostics))
        writer.unsigned(UInt64(parameters.count))
        writer.append(parameters)
        writer.write(video.packets)
        writer.write(video.frames, packets: video.packets)
        writer.write(video.randomAccessPoints)
        writer.write(video.pictures)
        for track in subtitles { writer.write(track.cues) }
        writer.seal()
        return writer.bytes
    }

    /// Decodes what `encoded()` wrote. Fails with kind `.job` if the bytes are damaged, of another version, or
    /// impossible: references outside the tables, overlapping frames, times beyond ±2⁶⁰ ticks, clocks that no
    /// arithmetic can divide.
    package init(decoding bytes: [UInt8]) throws(ReelFailure) {
        guard bytes.starts(with: Self.magic), bytes.count > Self.magic.count else {
            throw ReelFailure(.indexDamaged(offset: 0, flaw: .start))
        }
        let version = bytes[Self.magic.count]
        guard version == Self.version else {
            throw ReelFailure(.indexVersion(version: Int(version), supported: Int(Self.version)))
        }
        var reader = try IndexDecoder(sealed: bytes)
        _ = try reader.bytes(Self.magic.count + 1)
        let json = try reader.list()
        let parameters: StoredParameters
        do {
            parameters = try CanonicalJSON.value(StoredParameters.self, from: json)
        } catch {
            throw reader.damaged(.parameters)
        }
        guard parameters.isSound else { throw reader.damaged(.parameters) }
        let packets = try reader.packets()
        let frames = try reader.frames(of: packets)
        let points = try reader.randomAccessPoints(packets: packets.count, frames: frames.count)
        let pictures = try reader.pictures(frames: frames.count)
        var subtitles: [SubtitleTrack] = []
        for text in parameters.subtitles { subtitles.append(SubtitleTrack(parameters: text, cues: try reader.cues())) }
        guard reader.remaining == 0 else { throw reader.damaged(.excess) }
        self.init(
            format: parameters.format, fileSize: parameters.fileSize, startTime: parameters.startTime,
            video: VideoTrack(
                stream: parameters.stream, packets: packets, frames: frames, randomAccessPoints: points,
                pictures: pictures),
            audio: parameters.audio, subtitles: subtitles, chapters: parameters.chapters,
            attachments: parameters.attachments, metadata: parameters.metadata, passthrough: parameters.passthrough,
            diagnostics: parameters.diagnostics)
    }

    /// The index without its tables.
    private struct StoredParameters: Codable {
        var format: String
        var fileSize: Int64
        var startTime: Rational
        var stream: VideoStream
        var audio: [AudioTrack]
        var subtitles: [SubtitleTrack.Parameters]
        var chapters: [Chapter]
        var attachments: [Attachment]
        var metadata: [MetadataEntry]
        var passthrough: PassthroughSupport
        var diagnostics: [Diagnostic]

        /// Whether other code can multiply sizes and divide clocks, and the board can keep what is reported.
        var isSound: Bool {
            let sizes = 0...1 << 16
            return sizes.contains(stream.width) && sizes.contains(stream.height)
                && ([stream.timeBase] + audio.map(\.timeBase) + subtitles.map(\.timeBase)).allSatisfy(\.isSound)
                && audio.allSatisfy { $0.steady?.isSound ?? true && $0.sampleRate > 0 }
                && ((try? CanonicalJSON.bytes(of: diagnostics))?.count).map { $0 <= Self.mostReported } ?? false
        }

        /// Bytes of the diagnostics as JSON: one for each of a thousand streams.
        private static let mostReported = 1 << 20

        enum CodingKeys: String, CodingKey {
            case format, fileSize, startTime, stream, audio, chapters, attachments, metadata, diagnostics
            case subtitles = "texts"
            case passthrough = "reordering"
        }
    }
}

extension IndexEncoder {
    fileprivate mutating func write(_ packets: [PacketEntry]) {
        unsigned(UInt64(packets.count))
        var (dts, step, end): (Int64, Int64, Int64) = (0, 0, 0)
        for packet in packets {
            let newStep = packet.dts.ticks &- dts
            signed(newStep &- step)
            signed(packet.pts.ticks &- packet.dts.ticks)
            signed(Int64(packet.size))
            signed(packet.position &- end)
            append(packet.flags.rawValue)
            (dts, step, end) = (packet.dts.ticks, newStep, packet.position &+ Int64(packet.size))
        }
    }

    fileprivate mutating func write(_ frames: [FrameEntry], packets: [PacketEntry]) {
        unsigned(UInt64(frames.count))
        var previous: Int64 = -1
        for frame in frames {
            signed(Int64(frame.packet) - previous - 1)
            signed(frame.interval.start.ticks &- packets.pts(of: frame.packet))
            previous = Int64(frame.packet)
        }
        let irregular = frames.indices.filter { place in
            place + 1 == frames.count || frames[place].interval.end != frames[place + 1].interval.start
        }
        unsigned(UInt64(irregular.count))
        var place = 0
        for next in irregular {
            unsigned(UInt64(next - place))
            signed(frames[next].interval.duration.count)
            place = next
        }
    }

    fileprivate mutating func write(_ points: [RandomAccessPoint]) {
        unsigned(UInt64(points.count))
        var previous = RandomAccessPoint(packet: 0, frame: 0)
        for point in points {
            signed(Int64(point.packet) - Int64(previous.packet))
            signed(Int64(point.frame) - Int64(previous.frame))
            previous = point
        }
    }

    fileprivate mutating func write(_ pictures: [DecodedPicture]) {
        unsigned(UInt64(pictures.count))
        var size: (width: Int32, height: Int32) = (0, 0)
        for picture in pictures {
            fixed(picture.hash)
            let cells = picture.likeness.cells
            append(cells.indices.map { cells[$0] })
            let isNew = size != (picture.width, picture.height)
            append(
                (picture.isDamaged ? PictureFlag.damaged : 0) | (isNew ? PictureFlag.newSize : 0)
                    | (picture.hasOtherFormat ? PictureFlag.otherFormat : 0))
            guard isNew else { continue }
            signed(Int64(picture.width))
            signed(Int64(picture.height))
            size = (picture.width, picture.height)
        }
    }
}

private enum PictureFlag {
    static let damaged: UInt8 = 1
    static let newSize: UInt8 = 2
    static let otherFormat: UInt8 = 4
    static let all = damaged | newSize | otherFormat
}

extension IndexDecoder {
    fileprivate mutating func pictures(frames: Int) throws(ReelFailure) -> [DecodedPicture] {
        let count = try count(least: 25)
        guard count == 0 || count == frames else { throw damaged(.count) }
        var size: (width: Int32, height: Int32) = (0, 0)
        return try table(of: count) { reader throws(ReelFailure) in
            let hash = fixed(try reader.bytes(8))
            let likeness = Likeness(cells: SIMD16(try reader.bytes(16)))
            let flags = try reader.byte()
            guard flags & ~PictureFlag.all == 0 else { throw reader.damaged(.number) }
            if flags & PictureFlag.newSize != 0 {
                guard let width = Int32(exactly: try reader.signed()), let height = Int32(exactly: try reader.signed()),
                    width > 0, height > 0
                else { throw reader.damaged(.number) }
                size = (width, height)
            }
            return DecodedPicture(
                hash: hash, likeness: likeness, width: size.width, height: size.height,
                isDamaged: flags & PictureFlag.damaged != 0, hasOtherFormat: flags & PictureFlag.otherFormat != 0)
        }
    }

    fileprivate mutating func packets() throws(ReelFailure) -> [PacketEntry] {
        var (dts, step, end): (Int64, Int64, Int64) = (0, 0, 0)
        return try table(of: count(least: 5)) { reader throws(ReelFailure) in
            step &+= try reader.signed()
            dts &+= step
            let pts = dts &+ (try reader.signed())
            guard let size = Int32(exactly: try reader.signed()), size >= 0 else { throw reader.damaged(.packetSize) }
            let position = end &+ (try reader.signed())
            end = position &+ Int64(size)
            guard isTime(dts), isTime(pts) else { throw reader.damaged(.time) }
            return PacketEntry(
                pts: Timestamp(pts), dts: Timestamp(dts), size: size, position: position,
                flags: PacketEntry.Flags(rawValue: try reader.byte()))
        }
    }

    fileprivate mutating func frames(of packets: [PacketEntry]) throws(ReelFailure) -> [FrameEntry] {
        var previous: Int64 = -1
        var frames = try table(of: count(least: 2)) { reader throws(ReelFailure) in
            let packet = previous &+ 1 &+ (try reader.signed())
            guard packets.indices.contains(Int(packet)) else { throw reader.damaged(.framePacket) }
            let start = packets.pts(of: Int32(packet)) &+ (try reader.signed())
            guard isTime(start) else { throw reader.damaged(.time) }
            previous = packet
            return FrameEntry(interval: Interval(start: Timestamp(start), duration: .zero), packet: Int32(packet))
        }
        for place in frames.indices.dropLast() {
            frames[place].interval.duration = frames[place + 1].interval.start - frames[place].interval.start
        }
        try readIrregularDurations(into: &frames)
        for (frame, next) in zip(frames, frames.dropFirst()) where next.interval.start < frame.interval.end {
            throw damaged(.overlap)
        }
        if let last = frames.last, !isTime(last.interval.end.ticks) { throw damaged(.time) }
        return frames
    }

    private mutating func readIrregularDurations(into frames: inout [FrameEntry]) throws(ReelFailure) {
        var place = 0
        for _ in 0..<(try count(least: 2)) {
            guard let step = Int(exactly: try unsigned()), step < frames.count - place else {
                throw damaged(.durationFrame)
            }
            place += step
            frames[place].interval.duration = Ticks(try signed())
        }
        guard frames.allSatisfy({ (0...Timestamp.bound).contains($0.interval.duration.count) }) else {
            throw damaged(.duration)
        }
    }

    fileprivate mutating func randomAccessPoints(packets: Int, frames: Int) throws(ReelFailure) -> [RandomAccessPoint] {
        var (packet, frame): (Int64, Int64) = (0, 0)
        return try table(of: count(least: 2)) { reader throws(ReelFailure) in
            packet &+= try reader.signed()
            frame &+= try reader.signed()
            guard (0..<Int64(packets)).contains(packet), (0..<Int64(frames)).contains(frame) else {
                throw reader.damaged(.randomAccessPoint)
            }
            return RandomAccessPoint(packet: Int32(packet), frame: Int32(frame))
        }
    }
}

extension [PacketEntry] {
    /// Ticks of a packet's time; 0 if there is no such packet, so that encoding never traps.
    fileprivate func pts(of packet: Int32) -> Int64 { indices.contains(Int(packet)) ? self[Int(packet)].pts.ticks : 0 }
}
