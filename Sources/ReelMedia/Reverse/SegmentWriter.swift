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

    /// `describe` sets the parameters of the file's one stream.
    init(
        at place: SegmentPlace, timeBase: TimeBase,
        describe: (UnsafeMutablePointer<AVCodecParameters>) throws(ReelFailure) -> Void
    ) throws(ReelFailure) {
        self.place = place
        self.timeBase = timeBase
        sink = try failing(.write, place.data) { () throws(ByteFault) in try place.data.sink() }
        muxer = try Muxer(sink, format: "nut")
        let nut = av_guess_format("nut", nil, nil)
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
        try muxer.begin()
    }

    /// Packets written so far.
    var packetCount: Int { presentation.count }

    /// Writes a packet whose times are in the segment's time base, moved by `offset` ticks so that none is negative.
    func write(_ packet: borrowing Packet, offset: Int64 = 0) throws(ReelFailure) {
        guard let pts = packet.pts else {
            throw ReelFailure(.packetWithoutTime(segment: place.name.text))
        }
        packet.streamIndex = 0
        packet.pts = pts + Ticks(offset)
        packet.dts = packet.dts.map { $0 + Ticks(offset) }
        presentation.append(pts.ticks)
        try muxer.write(packet, timeBase: timeBase)
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
