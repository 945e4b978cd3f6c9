internal import CFFmpeg

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
