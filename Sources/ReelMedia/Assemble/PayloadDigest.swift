internal import CFFmpeg
internal import ReelCore

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
        countsPackets = !String(cString: avcodec_get_name(parameters.codec_id)).hasPrefix("pcm")
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
            if sized {
                (length, start) = Self.leb128(rest, from: start)
            }
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
