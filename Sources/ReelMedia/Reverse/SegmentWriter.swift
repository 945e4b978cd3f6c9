internal import CFFmpeg
internal import Crypto
internal import Glibc
internal import ReelCore

/// Writes one segment, a NUT file, and last the record that marks it as whole. When `finish` returns, both are durable.
final class SegmentWriter {
    private let muxer: Muxer
    private let sink: any ByteSink
    private let place: SegmentPlace
    private let timeBase: TimeBase
    private var presentation: [Int64] = []

    /// `describe` sets the parameters of the file's one stream. If packets have transparency beside them
    /// (`hasTransparency`), the file has a second such stream for it: libavformat stores data beside a packet only
    /// in an experimental version of NUT, together with the time of day.
    init(
        at place: SegmentPlace, timeBase: TimeBase, hasTransparency: Bool = false,
        describe: (UnsafeMutablePointer<AVCodecParameters>) throws(ReelFailure) -> Void
    ) throws(ReelFailure) {
        self.place = place
        self.timeBase = timeBase
        sink = try failing(.write, place.data) { () throws(ByteFault) in try place.data.sink() }
        muxer = try Muxer(sink, format: "nut")
        let nut = av_guess_format("nut", nil, nil)
        for _ in 0..<(hasTransparency ? 2 : 1) {
            _ = try muxer.addStream(timeBase: timeBase) { (stream) throws(ReelFailure) in
                try describe(stream.pointee.codecpar)
                // NUT identifies codecs by tags and has none for some codecs. Any tag works, since segments are read
                // according to their plan.
                if stream.pointee.codecpar.pointee.codec_tag == 0,
                    avformat_query_codec(nut, stream.pointee.codecpar.pointee.codec_id, FF_COMPLIANCE_NORMAL) != 1
                {
                    stream.pointee.codecpar.pointee.codec_tag = 0x6c65_6572
                }
            }
        }
        try muxer.begin()
    }

    var packetCount: Int { presentation.count }

    /// Writes a packet whose times are in the segment's time base, moved by `offset` ticks so that none is negative.
    ///
    /// - Parameter transparency: goes into the second stream; nil for a video without transparency.
    func write(_ packet: borrowing Packet, beside transparency: [UInt8]? = nil, offset: Int64 = 0) throws(ReelFailure) {
        guard let pts = packet.pts else { throw ReelFailure(.packetWithoutTime(segment: place.name.text)) }
        packet.streamIndex = 0
        packet.pts = pts + Ticks(offset)
        packet.dts = packet.dts.map { $0 + Ticks(offset) }
        presentation.append(pts.ticks)
        let second = if let transparency { try besidePacket(transparency, like: packet) } else { nil as Packet? }
        try muxer.write(packet, timeBase: timeBase)
        if let second { try muxer.write(second, timeBase: timeBase) }
    }

    /// A packet of the second stream, at the times of one of the first.
    private func besidePacket(_ bytes: [UInt8], like packet: borrowing Packet) throws(ReelFailure) -> Packet {
        let beside = try Packet()
        try beside.fill(with: bytes)
        (beside.streamIndex, beside.pts, beside.dts) = (1, packet.pts, packet.dts)
        beside.duration = packet.duration
        beside.native.pointee.flags = packet.native.pointee.flags
        return beside
    }

    /// Closes the file and writes the record, filling in its numbers about the file.
    func finish(_ record: SegmentRecord) throws(ReelFailure) -> SegmentRecord {
        var record = record
        record.name = place.name
        record.packets = presentation.count
        record.timeBase = timeBase
        record.reorderDepth = reorderDepth
        record.bytes = try muxer.finish()
        sink.finish()
        let written = try failing(.read, place.data) { () throws(ByteFault) in try sink.written() }
        record.checksum = try ByteReader(written, .segment).checksum()
        try failing(.sync, place.data, sink.commit)
        let bytes: [UInt8]
        do {
            bytes = try CanonicalJSON.bytes(of: record)
        } catch {
            throw ReelFailure(.notEncodable(said: "\(error)"))
        }
        try place.record.write(bytes)
        return record
    }

    /// The most packets by which a frame comes later in decode order than in presentation order.
    private var reorderDepth: Int {
        let sorted = presentation.indices.sorted { presentation[$0] < presentation[$1] }
        return sorted.enumerated().map { place, packet in packet - place }.max() ?? 0
    }
}
