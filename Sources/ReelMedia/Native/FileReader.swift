internal import CFFmpeg
internal import Dispatch
internal import Glibc
internal import ReelCore

/// A file that libavformat reads by way of reel: what is read is counted, payload can be left on the disk, and an error of
/// the system is remembered, since libavformat takes it for damage or for the end of the file.
final class FileReader {
    enum Kind {
        /// What reel is to reverse.
        case source
        /// What reel has written and reads back: all its bytes are hashed, in whatever order the demuxer wants them.
        case output
        /// The same, read once from its start to its end.
        case segment
    }

    /// libavformat's view of the file.
    private(set) var native: UnsafeMutablePointer<AVIOContext>
    let path: String
    private let kind: Kind
    private let descriptor: Int32
    private let digest: FileDigest?
    /// Up to where the file has been hashed.
    private var digested: Int64 = 0
    private let readBytes = FileReading.current.read
    /// The first error of the system at this file; nil while there was none.
    private var fault: Int32?
    private var position: Int64 = 0
    /// Bytes that were read from the file so far.
    private(set) var bytesRead: Int64 = 0
    /// Where the file ends up to which reading payload is pretended; nil while everything is read.
    private var pretendedSize: Int64?
    /// Up to where the kernel has been asked to read; nil while it is left to itself.
    private var asked: Int64?

    /// Bytes read at once: more would be read in vain where a demuxer goes to and fro.
    private static let buffer = 32 << 10
    /// How far before the demuxer the kernel reads, at least half of it: what it reads ahead by itself leaves a fast disk
    /// idle whenever the demuxer parses for longer.
    private static let ahead: Int64 = 32 << 20

    init(_ path: String, _ kind: Kind = .source) throws(ReelFailure) {
        self.path = path
        self.kind = kind
        digest = kind == .source ? nil : FileDigest()
        descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileReader.failure(errno, .open, path, kind) }
        let room = av_malloc(Self.buffer)?.assumingMemoryBound(to: UInt8.self)
        guard let native = avio_alloc_context(room, Int32(Self.buffer), 0, nil, readFile, nil, seekFile) else {
            av_free(room)
            close(descriptor)
            throw mediaFailure(reel_error_no_memory, .openFile, path)
        }
        self.native = native
        // Not retained: the context is freed with this object, and nothing else calls it.
        native.pointee.opaque = Unmanaged.passUnretained(self).toOpaque()
        if kind == .segment { (native.pointee.seek, native.pointee.seekable) = (nil, 0) }
    }

    deinit {
        av_free(native.pointee.buffer)
        var context: UnsafeMutablePointer<AVIOContext>? = native
        avio_context_free(&context)
        close(descriptor)
    }

    var size: Int64 {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            note(errno)
            return 0
        }
        return Int64(status.st_size)
    }

    /// Throws where the system has refused to read the file, whatever was made of that: what has been read may be less
    /// than there is.
    func check() throws(ReelFailure) {
        if let fault { throw FileReader.failure(fault, .read, path, kind) }
    }

    private static func failure(_ errno: Int32, _ step: FileStep, _ path: String, _ kind: Kind) -> ReelFailure {
        kind == .source ? sourceFailure(errno: errno, path) : fileFailure(errno: errno, step, path)
    }

    private func note(_ errno: Int32) {
        if fault == nil { fault = errno }
    }

    /// SHA-256 of the whole of an output or a segment, in hexadecimal: reads what the demuxer has left of it, and nothing
    /// is read of it afterwards.
    func checksum() throws(ReelFailure) -> String {
        position = digested
        var rest = [UInt8](repeating: 0, count: Self.buffer)
        while rest.withUnsafeMutableBufferPointer({ buffer in
            buffer.baseAddress.map { read(into: $0, Int32(buffer.count)) } ?? reel_error_eof
        }) > 0 {}
        try check()
        return digest?.finish() ?? ""
    }

    /// From now on nothing but `fetch` reads from the disk: the demuxer knows all headers, and what it reads into its
    /// packets is left as it was.
    func leavePayload() {
        pretendedSize = size
        // Straight into the packets, that is not at all.
        native.pointee.direct = 1
        posix_fadvise(descriptor, 0, 0, POSIX_FADV_RANDOM)
    }

    /// From now on all is read from start to end.
    func readAhead() { asked = 0 }

    /// Has the kernel read what begins at these offsets before it is fetched: it asks a disk for many pieces at once, and
    /// `fetch` waits for each.
    func expect(_ offsets: [Int64]) {
        let descriptor = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        guard descriptor >= 0 else { return }
        DispatchQueue.global().async {
            for offset in offsets { posix_fadvise(descriptor, off_t(offset), 1, POSIX_FADV_WILLNEED) }
            close(descriptor)
        }
    }

    /// Reads the bytes at an offset; returns how many there were.
    func fetch(at offset: Int64, into bytes: UnsafeMutableRawBufferPointer) throws(ReelFailure) -> Int {
        var done = 0
        while let start = bytes.baseAddress, done < bytes.count {
            let count = read(at: offset + Int64(done), into: start + done, bytes.count - done)
            guard count != reel_error_eof else { break }
            try check()
            done += Int(count)
        }
        return done
    }

    /// The bytes at an offset, fewer at the end of the file.
    func bytes(at offset: Int64, _ count: Int) throws(ReelFailure) -> [UInt8] {
        try [UInt8](unsafeUninitializedCapacity: count) { (buffer, length) throws(ReelFailure) in
            length = try fetch(at: offset, into: UnsafeMutableRawBufferPointer(buffer))
        }
    }

    /// Bytes read, or an error of libav*.
    private func read(at offset: Int64, into bytes: UnsafeMutableRawPointer, _ count: Int) -> Int32 {
        var result = readBytes(descriptor, bytes, count, offset)
        while result < 0, errno == EINTR { result = readBytes(descriptor, bytes, count, offset) }
        guard result >= 0 else {
            note(errno)
            return -(fault ?? EIO)
        }
        bytesRead += Int64(result)
        if let digest { add(UnsafeRawBufferPointer(start: bytes, count: result), at: offset, to: digest) }
        return result == 0 ? reel_error_eof : Int32(result)
    }

    /// Hashes what follows on that which has been hashed. Demuxers go to a table at a file's end and come back: what was
    /// read there is hashed when it is read in its turn.
    private func add(_ bytes: UnsafeRawBufferPointer, at offset: Int64, to digest: FileDigest) {
        let known = digested - offset
        guard (0..<Int64(bytes.count)).contains(known) else { return }
        digest.add(UnsafeRawBufferPointer(rebasing: bytes[Int(known)...]))
        digested = offset + Int64(bytes.count)
    }

    fileprivate func read(into bytes: UnsafeMutablePointer<UInt8>, _ count: Int32) -> Int32 {
        let result =
            if let pretendedSize {
                position < pretendedSize ? Int32(min(Int64(count), pretendedSize - position)) : reel_error_eof
            } else {
                read(at: position, into: bytes, Int(count))
            }
        position += Int64(max(result, 0))
        if let asked, position + Self.ahead / 2 >= asked {
            let (start, end) = (max(asked, position), position + Self.ahead)
            posix_fadvise(descriptor, off_t(start), off_t(end - start), POSIX_FADV_WILLNEED)
            self.asked = end
        }
        return result
    }

    fileprivate func seek(to offset: Int64, _ whence: Int32) -> Int64 {
        switch whence & ~AVSEEK_FORCE {
        case AVSEEK_SIZE: return size
        case SEEK_SET where offset >= 0: position = offset
        case SEEK_CUR where position + offset >= 0: position += offset
        default: return Int64(-EINVAL)
        }
        return position
    }
}

private func readFile(
    _ reader: UnsafeMutableRawPointer?, _ bytes: UnsafeMutablePointer<UInt8>?, _ count: Int32
) -> Int32 {
    guard let reader, let bytes else { return -EINVAL }
    return Unmanaged<FileReader>.fromOpaque(reader).takeUnretainedValue().read(into: bytes, count)
}

private func seekFile(_ reader: UnsafeMutableRawPointer?, _ offset: Int64, _ whence: Int32) -> Int64 {
    guard let reader else { return Int64(-EINVAL) }
    return Unmanaged<FileReader>.fromOpaque(reader).takeUnretainedValue().seek(to: offset, whence)
}
