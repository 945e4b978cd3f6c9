internal import CFFmpeg
internal import ReelCore

/// Reads from a packet's bytes whether decoding can start with it: packets that containers flag as key are not always
/// clean.
struct RandomAccess {
    enum Syntax { case h264, hevc, mpegVideo, other }
    let syntax: Syntax
    let framing: NALFraming

    init(codec: AVCodecID, extradata: UnsafeRawBufferPointer) {
        switch codec {
        case AV_CODEC_ID_H264: (syntax, framing) = (.h264, NALFraming(codec: codec, extradata: extradata))
        case AV_CODEC_ID_HEVC: (syntax, framing) = (.hevc, NALFraming(codec: codec, extradata: extradata))
        case AV_CODEC_ID_MPEG1VIDEO, AV_CODEC_ID_MPEG2VIDEO: (syntax, framing) = (.mpegVideo, .annexB)
        default: (syntax, framing) = (.other, .annexB)
        }
    }

    /// Whether a packet's bytes say more than the container's key flag.
    var readsBytes: Bool { syntax != .other }

    /// Whether decoding can start with a packet flagged as key: everything that it and later packets show at or after
    /// its own time decodes correctly.
    func startsDecoding(_ bytes: UnsafeRawBufferPointer) -> Bool {
        switch syntax {
        case .h264: h264(bytes)
        case .hevc: hevc(bytes)
        case .mpegVideo: hasSequenceHeader(bytes)
        case .other: true
        }
    }

    /// Whether picture order counts restart with this packet: an IDR picture, or in HEVC a BLA picture (ITU-T H.265
    /// 8.1.3).
    func startsSequence(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard syntax == .h264 || syntax == .hevc else { return false }
        return framing.units(in: bytes, untilSlice: isSlice).contains { unit in
            guard let header = unit.first else { return false }
            return syntax == .h264 ? header & 0x1f == 5 : (16...20).contains((header >> 1) & 0x3f)
        }
    }

    /// ITU-T H.264 table 7-1, H.265 table 7-1: whether a unit is a slice, by its first byte. All slices of a picture
    /// give the same answer.
    func isSlice(_ header: UInt8) -> Bool {
        syntax == .h264 ? (1...5).contains(header & 0x1f) : (header >> 1) & 0x3f < 32
    }

    /// ITU-T H.264 7.4.1.2.1: an IDR picture, or an I picture with a recovery point of 0 frames or with the container's
    /// key flag. A gradual refresh (recovery_frame_cnt above 0, D.2.8) first shows wrong pictures, so decoding cannot
    /// start there.
    private func h264(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var recoveryFrames: Int?
        for unit in framing.units(in: bytes, untilSlice: isSlice) {
            guard let header = unit.first else { continue }
            switch header & 0x1f {
            case 5: return true
            case 6: recoveryFrames = recoveryFrames ?? recoveryPoint(unit)
            case 1, 2:
                if let recoveryFrames { return recoveryFrames == 0 }
                var bits = BitReader(unit.dropFirst())
                _ = bits.exponentialGolomb()
                return [2, 4, 7, 9].contains(bits.exponentialGolomb() ?? 0)
            default: continue
            }
        }
        return false
    }

    /// recovery_frame_cnt of a recovery point SEI message (payload type 6); nil if the unit has none.
    private func recoveryPoint(_ unit: NALUnit) -> Int? {
        var rest = unit.dropFirst()
        func number() -> Int? {
            var sum = 0
            while let byte = rest.popFirst() {
                sum += Int(byte)
                if byte != 0xff { return sum }
            }
            return nil
        }
        while rest.count > 2, let type = number(), let size = number() {
            if type == 6 {
                var bits = BitReader(rest)
                return bits.exponentialGolomb()
            }
            rest = rest.dropFirst(size)
        }
        return nil
    }

    /// ITU-T H.265 7.4.2.2: nal_unit_type 16 to 21, BLA, IDR and CRA; leading pictures of a CRA are shown before it.
    private func hevc(_ bytes: UnsafeRawBufferPointer) -> Bool {
        framing.units(in: bytes, untilSlice: isSlice).contains { unit in
            unit.first.map { (16...21).contains(($0 >> 1) & 0x3f) } ?? false
        }
    }

    /// ISO 13818-2: without a sequence header the decoder does not know the picture's size and matrices.
    private func hasSequenceHeader(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var state: UInt32 = 0xffff_ffff
        for byte in bytes {
            state = state << 8 | UInt32(byte)
            if state == 0x1b3 { return true }
            if state == 0x100 { return false }
        }
        return false
    }
}

extension RandomAccess {
    /// The first bytes of a packet, up to the header of its first slice, in the form of a complete packet; nil if the
    /// bytes do not reach that far.
    func head(in bytes: UnsafeRawBufferPointer) -> [UInt8]? {
        switch syntax {
        case .h264, .hevc: framing.head(in: bytes, isSlice: isSlice)
        // ISO 13818-2 6.2.1: slice_start_code.
        case .mpegVideo: startCodes(in: bytes).contains { (1...0xaf).contains(bytes[$0]) } ? Array(bytes) : nil
        case .other: Array(bytes)
        }
    }
}

extension NALFraming {
    /// More bytes than the wanted fields of a slice's header take.
    private static let sliceHeader = 32

    fileprivate func head(in bytes: UnsafeRawBufferPointer, isSlice: (UInt8) -> Bool) -> [UInt8]? {
        // Files with packet tables delimit units by lengths, not by start codes.
        guard case .lengths(let size) = self else { return nil }
        var place = 0
        while place + size < bytes.count {
            let length = bytes.bigEndian(at: place, bytes: size)
            let start = place + size
            guard length > 0 else { return nil }
            guard isSlice(bytes[start]) else {
                place = start + length
                continue
            }
            guard start + min(length, Self.sliceHeader) <= bytes.count else { return nil }
            let end = min(start + length, bytes.count)
            var head = Array(bytes[..<end])
            for byte in 0..<size {
                head[place + byte] = UInt8(truncatingIfNeeded: (end - start) >> (8 * (size - 1 - byte)))
            }
            return head
        }
        return nil
    }
}

/// The offsets after start codes (00 00 01) at which there is a byte.
func startCodes(in bytes: UnsafeRawBufferPointer) -> [Int] {
    bytes.indices.dropLast(3).filter { bytes[$0] == 0 && bytes[$0 + 1] == 0 && bytes[$0 + 2] == 1 }.map { $0 + 3 }
}

typealias NALUnit = Slice<UnsafeRawBufferPointer>

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
    func units(in bytes: UnsafeRawBufferPointer) -> [NALUnit] {
        switch self {
        case .annexB: startCoded(bytes)
        case .lengths(let size): lengthCoded(bytes, size)
        }
    }

    /// The units up to the first slice, and at least the beginning of that slice. Most of a packet's bytes follow
    /// it.
    func units(in bytes: UnsafeRawBufferPointer, untilSlice isSlice: (_ header: UInt8) -> Bool) -> [NALUnit] {
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

    private func lengthCoded(_ bytes: UnsafeRawBufferPointer, _ size: Int) -> [NALUnit] {
        var units: [NALUnit] = []
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

    private func startCoded(_ bytes: UnsafeRawBufferPointer) -> [NALUnit] {
        var units: [NALUnit] = []
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
    private func withoutTrailingZeros(_ bytes: UnsafeRawBufferPointer, _ start: Int, _ end: Int) -> NALUnit {
        var end = end
        while end > start, bytes[end - 1] == 0 { end -= 1 }
        return bytes[start..<end]
    }
}

/// Reads the bits of a NAL unit's payload without its emulation prevention bytes.
struct BitReader {
    private var bytes: NALUnit
    private var zeros = 0
    private var current: UInt8 = 0
    private var left = 0

    init(_ bytes: NALUnit) { self.bytes = bytes }

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
