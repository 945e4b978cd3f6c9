internal import CFFmpeg
internal import ReelCore

/// One packet of encoded media, owned and freed with this value.
struct Packet: ~Copyable {
    let native: UnsafeMutablePointer<AVPacket>

    init() throws(ReelFailure) { native = try allocated(av_packet_alloc(), .makePacket) }

    deinit { release(native, av_packet_free) }

    var pts: Timestamp? {
        get { Timestamp(native: native.pointee.pts) }
        nonmutating set { native.pointee.pts = newValue?.ticks ?? reel_nopts }
    }

    var dts: Timestamp? {
        get { Timestamp(native: native.pointee.dts) }
        nonmutating set { native.pointee.dts = newValue?.ticks ?? reel_nopts }
    }

    var duration: Ticks {
        get { Ticks(min(max(native.pointee.duration, 0), Timestamp.bound)) }
        nonmutating set { native.pointee.duration = newValue.count }
    }

    var streamIndex: Int {
        get { Int(native.pointee.stream_index) }
        nonmutating set { native.pointee.stream_index = Int32(newValue) }
    }

    var position: Int64 { native.pointee.pos }
    var size: Int { Int(native.pointee.size) }
    var isKey: Bool { native.pointee.flags & AV_PKT_FLAG_KEY != 0 }
    var isDiscarded: Bool { native.pointee.flags & AV_PKT_FLAG_DISCARD != 0 }
    var isCorrupt: Bool { native.pointee.flags & AV_PKT_FLAG_CORRUPT != 0 }

    func delay(by length: Ticks) {
        pts = pts.map { $0 + length }
        dts = dts.map { $0 + length }
    }

    /// A copy of the packet's side data of a kind; empty if there is none.
    func sideData(_ kind: AVPacketSideDataType) -> [UInt8] {
        var size = 0
        let data = av_packet_get_side_data(native, kind, &size)
        return Array(UnsafeRawBufferPointer(start: data, count: data == nil ? 0 : size))
    }

    /// Adds side data of a kind, unless `bytes` is empty.
    func setSideData(_ bytes: [UInt8], _ kind: AVPacketSideDataType) throws(ReelFailure) {
        guard !bytes.isEmpty else { return }
        let room = try allocated(av_packet_new_side_data(native, kind, bytes.count), .makeSideData)
        UnsafeMutableRawBufferPointer(start: room, count: bytes.count).copyBytes(from: bytes)
    }

    /// The coded transparency of the picture, which VP8 and VP9 store beside its coded colours. Empty for an opaque
    /// picture.
    var transparency: [UInt8] { Array(sideData(AV_PKT_DATA_MATROSKA_BLOCKADDITIONAL).dropFirst(8)) }

    /// Puts a packet of transparency beside the payload, unless `bytes` is empty. In libavcodec the number that
    /// Matroska has for transparency precedes it, 1 in eight bytes.
    func setTransparency(_ bytes: [UInt8]) throws(ReelFailure) {
        if !bytes.isEmpty { try setSideData([0, 0, 0, 0, 0, 0, 0, 1] + bytes, AV_PKT_DATA_MATROSKA_BLOCKADDITIONAL) }
    }

    func fill(with bytes: [UInt8]) throws(ReelFailure) {
        try check(av_new_packet(native, Int32(bytes.count)), .makePacket)
        UnsafeMutableRawBufferPointer(start: native.pointee.data, count: bytes.count).copyBytes(from: bytes)
    }

    /// Replaces the payload; times, flags and side data stay.
    func replace(with bytes: [UInt8]) throws(ReelFailure) {
        let made = try Packet()
        try made.fill(with: bytes)
        try check(av_packet_copy_props(made.native, native), .makePacket)
        take(made)
    }

    /// The payload, valid inside `body` only.
    func withBytes<R>(_ body: (UnsafeRawBufferPointer) -> R) -> R {
        body(UnsafeRawBufferPointer(start: native.pointee.data, count: Int(native.pointee.size)))
    }

    /// The numbers of decoded samples at the packet's start and end that are not to be heard; 0 if it does not say.
    /// libavcodec stores them as two little-endian numbers of 32 bits, and a reason for each.
    var skippedSamples: (start: Int, end: Int) {
        var size = 0
        guard let data = av_packet_get_side_data(native, AV_PKT_DATA_SKIP_SAMPLES, &size), size >= 10 else {
            return (0, 0)
        }
        let bytes = UnsafeRawBufferPointer(start: data, count: size)
        let number = { (offset: Int) in
            Int(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)))
        }
        return (number(0), number(4))
    }

    /// Sets the numbers of decoded samples at the packet's start and at its end that are not to be heard.
    func skip(start: Int = 0, end: Int) throws(ReelFailure) {
        let data = try allocated(av_packet_new_side_data(native, AV_PKT_DATA_SKIP_SAMPLES, 10), .makeSideData)
        let bytes = UnsafeMutableRawBufferPointer(start: data, count: 10)
        bytes.initializeMemory(as: UInt8.self, repeating: 0)
        bytes.storeBytes(of: UInt32(clamping: start).littleEndian, as: UInt32.self)
        bytes.storeBytes(of: UInt32(clamping: end).littleEndian, toByteOffset: 4, as: UInt32.self)
    }

    func reference(_ step: MediaStep = .makePacket) throws(ReelFailure) -> Packet {
        let copy = try Packet()
        try check(av_packet_ref(copy.native, native), step)
        return copy
    }

    /// Releases the payload. The packet can be filled again.
    func reset() { av_packet_unref(native) }

    /// Releases the payload and takes over everything that `other` has, which is empty afterwards.
    func take(_ other: borrowing Packet) {
        // libavcodec overwrites the packet without releasing its old content.
        reset()
        av_packet_move_ref(native, other.native)
    }
}

/// libavcodec's parser for one codec. It reads facts about pictures from whole packets, without decoding.
final class CodecParser {
    private let native: UnsafeMutablePointer<AVCodecParserContext>
    private let context: NativeContext

    /// Nil if libavcodec has no parser for the codec.
    init?(_ parameters: AVCodecParameters) throws(ReelFailure) {
        guard let parser = av_parser_init(Int32(parameters.codec_id.rawValue)) else { return nil }
        native = parser
        native.pointee.flags |= PARSER_FLAG_COMPLETE_FRAMES
        do {
            context = try allocated(avcodec_alloc_context3(nil), .openParser)
        } catch {
            av_parser_close(parser)
            throw error
        }
        // From here on `deinit` frees both, even if this initialiser throws.
        var copy = parameters
        try check(avcodec_parameters_to_context(context, &copy), .openParser)
    }

    deinit {
        av_parser_close(native)
        release(context, avcodec_free_context)
    }

    /// Parses a packet. Packets must come in the order of the file.
    func parse(_ bytes: UnsafeRawBufferPointer) -> AVCodecParserContext {
        var (output, size): (UnsafeMutablePointer<UInt8>?, Int32) = (nil, 0)
        native.pointee.key_frame = -1
        native.pointee.pict_type = 0
        native.pointee.picture_structure = AV_PICTURE_STRUCTURE_UNKNOWN
        native.pointee.field_order = AV_FIELD_UNKNOWN
        av_parser_parse2(
            native, context, &output, &size, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self),
            Int32(bytes.count), reel_nopts, reel_nopts, -1)
        return native.pointee
    }
}

/// One of libavcodec's bitstream filters, which change coded packets.
final class BitstreamFilter {
    private var native: UnsafeMutablePointer<AVBSFContext>

    /// Makes the filter that a source's stream needs before other code reads its packets; nil for most streams. DivX
    /// puts two pictures of MPEG-4 into one packet and an empty one into the next, so that packets are not frames.
    init?(for stream: NativeStream) throws(ReelFailure) {
        guard stream.parameters.codec_id == AV_CODEC_ID_MPEG4, let filter = av_bsf_get_by_name("mpeg4_unpack_bframes")
        else { return nil }
        var context: UnsafeMutablePointer<AVBSFContext>?
        try check(av_bsf_alloc(filter, &context), .filterPackets)
        native = try allocated(context, .filterPackets)
        native.pointee.time_base_in = stream.pointee.time_base
        try check(avcodec_parameters_copy(native.pointee.par_in, stream.pointee.codecpar), .filterPackets)
        try check(av_bsf_init(native), .filterPackets)
        // The decoder must not look for packed pictures any more.
        try check(avcodec_parameters_copy(stream.pointee.codecpar, native.pointee.par_out), .filterPackets)
    }

    deinit { release(native, av_bsf_free) }

    /// Replaces the packet with the filter's output; false if the filter keeps it back. A packet that the filter cannot
    /// read passes unchanged, since the decoder can deal with damage.
    func pass(_ packet: borrowing Packet) throws(ReelFailure) -> Bool {
        let original = try packet.reference(.filterPackets)
        try check(av_bsf_send_packet(native, packet.native), .filterPackets)
        let code = av_bsf_receive_packet(native, packet.native)
        if code == reel_error_again { return false }
        if code < 0 { packet.take(original) }
        return true
    }

    func flush() { av_bsf_flush(native) }
}

extension Packet {
    /// Gives a frame of FLAC another number (RFC 9639 9.1.5), and the checksums that follow from it (9.1.8, 9.3). Encoders
    /// count frames from their own start. Other packets stay as they are.
    func renumberFLAC(_ number: Int) throws(ReelFailure) {
        let frame = withBytes { Array($0) }
        // Sync code and blocking strategy, block size and rate, channels and bits; then the number.
        guard frame.count > 8, frame[0] == 0xff, frame[1] == 0xf8 else { return }
        let oldLength = max(1, (~frame[4]).leadingZeroBitCount)
        // Block sizes and rates that the table lacks follow the number.
        let more = [6: 1, 7: 2][frame[2] >> 4, default: 0] + [12: 1, 13: 2, 14: 2][frame[2] & 15, default: 0]
        let rest = 4 + oldLength
        guard frame.count > rest + more + 3 else { return }
        var header = frame[..<4] + Self.codedNumber(UInt64(number)) + frame[rest..<rest + more]
        header.append(UInt8(truncatingIfNeeded: Self.checksum(AV_CRC_8_ATM, header)))
        var made = Array(header) + frame[(rest + more + 1)..<(frame.count - 2)]
        let sum = Self.checksum(AV_CRC_16_ANSI, made[...])
        // libavutil computes this one with its bytes swapped.
        made += [UInt8(truncatingIfNeeded: sum), UInt8(truncatingIfNeeded: sum >> 8)]
        try replace(with: made)
    }

    /// A number as UTF-8 codes characters, with up to 36 bits.
    private static func codedNumber(_ number: UInt64) -> [UInt8] {
        guard number >= 0x80 else { return [UInt8(number)] }
        let bits = UInt64.bitWidth - number.leadingZeroBitCount
        let count = (2...7).first { bits <= 5 * $0 + 1 } ?? 7
        let low = (0..<count - 1).reversed().map { UInt8(0x80 | number >> (6 * UInt64($0)) & 0x3f) }
        let mark = UInt64(0xff) << UInt64(8 - count) & 0xff
        return [UInt8(mark | number >> (6 * UInt64(count - 1)))] + low
    }

    private static func checksum(_ kind: AVCRCId, _ bytes: ArraySlice<UInt8>) -> UInt32 {
        bytes.withUnsafeBufferPointer { av_crc(av_crc_get_table(kind), 0, $0.baseAddress, $0.count) }
    }
}
