internal import CFFmpeg

/// How NAL units are delimited in a packet of H.264 or HEVC.
enum NALFraming: Equatable {
    /// Start codes (ITU-T H.264 annex B).
    case annexB
    /// A big-endian length of this many bytes before each unit (ISO 14496-15).
    case lengths(Int)

    /// Reads the form from extradata: avcC and hvcC begin with their version, 1; start codes begin with 0.
    init(codec: AVCodecID, extradata: UnsafeRawBufferPointer) {
        let place = codec == AV_CODEC_ID_HEVC ? 21 : 4
        let isRecord = extradata.count > place && extradata[0] == 1
        self = isRecord ? .lengths(Int(extradata[place] & 3) + 1) : .annexB
    }

    /// The units in a packet, without start codes and lengths. The sequence ends where the bytes are not valid.
    func units(in bytes: UnsafeRawBufferPointer) -> [Slice<UnsafeRawBufferPointer>] {
        switch self {
        case .annexB: startCoded(bytes)
        case .lengths(let size): lengthCoded(bytes, size)
        }
    }

    /// The units up to the first slice, of which at least the beginning is included. Most of a packet's bytes follow
    /// it.
    func units(
        in bytes: UnsafeRawBufferPointer, untilSlice isSlice: (_ header: UInt8) -> Bool
    ) -> [Slice<UnsafeRawBufferPointer>] {
        guard self == .annexB else {
            let units = units(in: bytes)
            let slice = units.firstIndex { $0.first.map(isSlice) ?? false }
            return Array(units.prefix(slice.map { $0 + 1 } ?? units.count))
        }
        var place = 0
        while place + 3 < bytes.count {
            if bytes[place] == 0, bytes[place + 1] == 0, bytes[place + 2] == 1, isSlice(bytes[place + 3]) {
                return units(in: UnsafeRawBufferPointer(rebasing: bytes[..<place])) + [bytes[(place + 3)...]]
            }
            place += 1
        }
        return units(in: bytes)
    }

    private func lengthCoded(_ bytes: UnsafeRawBufferPointer, _ size: Int) -> [Slice<UnsafeRawBufferPointer>] {
        var units: [Slice<UnsafeRawBufferPointer>] = []
        var place = 0
        while place + size <= bytes.count {
            let length = bytes[place..<place + size].reduce(0) { $0 << 8 | Int($1) }
            place += size
            guard length > 0, place + length <= bytes.count else { break }
            units.append(bytes[place..<place + length])
            place += length
        }
        return units
    }

    private func startCoded(_ bytes: UnsafeRawBufferPointer) -> [Slice<UnsafeRawBufferPointer>] {
        var units: [Slice<UnsafeRawBufferPointer>] = []
        var start: Int?
        var place = 0
        while place + 3 <= bytes.count {
            guard bytes[place] == 0, bytes[place + 1] == 0, bytes[place + 2] == 1 else {
                place += 1
                continue
            }
            if let start { units.append(withoutTrailingZeros(bytes, start, place)) }
            start = place + 3
            place += 3
        }
        if let start { units.append(withoutTrailingZeros(bytes, start, bytes.count)) }
        return units.filter { !$0.isEmpty }
    }

    /// Zeros before a start code belong to the byte stream, not to the unit.
    private func withoutTrailingZeros(
        _ bytes: UnsafeRawBufferPointer, _ start: Int, _ end: Int
    ) -> Slice<UnsafeRawBufferPointer> {
        var end = end
        while end > start, bytes[end - 1] == 0 { end -= 1 }
        return bytes[start..<end]
    }
}

/// Reads the bits of a NAL unit's payload without its emulation prevention bytes.
struct BitReader {
    private var bytes: Slice<UnsafeRawBufferPointer>
    private var zeros = 0
    private var current: UInt8 = 0
    private var left = 0

    init(_ bytes: Slice<UnsafeRawBufferPointer>) { self.bytes = bytes }

    /// The next bit; nil at the end.
    mutating func bit() -> Int? {
        if left == 0 {
            guard var byte = bytes.popFirst() else { return nil }
            if zeros >= 2, byte == 3 {
                guard let next = bytes.popFirst() else { return nil }
                (byte, zeros) = (next, 0)
            }
            zeros = byte == 0 ? zeros + 1 : 0
            (current, left) = (byte, 8)
        }
        left -= 1
        return Int(current >> UInt8(left)) & 1
    }

    /// ue(v) of ITU-T H.264 9.1; nil at the end or beyond 32 bits.
    mutating func exponentialGolomb() -> Int? {
        var leading = 0
        while true {
            guard let bit = bit(), leading <= 32 else { return nil }
            if bit == 1 { break }
            leading += 1
        }
        return bits(leading).map { (1 << leading) - 1 + $0 }
    }

    /// The number of this many bits; nil if fewer are left.
    mutating func bits(_ count: Int) -> Int? {
        var value = 0
        for _ in 0..<count {
            guard let bit = bit() else { return nil }
            value = value << 1 | bit
        }
        return value
    }
}
