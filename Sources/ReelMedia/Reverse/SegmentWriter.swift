internal import CFFmpeg
internal import Crypto
internal import Glibc
internal import ReelCore

/// Writes one segment: a NUT file under a temporary name, synced and renamed, and last the record that marks it as
/// whole. When `finish` returns, both files and their names are on disk.
final class SegmentWriter {
    private let muxer: Muxer
    private let folder: String
    private let name: SegmentName
    private let timeBase: TimeBase
    private var presentation: [Int64] = []

    /// `describe` sets the parameters of the file's one stream.
    init(
        folder: String, name: SegmentName, timeBase: TimeBase,
        describe: (UnsafeMutablePointer<AVCodecParameters>) throws(ReelFailure) -> Void
    ) throws(ReelFailure) {
        self.folder = folder
        self.name = name
        self.timeBase = timeBase
        muxer = try Muxer(path: "\(folder)/\(name).part", format: "nut")
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
            throw ReelFailure(.packetWithoutTime(segment: name.text))
        }
        packet.streamIndex = 0
        packet.pts = pts + Ticks(offset)
        packet.dts = packet.dts.map { $0 + Ticks(offset) }
        presentation.append(pts.ticks)
        try muxer.write(packet, timeBase: timeBase)
    }

    /// Closes the file and writes the record beside it, filling in the record's numbers about the file.
    func finish(_ record: SegmentRecord) throws(ReelFailure) -> SegmentRecord {
        let (temporary, final) = (muxer.path, "\(folder)/\(name)")
        var record = record
        record.name = name
        record.packets = presentation.count
        record.timeBase = timeBase
        record.reorderDepth = reorderDepth
        record.bytes = try muxer.finish()
        record.checksum = try Files.checksum(of: temporary)
        try Files.sync(temporary)
        try Files.rename(temporary, to: final)
        try Files.writeJSON(record, to: "\(folder)/\(name.recordName)")
        try Files.syncFolder(folder)
        return record
    }

    /// The most packets by which a frame comes later in decode order than in presentation order.
    private var reorderDepth: Int {
        let sorted = presentation.indices.sorted { presentation[$0] < presentation[$1] }
        return sorted.enumerated().map { place, packet in packet - place }.max() ?? 0
    }
}
