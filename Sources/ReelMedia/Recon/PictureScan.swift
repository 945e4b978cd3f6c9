internal import CFFmpeg
internal import ReelCore

/// Reads the video's packets one after the other: every picture's header if headers may differ, otherwise the headers
/// of packets flagged as key and of a few more.
///
/// Of a video on a server it reads only a sample of these packets, since each costs a request. If every packet of the
/// sample begins a sequence, it takes every packet flagged as key to begin one. A pass that starts where this is wrong
/// disproves the index.
final class PictureScan {
    private let demuxer: Demuxer
    private let randomAccess: RandomAccess
    let parser: PictureParser?
    private var syntax: FieldSyntax
    private var number = 0
    /// Whether every packet flagged as key is taken to begin a sequence.
    private var trustsKeys = false

    /// Bytes that contain the beginning of most packets: the first slice's header, after parameter sets and messages if
    /// there are any.
    private static let heads = [80, 512, 4096]
    /// One in this many packets is read although nothing new is expected.
    private static let spread = 256
    /// The key packets of a sample.
    private static let sample = 8

    init(_ stream: NativeStream, in demuxer: Demuxer) throws(ReelFailure) {
        self.demuxer = demuxer
        let parameters = stream.parameters
        randomAccess = RandomAccess(codec: parameters.codec_id, extradata: parameters.header)
        parser = try PictureParser(parameters, randomAccess: randomAccess)
        syntax = FieldSyntax(codec: parameters.codec_id, extradata: parameters.header)
        guard demuxer.leavesPayload, randomAccess.readsBytes else { return }
        let keys = demuxer.keys(of: stream)
        if demuxer.isDistant, keys.count > Self.sample, !syntax.mayHaveFields {
            trustsKeys = true
            for place in 0..<Self.sample where trustsKeys {
                let key = keys[place * (keys.count - 1) / (Self.sample - 1)]
                trustsKeys = try withHead(at: key.position, key.size) { bytes, _ in randomAccess.startsSequence(bytes) }
            }
        }
        if !trustsKeys { demuxer.expect(keys.map(\.position)) }
    }

    func scan(_ packet: borrowing Packet) throws(ReelFailure) -> ScannedPacket {
        var flags: PacketEntry.Flags = []
        if packet.isKey { flags.insert(.key) }
        if packet.isDiscarded { flags.insert(.discarded) }
        var scanned = ScannedPacket(
            pts: packet.pts, dts: packet.dts, duration: packet.duration, size: Int32(packet.size),
            position: packet.position, flags: flags, startsDecoding: packet.isKey)
        if demuxer.leavesPayload {
            try scanHead(of: &scanned)
        } else {
            packet.withBytes { _ = look(at: $0, isCut: false, &scanned) }
            number += 1
        }
        return scanned
    }

    /// Takes the next packet from the container's table, and reads no more of its payload than necessary.
    func scanHead(of scanned: inout ScannedPacket) throws(ReelFailure) {
        defer { number += 1 }
        let isKey = scanned.flags.contains(.key)
        guard randomAccess.readsBytes, isKey || syntax.mayHaveFields || number % Self.spread == 0 else { return }
        if trustsKeys, number > 0 {
            if isKey { (scanned.startsDecoding, scanned.picture.startsSequence) = (true, true) }
            return
        }
        _ = try withHead(at: scanned.position, Int(scanned.size)) { look(at: $0, isCut: $1, &scanned) }
    }

    /// Reads the beginning of a packet, and more of it while `body` returns false. Returns what it returned last.
    private func withHead(
        at position: Int64, _ size: Int, _ body: (_ bytes: UnsafeRawBufferPointer, _ isCut: Bool) -> Bool
    ) throws(ReelFailure) -> Bool {
        for length in Self.heads where length < size {
            let head = try demuxer.withFirstBytes(length, at: position) { randomAccess.head(in: $0) }
            if let head, head.withUnsafeBytes({ body($0, true) }) { return true }
        }
        return try demuxer.withFirstBytes(size, at: position) { body($0, false) }
    }

    /// Fills in what the bytes say; false if they end too early.
    private func look(at bytes: UnsafeRawBufferPointer, isCut: Bool, _ scanned: inout ScannedPacket) -> Bool {
        let isKey = scanned.flags.contains(.key)
        scanned.startsDecoding = isKey && randomAccess.startsDecoding(bytes)
        guard let parser else { return true }
        guard let picture = parser.look(at: bytes, flags: scanned.flags, isCut: isCut) else { return false }
        scanned.picture = picture
        if demuxer.leavesPayload, isKey { syntax.note(bytes, isField: parser.isField) }
        return true
    }
}

/// Reads from a packet's bytes, without decoding, the place of its picture among the others.
final class PictureParser {
    private let parser: CodecParser
    private let randomAccess: RandomAccess
    private let countsOrder: Bool
    /// A parser that reports no structure has not found the picture's header.
    private let namesStructure: Bool
    /// Counts of interlaced frames by their headers. Broadcasts switch in the middle, which neither the container nor
    /// the first frame shows.
    private(set) var fields = FieldOrderCounts()
    /// Whether the headers tell which field comes first. For H.264, the parser uses the picture structure, decoders the
    /// fields' picture order counts (ITU-T H.264 8.2.1), and x264 as driven by libavcodec lets these differ.
    let knowsFieldOrder: Bool
    /// Whether the last picture was a single field.
    private(set) var isField = false
    /// The field whose second field has not come yet.
    private var firstField: AVPictureStructure?

    /// Nil for codecs that show pictures in the order of their packets.
    init?(_ parameters: AVCodecParameters, randomAccess: RandomAccess) throws(ReelFailure) {
        let reordering = [
            AV_CODEC_ID_H264, AV_CODEC_ID_HEVC, AV_CODEC_ID_MPEG1VIDEO, AV_CODEC_ID_MPEG2VIDEO, AV_CODEC_ID_MPEG4,
            AV_CODEC_ID_VC1, AV_CODEC_ID_WMV3,
        ]
        guard reordering.contains(parameters.codec_id), let parser = try CodecParser(parameters) else { return nil }
        (self.parser, self.randomAccess) = (parser, randomAccess)
        countsOrder = parameters.codec_id == AV_CODEC_ID_H264 || parameters.codec_id == AV_CODEC_ID_HEVC
        namesStructure = parameters.codec_id == AV_CODEC_ID_H264
        knowsFieldOrder = parameters.codec_id != AV_CODEC_ID_H264
    }

    /// What a packet's bytes, or its first bytes if `isCut`, say about its picture; nil if these do not reach far
    /// enough. The caller passes packets in the order of the file.
    func look(at bytes: UnsafeRawBufferPointer, flags: PacketEntry.Flags, isCut: Bool) -> CodedPicture? {
        let found = parser.parse(bytes)
        if isCut, namesStructure, found.picture_structure == AV_PICTURE_STRUCTURE_UNKNOWN { return nil }
        if !flags.contains(.discarded) { fields.add(FieldOrder(native: found.field_order)) }
        let isSecond = isSecondField(found.picture_structure)
        // Only packets that the parser or the container flags as key are worth reading completely.
        let mayStart = !isSecond && (flags.contains(.key) || found.key_frame == 1)
        return CodedPicture(
            isSecondField: isSecond,
            isBidirectional: !countsOrder && found.pict_type == Int32(AV_PICTURE_TYPE_B.rawValue),
            order: countsOrder ? found.output_picture_number : nil,
            startsSequence: mayStart && randomAccess.startsSequence(bytes))
    }

    /// Two successive fields of opposite parity are one frame (ITU-T H.264 3.30, complementary field pairs).
    private func isSecondField(_ structure: AVPictureStructure) -> Bool {
        isField = structure == AV_PICTURE_STRUCTURE_TOP_FIELD || structure == AV_PICTURE_STRUCTURE_BOTTOM_FIELD
        guard isField else {
            firstField = nil
            return false
        }
        let isSecond = firstField.map { $0 != structure } ?? false
        firstField = isSecond ? nil : structure
        return isSecond
    }
}

/// Whether a video may have fields, by facts that apply to a whole sequence of its pictures. If it may, each picture's
/// own header must be read.
struct FieldSyntax {
    private let codec: AVCodecID
    private let framing: NALFraming
    private(set) var mayHaveFields: Bool

    init(codec: AVCodecID, extradata: UnsafeRawBufferPointer) {
        self.codec = codec
        framing = NALFraming(codec: codec, extradata: extradata)
        switch codec {
        case AV_CODEC_ID_H264: mayHaveFields = !framing.parameterSets(in: extradata).hasFramesOnly
        case AV_CODEC_ID_MPEG2VIDEO: mayHaveFields = true
        default: mayHaveFields = false
        }
    }

    /// Reads a packet flagged as key, and its picture: sequences begin with such packets.
    mutating func note(_ head: UnsafeRawBufferPointer, isField: Bool) {
        switch codec {
        case AV_CODEC_ID_H264:
            let sets = framing.units(in: head).filter { $0.first.map { $0 & 0x1f } == 7 }.map { Array($0) }
            mayHaveFields = mayHaveFields || !sets.isEmpty && !sets.hasFramesOnly
        case AV_CODEC_ID_MPEG2VIDEO:
            // ISO 13818-2 6.2.2.3: progressive_sequence of the sequence extension.
            let found = startCodes(in: head).first { head[$0] == 0xb5 && $0 + 2 < head.count && head[$0 + 1] >> 4 == 1 }
            if let found { mayHaveFields = head[found + 2] & 8 == 0 }
        default:
            // ITU-T H.265 E.3.1: field_seq_flag, which limits the values of pic_struct, applies to the whole sequence.
            mayHaveFields = mayHaveFields || isField
        }
    }
}

extension [[UInt8]] {
    /// Whether these parameter sets of H.264 describe sequences, and none of these may have fields.
    fileprivate var hasFramesOnly: Bool {
        let sequences = filter { $0.first.map { $0 & 0x1f } == 7 }
        return !sequences.isEmpty
            && sequences.allSatisfy { unit in unit.withUnsafeBytes { framesOnly($0[...].dropFirst()) } ?? false }
    }
}

/// frame_mbs_only_flag of a sequence parameter set (ITU-T H.264 7.3.2.1.1); nil if the set ends too early.
private func framesOnly(_ unit: Slice<UnsafeRawBufferPointer>) -> Bool? {
    guard let profile = unit.first else { return nil }
    var bits = BitReader(unit.dropFirst(3))
    guard bits.exponentialGolomb() != nil else { return nil }
    if [100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135].contains(profile) {
        guard let chroma = bits.exponentialGolomb() else { return nil }
        if chroma == 3 { _ = bits.bit() }
        _ = (bits.exponentialGolomb(), bits.exponentialGolomb(), bits.bit())
        if bits.bit() == 1 {
            for list in 0..<(chroma == 3 ? 12 : 8) where bits.bit() == 1 {
                bits.skipScalingList(of: list < 6 ? 16 : 64)
            }
        }
    }
    _ = bits.exponentialGolomb()
    switch bits.exponentialGolomb() {
    case 0: _ = bits.exponentialGolomb()
    case 1:
        _ = (bits.bit(), bits.exponentialGolomb(), bits.exponentialGolomb())
        // At most 255 offsets.
        for _ in 0..<min(bits.exponentialGolomb() ?? 0, 255) { _ = bits.exponentialGolomb() }
    default: break
    }
    _ = (bits.exponentialGolomb(), bits.bit(), bits.exponentialGolomb(), bits.exponentialGolomb())
    return bits.bit().map { $0 == 1 }
}

extension BitReader {
    /// ITU-T H.264 7.3.2.1.1.1.
    fileprivate mutating func skipScalingList(of size: Int) {
        var (last, next) = (8, 8)
        for _ in 0..<size {
            if next != 0 {
                let folded = exponentialGolomb() ?? 0
                next = (last + (folded & 1 == 1 ? (folded + 1) / 2 : -folded / 2)) & 0xff
            }
            last = next == 0 ? last : next
        }
    }
}

/// The container's list of a video's packets, so that not all of them have to be read: reading costs time even if the
/// payload stays on disk. The list is used if the packets at the file's start agree with it, and is checked again at
/// its end.
struct PacketTable {
    private let stream: NativeStream
    private let count: Int32
    private var offsets: CompositionOffsets
    /// The time that libavformat adds to all presentation times.
    private var shift: Int64?
    private var place: Int32 = 0
    private var isTrue = true
    /// The key packet from which on packets are read again: the table does not contain everything about the last ones.
    private let tail: Int32
    /// The place of the next packet to be read, after packets were taken from the table.
    private var awaited: Int64?
    private(set) var wasTaken = false

    /// The number of packets compared at the start and at the end.
    private static let compared: Int32 = 256

    /// Nil if libavformat's list is incomplete, or is not the track's samples in their order.
    init?(_ stream: NativeStream, in demuxer: Demuxer) throws(ReelFailure) {
        self.stream = stream
        count = avformat_index_get_entries_count(stream)
        let last = (Self.compared * 2..<max(count - Self.compared, Self.compared * 2)).last { place in
            avformat_index_get_entry(stream, place).map { $0.pointee.flags & AVINDEX_KEYFRAME != 0 } ?? false
        }
        guard let last, let offsets = try demuxer.compositionOffsets(of: stream), offsets.samples == Int(count) else {
            return nil
        }
        (tail, self.offsets) = (last, offsets)
    }

    /// Whether a packet that was read is needed: seeking may lead to one before the expected one.
    mutating func wants(_ packet: borrowing Packet) -> Bool {
        guard let awaited else { return true }
        guard packet.position == awaited else { return false }
        self.awaited = nil
        return true
    }

    /// Compares the next packet that was read with the list.
    mutating func compare(_ packet: ScannedPacket) throws(ReelFailure) {
        guard isTrue else { return }
        guard let pts = packet.pts, var listed = try next() else { return isTrue = false }
        if shift == nil {
            shift = listed.pts.map { pts.ticks - $0.ticks }
            listed.pts = pts
        }
        isTrue =
            pts == listed.pts && packet.dts == listed.dts && packet.size == listed.size
            && packet.position == listed.position && packet.flags == listed.flags
    }

    /// Whether the packets up to the tail may now be taken from the table.
    var mayBeTaken: Bool { isTrue && !wasTaken && place >= Self.compared && place < tail }

    /// Takes the next packet before the tail; nil at the tail.
    mutating func take() throws(ReelFailure) -> ScannedPacket? {
        wasTaken = true
        return place < tail ? try next() : nil
    }

    /// Expects the tail's first packet next; returns the time to seek to for it.
    mutating func awaitTail() -> Timestamp? {
        guard let entry = avformat_index_get_entry(stream, tail)?.pointee else { return nil }
        awaited = entry.pos
        return Timestamp(native: entry.timestamp)
    }

    /// Whether all packets were read or taken, and the ones that were read agree with the list.
    var isProven: Bool { isTrue && place == count }

    /// The entry without its duration, which matters only for the last packet.
    private mutating func next() throws(ReelFailure) -> ScannedPacket? {
        guard let entry = avformat_index_get_entry(stream, place)?.pointee, let offset = try offsets.next() else {
            return nil
        }
        place += 1
        var flags: PacketEntry.Flags = []
        if entry.flags & AVINDEX_KEYFRAME != 0 { flags.insert(.key) }
        if entry.flags & AVINDEX_DISCARD_FRAME != 0 { flags.insert(.discarded) }
        guard let dts = Timestamp(native: entry.timestamp),
            let pts = Timestamp(native: entry.timestamp &+ (shift ?? 0) &+ offset)
        else { return nil }
        return ScannedPacket(
            pts: pts, dts: dts, duration: .zero, size: entry.size, position: entry.pos, flags: flags,
            startsDecoding: flags.contains(.key))
    }
}
