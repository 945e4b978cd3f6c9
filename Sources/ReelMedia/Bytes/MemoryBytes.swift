internal import Glibc

/// Bytes in memory, for a file that is written only to be read back.
final class MemoryBytes: ByteSource, ByteSink {
    let name: String
    private var bytes: [UInt8] = []

    init(name: String) { self.name = name }

    func size() -> Int64 { Int64(bytes.count) }

    func revision() -> ByteRevision { ByteRevision(words: []) }

    func expect(_: ByteAccess) {}

    func read(at offset: Int64, into room: UnsafeMutableRawBufferPointer) -> Int {
        guard (0..<size()).contains(offset) else { return 0 }
        let count = min(room.count, bytes.count - Int(offset))
        bytes.withUnsafeBytes {
            room.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[Int(offset)...].prefix(count)))
        }
        return count
    }

    func write(_ more: UnsafeRawBufferPointer, at offset: Int64) {
        let start = Int(offset)
        if start + more.count > bytes.count {
            bytes += repeatElement(0, count: start + more.count - bytes.count)
        }
        bytes.withUnsafeMutableBytes { room in
            UnsafeMutableRawBufferPointer(rebasing: room[start..<start + more.count]).copyMemory(from: more)
        }
    }

    func written() -> any ByteSource { self }

    func finish() {}

    func commit() {}
}
