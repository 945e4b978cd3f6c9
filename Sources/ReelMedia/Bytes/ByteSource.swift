internal import CFFmpeg
internal import Glibc
internal import ReelCore
internal import Synchronization

/// Bytes that are read at any offset: a source, a segment, an output. One thread uses it at a time.
protocol ByteSource: AnyObject {
    /// What failures call it.
    var name: String { get }

    func size() throws(ByteFault) -> Int64

    /// Reads up to as many bytes as there is room for, and returns how many: 0 only at the end.
    func read(at offset: Int64, into room: UnsafeMutableRawBufferPointer) throws(ByteFault) -> Int

    /// The version of the bytes, which differs from any other version's.
    func revision() throws(ByteFault) -> ByteRevision

    /// Announces the bytes that are likely to be read next, so that they can be fetched ahead.
    func expect(_ access: ByteAccess)

    /// Whether each place that is read costs a request over a network.
    var isDistant: Bool { get }
}

extension ByteSource {
    var isDistant: Bool { false }
}

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
    func source() throws(ByteFault) -> any ByteSource {
        if let fetched { try FetchedByteSource(fetched, in: file) } else { try FileByteSource(file) }
    }

    /// Begins to write bytes. Earlier bytes stay until the new ones are committed.
    ///
    /// - Parameter isDurable: whether committed bytes survive a crash of the machine.
    func sink(isDurable: Bool = true) throws(ByteFault) -> any ByteSink {
        try FileByteSink(file, isDurable: isDurable)
    }

    /// All bytes of something small: an index, a plan.
    func bytes() throws(ReelFailure) -> [UInt8] {
        try failing(.read, self) { () throws(ByteFault) in try source().bytes() }
    }

    /// Writes all bytes at once: they are complete when this returns, and durable if they are to be.
    func write(_ bytes: [UInt8], isDurable: Bool = true) throws(ReelFailure) {
        try failing(.write, self) { () throws(ByteFault) in
            let sink = try sink(isDurable: isDurable)
            try sink.write(bytes, at: 0)
            sink.finish()
            try sink.commit()
        }
    }

    func revision() throws(ReelFailure) -> ByteRevision {
        do throws(ByteFault) { return try source().revision() } catch { throw sourceFailure(errno: error.errno, name) }
    }
}

/// Does something with bytes that reel itself keeps at a locator; a fault becomes a failure that names step and place.
func failing<R>(_ step: FileStep, _ locator: Locator, _ body: () throws(ByteFault) -> R) throws(ReelFailure) -> R {
    do { return try body() } catch { throw fileFailure(errno: error.errno, step, locator.name) }
}

extension ByteSource {
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

    /// Nothing more will be written: begins to make the bytes durable if they are to be, and does not wait for it.
    func finish()

    /// Waits until the bytes are durable if they are to be, and puts them in their place as a whole.
    func commit() throws(ByteFault)
}

extension ByteSink {
    func write(_ bytes: [UInt8], at offset: Int64) throws(ByteFault) {
        try bytes.withUnsafeBytes { bytes in Result { () throws(ByteFault) in try write(bytes, at: offset) } }.get()
    }
}

/// Bytes that are only counted.
final class CountedBytes: ByteSink {
    let name = "a trial"

    func write(_: UnsafeRawBufferPointer, at _: Int64) {}
    func written() throws(ByteFault) -> any ByteSource { throw ByteFault(errno: ENOTSUP) }
    func finish() {}
    func commit() {}
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

final class FileByteSource: ByteSource {
    let name: String
    private let descriptor: Int32
    private let readBytes = FileReading.current.read
    private let adviser = WorkQueue()

    init(_ path: String) throws(ByteFault) {
        name = path
        descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw ByteFault(errno: errno) }
    }

    /// The file of a descriptor, which still belongs to the caller.
    init(_ path: String, duplicating other: Int32) throws(ByteFault) {
        name = path
        descriptor = fcntl(other, F_DUPFD_CLOEXEC, 0)
        guard descriptor >= 0 else { throw ByteFault(errno: errno) }
    }

    deinit { close(descriptor) }

    func size() throws(ByteFault) -> Int64 {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw ByteFault(errno: errno) }
        return Int64(status.st_size)
    }

    /// Device, file, size and modification time of the file that has the name now.
    func revision() throws(ByteFault) -> ByteRevision {
        var now = stat()
        guard stat(name, &now) == 0 else { throw ByteFault(errno: errno) }
        return ByteRevision(words: [
            Int64(truncatingIfNeeded: now.st_dev), Int64(truncatingIfNeeded: now.st_ino), Int64(now.st_size),
            Int64(now.st_mtim.tv_sec), Int64(now.st_mtim.tv_nsec),
        ])
    }

    func read(at offset: Int64, into room: UnsafeMutableRawBufferPointer) throws(ByteFault) -> Int {
        guard let start = room.baseAddress else { return 0 }
        while true {
            let count = readBytes(descriptor, start, room.count, offset)
            if count >= 0 { return count }
            guard errno == EINTR else { throw ByteFault(errno: errno) }
        }
    }

    func expect(_ access: ByteAccess) {
        switch access {
        case .random: posix_fadvise(descriptor, 0, 0, POSIX_FADV_RANDOM)
        case .range(let range):
            posix_fadvise(descriptor, off_t(range.lowerBound), off_t(range.count), POSIX_FADV_WILLNEED)
        case .places(let places):
            // A thread of its own, since the kernel may wait for the disk here. The kernel then asks the disk for many
            // pieces at once.
            let descriptor = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
            guard descriptor >= 0 else { return }
            adviser.add {
                for place in places { posix_fadvise(descriptor, off_t(place), 1, POSIX_FADV_WILLNEED) }
                close(descriptor)
            }
        }
    }
}

/// A file that gets its name when it is whole: until then it is `NAME.part` in the same folder.
final class FileByteSink: ByteSink {
    let name: String
    private let partial: String
    private let descriptor: Int32
    /// Nil for a file that need not survive a crash of the machine.
    private let writeback: Writeback?
    private var end: Int64 = 0
    private var isCommitted = false

    init(_ path: String, isDurable: Bool) throws(ByteFault) {
        name = path
        partial = path + ".part"
        // In a shared store, another user may have put a link there.
        descriptor = open(partial, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw ByteFault(errno: errno) }
        writeback = isDurable ? Writeback(descriptor) : nil
    }

    deinit {
        writeback?.wait()
        if !isCommitted { unlink(partial) }
        close(descriptor)
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(ByteFault) {
        var done = 0
        while let start = bytes.baseAddress, done < bytes.count {
            let count = pwrite(descriptor, start + done, bytes.count - done, off_t(offset) + done)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw ByteFault(errno: errno) }
            done += count
        }
        end = max(end, offset + Int64(bytes.count))
        writeback?.reached(end)
    }

    func written() throws(ByteFault) -> any ByteSource { try FileByteSource(partial, duplicating: descriptor) }

    func finish() { writeback?.begin(size: end) }

    func commit() throws(ByteFault) {
        try writeback?.finish()
        guard rename(partial, name) == 0 else { throw ByteFault(errno: errno) }
        isCommitted = true
        if writeback != nil { try syncFolder() }
    }

    /// Makes the name durable: after a loss of power the file is found.
    private func syncFolder() throws(ByteFault) {
        let slash = name.lastIndex(of: "/")
        let path = slash.map { $0 == name.startIndex ? "/" : String(name[..<$0]) } ?? "."
        let folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { throw ByteFault(errno: errno) }
        defer { close(folder) }
        guard fsync(folder) == 0 else { throw ByteFault(errno: errno) }
    }
}

/// Writes a file to disk while it is still growing, so that the final sync is short. It also reserves room for the rest
/// of a large file in large pieces, which costs file systems less than block by block. `@unchecked` because only the
/// caller's thread uses what changes, except for `failure`.
final class Writeback: @unchecked Sendable {
    /// Belongs to the caller, and is open for writing for longer than this object exists.
    private let descriptor: Int32
    private let thread = WorkQueue()
    /// Bytes of the file whose writeback has begun.
    private var begun: Int64 = 0
    /// The offset up to which room is reserved.
    private var reserved: Int64 = 0
    /// The errno of the first failure; 0 for success.
    private let failure = Atomic<Int32>(0)

    /// The least number of bytes that are worth a writeback.
    private static let step: Int64 = 16 << 20
    private static let room: Int64 = 64 << 20

    init(_ descriptor: Int32) { self.descriptor = descriptor }

    func reached(_ size: Int64) {
        guard size - begun >= Self.step else { return }
        let (start, length) = (begun, size - begun)
        begun = size
        // This call waits if the disk is busy. The last sync also reports a failure.
        thread.add { [descriptor] in reel_begin_writing(descriptor, start, length) }
        guard size + Self.step > reserved else { return }
        reserved = max(size, reserved)
        reel_reserve_room(descriptor, reserved, Self.room)
        reserved += Self.room
    }

    /// Begins the writeback of the whole file, now that it has its final size. The file may be read meanwhile.
    func begin(size: Int64) {
        thread.add { [self, reserved] in
            // Releases the reserved room after the file's end.
            guard reserved <= size || ftruncate(descriptor, off_t(size)) == 0, fsync(descriptor) == 0 else {
                return failure.store(errno, ordering: .relaxed)
            }
        }
    }

    func wait() { thread.wait() }

    /// Waits until the whole file is on disk.
    func finish() throws(ByteFault) {
        wait()
        let code = failure.load(ordering: .relaxed)
        guard code == 0 else { throw ByteFault(errno: code) }
    }
}
