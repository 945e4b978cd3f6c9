internal import Glibc

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
        // In a store that others share, a link might stand there.
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
