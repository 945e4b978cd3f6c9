internal import Glibc
internal import ReelCore

/// Bytes that are read at any offset: a source, a segment, an output. One thread uses it at a time.
protocol ByteSource: AnyObject {
    /// What failures call it.
    var name: String { get }

    /// How many bytes there are.
    func size() throws(ByteFault) -> Int64

    /// Reads up to as many bytes as there is room for, and returns how many: 0 only at the end.
    func read(at offset: Int64, into room: UnsafeMutableRawBufferPointer) throws(ByteFault) -> Int

    /// The version of the bytes, which differs from any other version's.
    func revision() throws(ByteFault) -> ByteRevision

    /// Announces the bytes that are likely to be read next, so that they can be fetched ahead.
    func expect(_ access: ByteAccess)
}

/// How bytes will be read.
enum ByteAccess {
    /// This range, soon.
    case range(Range<Int64>)
    /// The bytes that begin at these offsets, soon.
    case places([Int64])
    /// Few bytes at random places.
    case random
}

/// A version of bytes: two revisions are equal only if the bytes are the same, as far as their keeper can tell.
struct ByteRevision: Equatable { let words: [Int64] }

/// A system error while bytes were read or written.
struct ByteFault: Error {
    /// The error number, as in errno(3). Sources other than files use the number that fits best, for example ETIMEDOUT.
    let errno: Int32
}

extension Locator {
    func source() throws(ByteFault) -> any ByteSource { try FileByteSource(file) }

    /// Begins to write bytes. Earlier bytes stay until the new ones are committed.
    func sink() throws(ByteFault) -> any ByteSink { try FileByteSink(file) }

    /// All bytes of something small: an index, a plan.
    func bytes() throws(ReelFailure) -> [UInt8] {
        try failing(.read, self) { () throws(ByteFault) in try source().bytes() }
    }

    /// Writes all bytes at once: they are durable and complete when this returns.
    func write(_ bytes: [UInt8]) throws(ReelFailure) {
        try failing(.write, self) { () throws(ByteFault) in
            let sink = try sink()
            try bytes.withUnsafeBytes { bytes in Result { () throws(ByteFault) in try sink.write(bytes, at: 0) } }.get()
            sink.finish()
            try sink.commit()
        }
    }

    /// The present version of a source's bytes.
    func revision() throws(ReelFailure) -> ByteRevision {
        do throws(ByteFault) {
            return try source().revision()
        } catch {
            throw sourceFailure(errno: error.errno, name)
        }
    }
}

/// Does something with bytes that reel itself keeps at a locator; a fault becomes a failure that names step and place.
func failing<Result>(
    _ step: FileStep, _ locator: Locator, _ body: () throws(ByteFault) -> Result
) throws(ReelFailure) -> Result {
    do {
        return try body()
    } catch {
        throw fileFailure(errno: error.errno, step, locator.name)
    }
}

extension ByteSource {
    /// All bytes.
    fileprivate func bytes() throws(ByteFault) -> [UInt8] {
        try [UInt8](unsafeUninitializedCapacity: Int(size())) { (buffer, length) throws(ByteFault) in
            while length < buffer.count {
                let rest = UnsafeMutableBufferPointer(rebasing: buffer[length...])
                let count = try read(at: Int64(length), into: UnsafeMutableRawBufferPointer(rest))
                if count == 0 { break }
                length += count
            }
        }
    }
}

/// Bytes that are being written, at any offset. Others see them only when `commit` has returned; if the sink is freed
/// before that, they are discarded. One thread uses it at a time.
protocol ByteSink: AnyObject {
    /// What failures call it.
    var name: String { get }

    /// Writes all of these bytes, over earlier ones or beyond their end.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(ByteFault)

    /// The bytes written so far, to be read while the sink exists.
    func written() throws(ByteFault) -> any ByteSource

    /// Nothing more will be written: begins to make the bytes durable, and does not wait for it.
    func finish()

    /// Waits until the bytes are durable, and puts them in their place as a whole.
    func commit() throws(ByteFault)
}

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
        if start + more.count > bytes.count { bytes += repeatElement(0, count: start + more.count - bytes.count) }
        bytes.withUnsafeMutableBytes { room in
            UnsafeMutableRawBufferPointer(rebasing: room[start..<start + more.count]).copyMemory(from: more)
        }
    }

    func written() -> any ByteSource { self }

    func finish() {}

    func commit() {}
}
