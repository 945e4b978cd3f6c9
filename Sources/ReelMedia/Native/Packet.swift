internal import CFFmpeg
internal import ReelCore

/// One packet of encoded media, owned and freed with this value.
struct Packet: ~Copyable {
    let native: UnsafeMutablePointer<AVPacket>

    init() throws(ReelFailure) {
        native = try allocated(av_packet_alloc(), .makePacket)
    }

    deinit {
        var pointer: UnsafeMutablePointer<AVPacket>? = native
        av_packet_free(&pointer)
    }

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

    /// Adds `length` to both timestamps.
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

    /// The coded transparency of the picture, which VP8 and VP9 store beside its coded colours. Empty for an opaque picture.
    var transparency: [UInt8] { Array(sideData(AV_PKT_DATA_MATROSKA_BLOCKADDITIONAL).dropFirst(8)) }

    /// Puts a packet of transparency beside the payload, unless `bytes` is empty. In libavcodec the number that Matroska has
    /// for transparency precedes it, 1 in eight bytes.
    func setTransparency(_ bytes: [UInt8]) throws(ReelFailure) {
        guard !bytes.isEmpty else { return }
        try setSideData([0, 0, 0, 0, 0, 0, 0, 1] + bytes, AV_PKT_DATA_MATROSKA_BLOCKADDITIONAL)
    }

    /// Sets the payload.
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
        let data = try allocated(
            av_packet_new_side_data(native, AV_PKT_DATA_SKIP_SAMPLES, 10), .makeSideData)
        let bytes = UnsafeMutableRawBufferPointer(start: data, count: 10)
        bytes.initializeMemory(as: UInt8.self, repeating: 0)
        bytes.storeBytes(of: UInt32(clamping: samples).littleEndian, toByteOffset: 4, as: UInt32.self)
    }

    /// Releases the payload. The packet can be filled again.
    func reset() { av_packet_unref(native) }

    /// Releases the payload and takes over everything that `other` has, which is empty afterwards.
    func take(_ other: borrowing Packet) {
        // libavcodec overwrites the packet without releasing what it had.
        reset()
        av_packet_move_ref(native, other.native)
    }
}
