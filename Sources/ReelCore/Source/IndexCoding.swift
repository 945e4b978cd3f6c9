/// Writes the numbers of the binary index: seven bits per byte, low ones first. Signed numbers are folded so that small
/// magnitudes stay short (LEB128 and zig-zag, as in Protocol Buffers).
struct IndexEncoder {
    private(set) var bytes: [UInt8] = []

    mutating func reserve(_ count: Int) { bytes.reserveCapacity(count) }

    mutating func append(_ byte: UInt8) { bytes.append(byte) }

    mutating func append(_ more: some Sequence<UInt8>) { bytes.append(contentsOf: more) }

    mutating func unsigned(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }

    mutating func signed(_ value: Int64) { unsigned(UInt64(bitPattern: (value << 1) ^ (value >> 63))) }

    /// Eight bytes, low ones first.
    mutating func fixed(_ value: UInt64) {
        for shift in stride(from: 0, to: 64, by: 8) { bytes.append(UInt8(truncatingIfNeeded: value >> UInt64(shift))) }
    }

    /// Appends the FNV-1a hash of the bytes written so far. It detects damage, not malice.
    mutating func seal() { fixed(checksum(bytes[...])) }

    // The table of a track's cues in the binary index; see `SourceIndex.encoded()`.
    mutating func write(_ cues: [Cue]) {
        unsigned(UInt64(cues.count))
        var start: Int64 = 0
        for cue in cues {
            signed(cue.interval.start.ticks &- start)
            unsigned(UInt64(bitPattern: cue.interval.duration.count))
            for part in [cue.text.payload, cue.text.identifier, cue.text.settings] {
                unsigned(UInt64(part.count))
                append(part)
            }
            start = cue.interval.start.ticks
        }
    }
}

/// Reads the bytes that `IndexEncoder` wrote. Every number is checked: damaged input throws and never traps.
struct IndexDecoder {
    private let bytes: [UInt8]
    private(set) var offset = 0
    /// The offset at which the checksum begins.
    private let end: Int

    /// Takes bytes that end in their checksum.
    init(sealed bytes: [UInt8]) throws(ReelFailure) {
        self.bytes = bytes
        end = max(bytes.count - 8, 0)
        guard bytes.count >= 8, fixed(bytes[end...]) == checksum(bytes[..<end]) else { throw damaged(.checksum) }
    }

    var remaining: Int { end - offset }

    mutating func byte() throws(ReelFailure) -> UInt8 {
        guard offset < end else { throw damaged(.truncated) }
        defer { offset += 1 }
        return bytes[offset]
    }

    mutating func bytes(_ count: Int) throws(ReelFailure) -> ArraySlice<UInt8> {
        guard count <= remaining else { throw damaged(.truncated) }
        defer { offset += count }
        return bytes[offset..<offset + count]
    }

    mutating func unsigned() throws(ReelFailure) -> UInt64 {
        var value: UInt64 = 0
        for shift in stride(from: 0, to: 64, by: 7) {
            let byte = try byte()
            value |= UInt64(byte & 0x7F) << UInt64(shift)
            guard byte >= 0x80 else { return value }
        }
        throw damaged(.number)
    }

    mutating func signed() throws(ReelFailure) -> Int64 {
        let folded = try unsigned()
        return Int64(bitPattern: folded >> 1) ^ -Int64(bitPattern: folded & 1)
    }

    /// The number of entries that follow, each of at least `least` bytes; never more than the remaining bytes can hold.
    mutating func count(least: Int) throws(ReelFailure) -> Int {
        guard let count = Int(exactly: try unsigned()), count <= remaining / least else { throw damaged(.count) }
        return count
    }

    func damaged(_ flaw: IndexFlaw) -> ReelFailure { ReelFailure(.indexDamaged(offset: offset, flaw: flaw)) }

    /// A table of `count` rows, each read by `row`.
    mutating func table<Row>(
        of count: Int, _ row: (inout IndexDecoder) throws(ReelFailure) -> Row
    ) throws(ReelFailure) -> [Row] {
        var rows: [Row] = []
        rows.reserveCapacity(count)
        for _ in 0..<count { rows.append(try row(&self)) }
        return rows
    }

    mutating func cues() throws(ReelFailure) -> [Cue] {
        var start: Int64 = 0
        return try table(of: count(least: 5)) { reader throws(ReelFailure) in
            start &+= try reader.signed()
            let duration = Int64(bitPattern: try reader.unsigned())
            guard isTime(start), (0...Timestamp.bound).contains(duration) else { throw reader.damaged(.time) }
            return Cue(
                interval: Interval(start: Timestamp(start), duration: Ticks(duration)),
                text: CueText(payload: try reader.list(), identifier: try reader.list(), settings: try reader.list()))
        }
    }

    /// Bytes with their count before them.
    mutating func list() throws(ReelFailure) -> [UInt8] {
        let length = try count(least: 1)
        return Array(try bytes(length))
    }
}

/// The number of eight bytes, low ones first.
func fixed(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) } }

/// FNV-1a, 64 bits.
private func checksum(_ bytes: ArraySlice<UInt8>) -> UInt64 {
    bytes.withUnsafeBufferPointer { buffer in
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in buffer { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        return hash
    }
}
