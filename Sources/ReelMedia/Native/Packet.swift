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

    /// Sets the number of decoded samples at the packet's end that are not to be heard.
    func skipAtEnd(samples: Int) throws(ReelFailure) {
        let data = try allocated(av_packet_new_side_data(native, AV_PKT_DATA_SKIP_SAMPLES, 10), .makeSideData)
        let bytes = UnsafeMutableRawBufferPointer(start: data, count: 10)
        bytes.initializeMemory(as: UInt8.self, repeating: 0)
        bytes.storeBytes(of: UInt32(clamping: samples).littleEndian, toByteOffset: 4, as: UInt32.self)
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
