internal import ReelCore

extension Demuxer {
    /// Whether the file is as long as its container says. A recording that broke off may still announce an end in its header,
    /// which then says nothing about the last frame that is there.
    func isWhole() throws(ReelFailure) -> Bool {
        switch formatName {
        case "matroska,webm": try MatroskaHeader.end(in: file.bytes(at: 0, 4096)).map { $0 <= fileSize } ?? true
        case "nut":
            try NUTEnd.hasIndex(file.bytes(at: max(fileSize - 12, 0), 12), fileSize) { place throws(ReelFailure) in
                try file.bytes(at: place, 8)
            }
        default: true
        }
    }
}

/// The beginning of a Matroska or WebM file (RFC 8794 sections 4 to 6, RFC 9559 section 5).
enum MatroskaHeader {
    /// Where the segment ends by its size; nil if the size is unknown, as in a live stream, or the bytes are of another kind.
    static func end(in bytes: [UInt8]) -> Int64? {
        var place = 0
        while let id = number(in: bytes, &place, keepsMarker: true),
            let size = number(in: bytes, &place, keepsMarker: false)
        {
            guard let end = Int64(exactly: size.value).map({ $0.addingReportingOverflow(Int64(place)) }), !end.overflow
            else {
                return nil
            }
            if id.value == 0x1853_8067 { return size.isUnknown ? nil : end.partialValue }
            guard !size.isUnknown, end.partialValue < bytes.count else { return nil }
            place = Int(end.partialValue)
        }
        return nil
    }

    /// Reads a number of one to eight bytes. The leading zeros of the first byte say how many follow. In a size, all ones mean
    /// that it is unknown.
    private static func number(
        in bytes: [UInt8], _ place: inout Int, keepsMarker: Bool
    ) -> (value: UInt64, isUnknown: Bool)? {
        guard place < bytes.count, bytes[place] != 0 else { return nil }
        let length = bytes[place].leadingZeroBitCount + 1
        guard place + length <= bytes.count else { return nil }
        var value = UInt64(bytes[place])
        if !keepsMarker { value &= 0xff >> UInt64(length) }
        for byte in bytes[place + 1..<place + length] { value = value << 8 | UInt64(byte) }
        place += length
        return (value, value == (1 << (7 * UInt64(length))) - 1)
    }
}

/// The end of a NUT file (the NUT specification, "index packet").
enum NUTEnd {
    /// Whether the file ends with an index, which is written last: its last bytes are the distance of its beginning from the
    /// file's end, and a checksum.
    static func hasIndex(
        _ last: [UInt8], _ fileSize: Int64, _ read: (Int64) throws(ReelFailure) -> [UInt8]
    ) throws(ReelFailure) -> Bool {
        guard last.count == 12 else { return false }
        let back = Int64(last.bigEndian(at: 0, bytes: 8))
        guard (12...max(fileSize, 12)).contains(back) else { return false }
        return try read(fileSize - back) == [0x4e, 0x58, 0xdd, 0x67, 0x2f, 0x23, 0xe6, 0x4e]
    }
}
