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

/// How bytes are going to be read.
enum ByteAccess {
    /// This range, soon.
    case range(Range<Int64>)
    /// The bytes that begin at these offsets, soon.
    case places([Int64])
    /// Little of it, here and there.
    case random
}

/// A version of bytes: two revisions are equal only if the bytes are the same, as far as their keeper can tell.
struct ByteRevision: Equatable {
    let words: [Int64]
}

/// A system error while bytes were read or written.
struct ByteFault: Error {
    /// The error number, as in errno(3). Sources that are no files use the number that fits best: ETIMEDOUT, for example.
    let errno: Int32
}

extension Locator {
    /// Opens the bytes for reading.
    func source() throws(ByteFault) -> any ByteSource {
        switch self {
        case .file(let path): try FileByteSource(path)
        }
    }

    /// Begins to write bytes there. Earlier bytes stay until the new ones are committed.
    func sink() throws(ByteFault) -> any ByteSink {
        switch self {
        case .file(let path): try FileByteSink(path)
        }
    }

    /// All bytes of something small: an index, a plan.
    func bytes() throws(ReelFailure) -> [UInt8] {
        try failing(.read, self) { () throws(ByteFault) in
            let source = try source()
            return try source.bytes(0..<source.size())
        }
    }

    /// Writes all bytes at once: they are durable, and there as a whole, when this returns.
    func write(_ bytes: [UInt8]) throws(ReelFailure) {
        try failing(.write, self) { () throws(ByteFault) in
            let sink = try sink()
            try bytes.withUnsafeBytes { bytes in
                Result { () throws(ByteFault) in try sink.write(bytes, at: 0) }
            }.get()
            sink.finish()
            try sink.commit()
        }
    }

    /// The version of a source's bytes that is there now.
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
    /// The bytes of a range, fewer at the end.
    func bytes(_ range: Range<Int64>) throws(ByteFault) -> [UInt8] {
        try [UInt8](unsafeUninitializedCapacity: range.count) { (buffer, length) throws(ByteFault) in
            length = try fill(UnsafeMutableRawBufferPointer(buffer), from: range.lowerBound)
        }
    }

    /// Fills the room as far as there are bytes, and returns how many there were.
    func fill(_ room: UnsafeMutableRawBufferPointer, from offset: Int64) throws(ByteFault) -> Int {
        var done = 0
        while done < room.count {
            let count = try read(
                at: offset + Int64(done), into: UnsafeMutableRawBufferPointer(rebasing: room[done...]))
            if count == 0 { break }
            done += count
        }
        return done
    }
}

/// Bytes that are being written, at any offset. They are not there for others until `commit` returns; if the sink goes
/// before that, nothing is. One thread uses it at a time.
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
