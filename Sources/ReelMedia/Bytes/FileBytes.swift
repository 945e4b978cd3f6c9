internal import CFFmpeg
internal import Glibc
internal import Synchronization

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
    private let writeback: Writeback
    private var end: Int64 = 0
    private var isCommitted = false

    init(_ path: String) throws(ByteFault) {
        name = path
        partial = path + ".part"
        // In a shared store, another user may have put a link there.
        descriptor = open(partial, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw ByteFault(errno: errno) }
        writeback = Writeback(descriptor)
    }

    deinit {
        writeback.wait()
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
        writeback.reached(end)
    }

    func written() throws(ByteFault) -> any ByteSource { try FileByteSource(partial, duplicating: descriptor) }

    func finish() { writeback.begin(size: end) }

    func commit() throws(ByteFault) {
        try writeback.finish()
        guard rename(partial, name) == 0 else { throw ByteFault(errno: errno) }
        isCommitted = true
        try syncFolder()
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
    /// Belongs to the caller.
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
    /// The bytes reserved at a time.
    private static let room: Int64 = 64 << 20

    /// - Parameter descriptor: open for writing, and for longer than this object exists.
    init(_ descriptor: Int32) { self.descriptor = descriptor }

    /// Reports how many bytes of the file are written.
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

    /// Waits until no writeback is running.
    func wait() { thread.wait() }

    /// Waits until the whole file is on disk.
    func finish() throws(ByteFault) {
        wait()
        let code = failure.load(ordering: .relaxed)
        guard code == 0 else { throw ByteFault(errno: code) }
    }
}
