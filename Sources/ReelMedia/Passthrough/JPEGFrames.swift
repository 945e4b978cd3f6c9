internal import Glibc
internal import ReelCore

/// Reads the markers of Motion JPEG pictures (ITU-T T.81 B.1). Decoders keep tables from picture to picture, so a
/// picture without tables may depend on another's.
struct JPEGFrames {
    /// Whether pictures contain Huffman tables; if none does, all use the standard's.
    private var bringsHuffmanTables: Bool?
    /// Precision, components and their sampling in the first picture's frame header.
    private var components: [UInt8]?

    /// The fault of a picture in a video of this size; nil if it has none. Reads only the header of its first `count`
    /// bytes, unless these are the whole picture.
    mutating func fault(
        in picture: UnsafeRawBufferPointer, first count: Int, width: Int, height: Int
    ) -> PacketFault? {
        let bytes = UnsafeRawBufferPointer(rebasing: picture.prefix(count))
        guard bytes.count > 4, bytes[0] == 0xff, bytes[1] == 0xd8 else { return .incomplete }
        var (place, hasQuantisers, hasHuffmanTables, isSized) = (2, false, false, false)
        while place + 4 <= bytes.count {
            guard bytes[place] == 0xff else { return .header }
            let marker = bytes[place + 1]
            // Fill bytes.
            guard marker != 0xff else {
                place += 1
                continue
            }
            let length = bytes.bigEndian(at: place + 2, bytes: 2)
            guard length >= 2, place + 2 + length <= bytes.count else { return .header }
            let segment = UnsafeRawBufferPointer(rebasing: bytes[place + 4..<place + 2 + length])
            switch marker {
            case 0xda:
                guard hasQuantisers, isSized else { return .noTables }
                guard bringsHuffmanTables ?? hasHuffmanTables == hasHuffmanTables else {
                    return .huffmanTables
                }
                bringsHuffmanTables = hasHuffmanTables
                return bytes.count < picture.count ? nil : endFault(bytes, from: place + 2 + length)
            case 0xdb: hasQuantisers = true
            case 0xc4: hasHuffmanTables = true
            case 0xc0...0xc3:
                guard segment.count >= 5 else { return .header }
                // A field has half of the height.
                let lines = segment.bigEndian(at: 1, bytes: 2)
                guard lines * 4 >= height * 3 else { return .interlaced }
                guard lines == height, segment.bigEndian(at: 3, bytes: 2) == width else {
                    return .pictureSize
                }
                let own = [segment[0]] + segment[5...]
                guard components ?? own == own else { return .format }
                components = own
                isSized = true
            case 0xe0:
                // The polarity field that AVI writes; 0 means a whole frame.
                let isField = segment.count > 4 && segment[..<4].elementsEqual("AVI1".utf8) && segment[4] != 0
                if isField { return .interlaced }
            default: break
            }
            place += 2 + length
        }
        return .incomplete
    }

    /// Whether there is one end of image, and no other image after it.
    private func endFault(_ bytes: UnsafeRawBufferPointer, from start: Int) -> PacketFault? {
        guard let end = Self.marker(0xd9, in: bytes, from: start) else { return .cutOff }
        return Self.marker(0xd8, in: bytes, from: end + 2) == nil ? nil : .interlaced
    }

    /// The offset of a marker. Nearly the whole picture is searched, so memchr() does it.
    private static func marker(_ code: UInt8, in bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
        guard let base = bytes.baseAddress else { return nil }
        var place = start
        while place + 1 < bytes.count, let found = memchr(base + place, 0xff, bytes.count - 1 - place) {
            place = UnsafeRawPointer(found) - base
            if bytes[place + 1] == code { return place }
            place += 1
        }
        return nil
    }
}
