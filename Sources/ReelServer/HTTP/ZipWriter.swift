/// A ZIP archive of files that are stored as they are, as it is written from its first byte to its last (APPNOTE 6.3.10).
/// Sizes are known before, checksums only after the bytes: they follow each file.
package struct ZipWriter {
    private struct Entry {
        let name: [UInt8]
        let bytes: Int64
        let offset: Int64
        var checksum: UInt32 = 0
    }

    private var entries: [Entry] = []
    /// Bytes that the archive has so far.
    private var offset: Int64 = 0

    package init() {}

    /// The beginning of a file, which its bytes follow. The name is in UTF-8, with slashes between folders.
    package mutating func begin(_ name: String, bytes: Int64) -> [UInt8] {
        let entry = Entry(name: Array(name.utf8), bytes: bytes, offset: offset)
        let isLarge = ZipWriter.isLarge(bytes)
        var record = LittleEndian(0x0403_4b50)
        record.add16(ZipWriter.version(isLarge), ZipWriter.flags, ZipWriter.stored)
        record.add16(ZipWriter.time, ZipWriter.date)
        // The checksum and the sizes come after the bytes.
        record.add32(0, isLarge ? .max : 0, isLarge ? .max : 0)
        record.add16(UInt16(entry.name.count), isLarge ? 20 : 0)
        record.bytes += entry.name
        if isLarge {
            record.add16(1, 16)
            record.add64(0, 0)
        }
        entries.append(entry)
        offset += Int64(record.bytes.count) + bytes
        return record.bytes
    }

    /// What follows the bytes of the file that has begun.
    package mutating func end(checksum: UInt32) -> [UInt8] {
        entries[entries.count - 1].checksum = checksum
        let bytes = entries[entries.count - 1].bytes
        var record = LittleEndian(0x0807_4b50)
        record.add32(checksum)
        if ZipWriter.isLarge(bytes) {
            record.add64(UInt64(bytes), UInt64(bytes))
        } else {
            record.add32(UInt32(bytes), UInt32(bytes))
        }
        offset += Int64(record.bytes.count)
        return record.bytes
    }

    /// The end of the archive: its directory.
    package func directory() -> [UInt8] {
        var record = LittleEndian()
        for entry in entries { record.bytes += ZipWriter.place(of: entry) }
        let (begin, size) = (UInt64(offset), UInt64(record.bytes.count))
        let isLarge = ZipWriter.isLarge(offset) || entries.count >= 0xffff
        if isLarge {
            record.add32(0x0606_4b50)
            record.add64(44)
            record.add16(ZipWriter.version(true), ZipWriter.version(true))
            record.add32(0, 0)
            record.add64(UInt64(entries.count), UInt64(entries.count), size, begin)
            record.add32(0x0706_4b50, 0)
            record.add64(begin + size)
            record.add32(1)
        }
        record.add32(0x0605_4b50)
        let count = UInt16(clamping: entries.count)
        record.add16(0, 0, count, count)
        record.add32(UInt32(size), isLarge ? .max : UInt32(begin))
        record.add16(0)
        return record.bytes
    }

    /// The bytes of an archive of these files.
    package static func length(of files: [(name: String, bytes: Int64)]) -> Int64 {
        var writer = ZipWriter()
        for file in files {
            _ = writer.begin(file.name, bytes: file.bytes)
            _ = writer.end(checksum: 0)
        }
        return writer.offset + Int64(writer.directory().count)
    }

    private static func place(of entry: Entry) -> [UInt8] {
        let large = isLarge(entry.bytes)
        let isFar = isLarge(entry.offset)
        let more = LittleEndian.extra(
            (large ? [UInt64(entry.bytes), UInt64(entry.bytes)] : []) + (isFar ? [UInt64(entry.offset)] : []))
        var record = LittleEndian(0x0201_4b50)
        // Made on Unix, so that the mode below counts.
        record.add16(3 << 8 | version(large || isFar), version(large || isFar), flags, stored, time, date)
        record.add32(entry.checksum, large ? .max : UInt32(entry.bytes), large ? .max : UInt32(entry.bytes))
        record.add16(UInt16(entry.name.count), UInt16(more.count), 0, 0, 0)
        record.add32(0o100644 << 16, isFar ? .max : UInt32(entry.offset))
        return record.bytes + entry.name + more
    }

    /// Whether a number needs the fields of ZIP64.
    private static func isLarge(_ number: Int64) -> Bool { number >= 0xffff_ffff }
    private static func version(_ isLarge: Bool) -> UInt16 { isLarge ? 45 : 20 }
    /// The checksum and the sizes follow the bytes; names are in UTF-8.
    private static let flags: UInt16 = 1 << 3 | 1 << 11
    private static let stored: UInt16 = 0
    /// Midnight of 1 January 1980: the archive of the same files is always the same.
    private static let (time, date): (UInt16, UInt16) = (0, 1 << 5 | 1)
}

/// Numbers one after the other, each with its lowest byte first.
private struct LittleEndian {
    var bytes: [UInt8] = []

    init() {}
    init(_ signature: UInt32) { add32(signature) }

    mutating func add16(_ numbers: UInt16...) { for number in numbers { add(number) } }
    mutating func add32(_ numbers: UInt32...) { for number in numbers { add(number) } }
    mutating func add64(_ numbers: UInt64...) { for number in numbers { add(number) } }

    private mutating func add(_ number: some FixedWidthInteger) {
        withUnsafeBytes(of: number.littleEndian) { bytes += $0 }
    }

    /// The extra field of ZIP64; empty without numbers.
    static func extra(_ numbers: [UInt64]) -> [UInt8] {
        guard !numbers.isEmpty else { return [] }
        var field = LittleEndian()
        field.add16(1, UInt16(numbers.count * 8))
        for number in numbers { field.add64(number) }
        return field.bytes
    }
}

/// CRC-32 as ZIP has it, of bytes that come in pieces.
package struct CRC32 {
    private var state: UInt32 = .max

    package init() {}

    package var value: UInt32 { ~state }

    /// Eight bytes at a time, by the tables of each of their places.
    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        var place = 0
        CRC32.tables.withUnsafeBufferPointer { tables in
            while place + 8 <= bytes.count {
                let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self))
                let mixed = word ^ UInt64(state)
                state = 0
                for index in 0..<8 {
                    state ^= tables[(7 - index) << 8 | Int(truncatingIfNeeded: mixed >> (UInt64(index) * 8) & 0xff)]
                }
                place += 8
            }
            while place < bytes.count {
                state = state >> 8 ^ tables[Int((state ^ UInt32(bytes[place])) & 0xff)]
                place += 1
            }
        }
    }

    /// What a byte changes, for each number of bytes that follow it, from none to seven.
    private static let tables: [UInt32] = {
        var tables = [UInt32](repeating: 0, count: 8 << 8)
        for byte in 0..<256 {
            var value = UInt32(byte)
            for _ in 0..<8 { value = value >> 1 ^ (value & 1 == 1 ? 0xedb8_8320 : 0) }
            tables[byte] = value
        }
        for index in 256..<tables.count {
            let before = tables[index - 256]
            tables[index] = before >> 8 ^ tables[Int(before & 0xff)]
        }
        return tables
    }()
}
