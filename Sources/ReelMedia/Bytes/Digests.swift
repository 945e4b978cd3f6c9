internal import BasicContainers
internal import CFFmpeg
internal import Crypto
internal import Dispatch
internal import ReelCore

/// SHA-256 of a file's bytes as they are read, taken on a thread of its own while the next ones are read. `@unchecked`
/// because the thread has a block only while it is not being filled, and the caller the hash when the thread has
/// finished.
final class FileDigest: @unchecked Sendable {
    private let thread = WorkQueue()
    /// Whether the block that is not being filled has been hashed.
    private let room = DispatchSemaphore(value: 1)
    private var hash = SHA256()
    /// Filled and hashed by turns.
    private let blocks = [Block(), Block()]
    private var turn = 0
    private var finished: String?

    /// Takes in the bytes that follow; nothing can be added once the digest was asked for.
    func add(_ bytes: UnsafeRawBufferPointer) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let taken = blocks[turn].fill(with: UnsafeRawBufferPointer(rebasing: rest))
            rest = rest.dropFirst(taken)
            if blocks[turn].isFull { send() }
        }
    }

    /// The digest of all that was added, in hexadecimal.
    func finish() -> String {
        if let finished { return finished }
        send()
        thread.wait()
        let text = Hexadecimal.text(hash.finalize())
        finished = text
        return text
    }

    private func send() {
        let block = blocks[turn]
        thread.add { [self, block] in
            hash.update(bufferPointer: block.bytes)
            block.empty()
            room.signal()
        }
        room.wait()
        turn = 1 - turn
    }

    /// `@unchecked` because a block is filled only while the thread has nothing of it to hash.
    private final class Block: @unchecked Sendable {
        private let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 << 10, alignment: 64)
        private var count = 0

        deinit { room.deallocate() }

        var isFull: Bool { count == room.count }
        var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: room[..<count]) }

        /// Returns how many bytes there was room for.
        func fill(with bytes: UnsafeRawBufferPointer) -> Int {
            let taken = min(bytes.count, room.count - count)
            UnsafeMutableRawBufferPointer(rebasing: room[count..<count + taken]).copyMemory(
                from: UnsafeRawBufferPointer(rebasing: bytes[..<taken]))
            count += taken
            return taken
        }

        func empty() { count = 0 }
    }
}

/// A running checksum of a stream's payload that ignores what containers change: start codes and lengths of NAL units,
/// parameter sets, temporal delimiters, ADTS headers, the size of PCM packets. Transparency beside a packet counts.
final class PayloadDigest {
    private enum Syntax { case nalUnits(NALFraming, isHEVC: Bool), obus, adts, plain }
    private let syntax: Syntax
    private let hasTransparency: Bool
    private var native: OpaquePointer?
    /// Containers cut PCM into packets of any size.
    let countsPackets: Bool

    init(parameters: AVCodecParameters) throws(ReelFailure) {
        switch parameters.codec_id {
        case AV_CODEC_ID_H264, AV_CODEC_ID_HEVC:
            syntax = .nalUnits(
                NALFraming(codec: parameters.codec_id, extradata: parameters.header),
                isHEVC: parameters.codec_id == AV_CODEC_ID_HEVC)
        case AV_CODEC_ID_AV1: syntax = .obus
        case AV_CODEC_ID_AAC where parameters.header.isEmpty: syntax = .adts
        default: syntax = .plain
        }
        hasTransparency = [AV_CODEC_ID_VP8, AV_CODEC_ID_VP9].contains(parameters.codec_id)
        countsPackets = !parameters.codec_id.name.hasPrefix("pcm")
        try check(av_hash_alloc(&native, "murmur3"), .checksum)
        av_hash_init(native)
    }

    deinit { av_hash_freep(&native) }

    func add(_ packet: borrowing Packet) {
        packet.withBytes { payload in
            switch syntax {
            case .nalUnits(let framing, let isHEVC):
                for unit in framing.units(in: payload) where Self.isPicture(unit, isHEVC) { add(unit) }
            case .obus: addUnits(payload)
            case .adts:
                let hasChecksum = payload.count > 1 && payload[1] & 1 == 0
                add(payload.dropFirst(hasChecksum ? 9 : 7))
            case .plain: add(payload[...])
            }
        }
        let transparency = hasTransparency ? packet.transparency : []
        if !transparency.isEmpty { transparency.withUnsafeBytes { add($0[...]) } }
    }

    private static func isPicture(_ unit: Slice<UnsafeRawBufferPointer>, _ isHEVC: Bool) -> Bool {
        guard let header = unit.first else { return false }
        return isHEVC ? (header >> 1) & 0x3f < 32 : (1...5).contains(header & 0x1f)
    }

    /// AV1 specification 5.3: every OBU except temporal delimiters (type 2), which MP4 and Matroska leave out.
    private func addUnits(_ payload: UnsafeRawBufferPointer) {
        var rest = payload[...]
        while let header = rest.first {
            let (kind, extended, sized) = ((header >> 3) & 15, header & 4 != 0, header & 2 != 0)
            var start = 1 + (extended ? 1 : 0)
            var length = rest.count - start
            if sized { (length, start) = Self.leb128(rest, from: start) }
            guard length >= 0, start + length <= rest.count else { return add(rest) }
            if kind != 2 { add(rest.dropFirst(start).prefix(length)) }
            rest = rest.dropFirst(start + length)
        }
    }

    /// The leb128 number at an offset, and the offset after it.
    private static func leb128(_ bytes: Slice<UnsafeRawBufferPointer>, from offset: Int) -> (value: Int, next: Int) {
        var (value, place) = (0, offset)
        for shift in stride(from: 0, to: 56, by: 7) where place < bytes.count {
            let byte = bytes[bytes.startIndex + place]
            value |= Int(byte & 0x7f) << shift
            place += 1
            if byte & 0x80 == 0 { break }
        }
        return (value, place)
    }

    private func add(_ slice: Slice<UnsafeRawBufferPointer>) {
        let part = UnsafeRawBufferPointer(rebasing: slice)
        av_hash_update(native, part.baseAddress?.assumingMemoryBound(to: UInt8.self), part.count)
    }

    /// The checksum of everything added, in hexadecimal. Nothing can be added afterwards.
    func finish() -> String {
        var result = [UInt8](repeating: 0, count: 64)
        av_hash_final_bin(native, &result, 64)
        return Hexadecimal.text(result.prefix(16))
    }
}

/// Adds packets to checksums on a thread of its own, while the next ones are read or written.
final class DigestQueue {
    private let thread = WorkQueue()
    /// One batch being hashed and the next one.
    private let room = DispatchSemaphore(value: 2)
    private var batch = PacketBatch()

    /// Adds a packet's payload as it is now; calls keep their order.
    func add(_ packet: borrowing Packet, to digest: PayloadDigest) throws(ReelFailure) {
        try batch.add(packet, to: digest)
        if batch.isFull { send() }
    }

    /// Waits until the checksums include everything added.
    func finish() {
        send()
        thread.wait()
    }

    private func send() {
        let full = batch
        batch = PacketBatch()
        room.wait()
        thread.add { [room] in
            full.digest()
            room.signal()
        }
    }
}

/// A batch of packets for the checksums. Small packets are batched, because a change of threads costs as much as
/// thousands of bytes. `@unchecked` because, once a batch is sent, no other thread touches it, nor its checksums until
/// the queue has finished.
private final class PacketBatch: @unchecked Sendable {
    private var packets = UniqueArray<Packet>()
    private var digests: [PayloadDigest] = []
    private var bytes = 0

    var isFull: Bool { bytes >= 1 << 20 }

    func add(_ packet: borrowing Packet, to digest: PayloadDigest) throws(ReelFailure) {
        bytes += packet.size + 1024
        packets.append(try packet.reference())
        digests.append(digest)
    }

    func digest() {
        for (place, digest) in digests.enumerated() { digest.add(packets[place]) }
        packets.removeAll()
    }
}
