internal import Glibc

/// A file, open for reading.
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

    /// The file of a descriptor, which stays its owner's.
    init(_ path: String, duplicating other: Int32) throws(ByteFault) {
        name = path
        descriptor = fcntl(other, F_DUPFD_CLOEXEC, 0)
        guard descriptor >= 0 else { throw ByteFault(errno: errno) }
    }

    deinit { close(descriptor) }

    func size() throws(ByteFault) -> Int64 { Int64(try status().st_size) }

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

    private func status() throws(ByteFault) -> stat {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw ByteFault(errno: errno) }
        return status
    }
}
