internal import CFFmpeg
internal import Glibc
internal import ReelCore

/// Bytes that libavformat reads or writes by way of reel.
class NativeBytes {
    let native: UnsafeMutablePointer<AVIOContext>
    fileprivate var position: Int64 = 0

    /// Bytes read or written at once. More would be wasted if a demuxer seeks often.
    fileprivate static let buffer = 32 << 10

    fileprivate init(
        _ name: String, _ step: MediaStep,
        _ makeContext: (_ room: UnsafeMutablePointer<UInt8>?, _ size: Int32) -> UnsafeMutablePointer<AVIOContext>?
    ) throws(ReelFailure) {
        let room = av_malloc(Self.buffer)?.assumingMemoryBound(to: UInt8.self)
        guard let native = makeContext(room, Int32(Self.buffer)) else {
            av_free(room)
            throw mediaFailure(reel_error_no_memory, step, name)
        }
        self.native = native
        // Not retained: the context is freed with this object, and nothing else calls it.
        native.pointee.opaque = Unmanaged.passUnretained(self).toOpaque()
    }

    deinit {
        av_free(native.pointee.buffer)
        release(native, avio_context_free)
    }

    var size: Int64 { 0 }

    /// libavformat itself turns other ways of seeking into these.
    fileprivate func seek(to offset: Int64, _ whence: Int32) -> Int64 {
        if whence & ~AVSEEK_FORCE == AVSEEK_SIZE { return size }
        guard whence & ~AVSEEK_FORCE == SEEK_SET, offset >= 0 else { return Int64(-EINVAL) }
        position = offset
        return position
    }
}

private func seekBytes(_ bytes: UnsafeMutableRawPointer?, _ offset: Int64, _ whence: Int32) -> Int64 {
    guard let bytes else { return Int64(-EINVAL) }
    return Unmanaged<NativeBytes>.fromOpaque(bytes).takeUnretainedValue().seek(to: offset, whence)
}

/// Bytes that libavformat reads by way of reel: they are counted, payload can be left where it is, and an error of
/// the system is remembered, since libavformat takes it for damage or for the end of the file.
final class ByteReader: NativeBytes {
    enum Kind {
        /// The video to be reversed.
        case source
        /// An output that is read back: all its bytes are hashed, in whatever order the demuxer wants them.
        case output
        /// A segment that is read once from its start to its end, and hashed.
        case segment
    }

    private let source: any ByteSource
    private let kind: Kind
    private let digest: FileDigest?
    /// Up to where the bytes have been hashed.
    private var digested: Int64 = 0
    /// The first error of the system at these bytes; nil while there was none.
    private var fault: Int32?
    private(set) var bytesRead: Int64 = 0
    /// The size up to which reads of payload are skipped; nil while everything is read.
    private var pretendedSize: Int64?
    /// Up to where the source has been asked to read ahead; nil while it is left to itself.
    private var asked: Int64?

    /// How far before the demuxer the source reads, at least half of it: a kernel's own read-ahead leaves a fast disk
    /// idle whenever the demuxer parses for longer.
    private static let ahead: Int64 = 32 << 20

    convenience init(_ locator: Locator, _ kind: Kind = .source) throws(ReelFailure) {
        let source: any ByteSource
        do { source = try locator.source() } catch { throw ByteReader.failure(error.errno, .open, locator.name, kind) }
        try self.init(source, kind)
    }

    init(_ source: any ByteSource, _ kind: Kind) throws(ReelFailure) {
        (self.source, self.kind) = (source, kind)
        digest = kind == .source ? nil : FileDigest()
        try super.init(source.name, .openFile) { avio_alloc_context($0, $1, 0, nil, readBytes, nil, seekBytes) }
        if kind == .segment { (native.pointee.seek, native.pointee.seekable) = (nil, 0) }
    }

    var name: String { source.name }

    /// Throws if the system has refused to read, even if libavformat took that for the end of the file.
    func check() throws(ReelFailure) {
        if let fault { throw ByteReader.failure(fault, .read, name, kind) }
    }

    private static func failure(_ errno: Int32, _ step: FileStep, _ name: String, _ kind: Kind) -> ReelFailure {
        kind == .source ? sourceFailure(errno: errno, name) : fileFailure(errno: errno, step, name)
    }

    /// How many bytes there are; 0 if the system does not say, which `check` throws.
    override var size: Int64 {
        do {
            return try source.size()
        } catch {
            note(error.errno)
            return 0
        }
    }

    private func note(_ errno: Int32) { fault = fault ?? errno }

    /// SHA-256 of the whole of an output or a segment, in hexadecimal. Reads the bytes that the demuxer has left;
    /// nothing may be read afterwards.
    func checksum() throws(ReelFailure) -> String {
        position = digested
        var rest = [UInt8](repeating: 0, count: Self.buffer)
        while read(into: &rest, Int32(rest.count)) > 0 {}
        try check()
        return digest?.finish() ?? ""
    }

    /// From now on nothing but `fetch` reads: the demuxer knows all headers, and its packets keep the bytes that their
    /// memory held.
    func leavePayload() {
        pretendedSize = size
        // With direct reads, packets keep their bytes unread.
        native.pointee.direct = 1
        source.expect(.random)
    }

    /// Whether each place that is read costs a request over a network.
    var isDistant: Bool { source.isDistant }

    /// From now on all is read from start to end.
    func readAhead() { asked = 0 }

    /// Has the bytes that begin at these offsets read before `fetch` is called, since that waits for each.
    func expect(_ offsets: [Int64]) { source.expect(.places(offsets)) }

    /// Has the bytes of a range read before the demuxer comes to them.
    func expect(_ range: Range<Int64>) { source.expect(.range(range)) }

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

    /// The bytes at an offset, fewer at the end.
    func bytes(at offset: Int64, _ count: Int) throws(ReelFailure) -> [UInt8] {
        try [UInt8](unsafeUninitializedCapacity: count) { (buffer, length) throws(ReelFailure) in
            length = try fetch(at: offset, into: UnsafeMutableRawBufferPointer(buffer))
        }
    }

    /// Bytes read, or an error of libav*.
    private func read(at offset: Int64, into bytes: UnsafeMutableRawPointer, _ count: Int) -> Int32 {
        let result: Int
        do {
            result = try source.read(at: offset, into: UnsafeMutableRawBufferPointer(start: bytes, count: count))
        } catch {
            note(error.errno)
            return -(fault ?? EIO)
        }
        bytesRead += Int64(result)
        if let digest { add(UnsafeRawBufferPointer(start: bytes, count: result), at: offset, to: digest) }
        return result == 0 ? reel_error_eof : Int32(result)
    }

    /// Hashes the bytes that follow those already hashed. Demuxers go to a table at a file's end and come back: its
    /// bytes are hashed when they are read in their turn.
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
            source.expect(.range(max(asked, position)..<position + Self.ahead))
            self.asked = position + Self.ahead
        }
        return result
    }
}

private func readBytes(
    _ reader: UnsafeMutableRawPointer?, _ bytes: UnsafeMutablePointer<UInt8>?, _ count: Int32
) -> Int32 {
    guard let reader, let bytes else { return -EINVAL }
    return Unmanaged<ByteReader>.fromOpaque(reader).takeUnretainedValue().read(into: bytes, count)
}

final class ByteWriter: NativeBytes {
    private let sink: any ByteSink
    private var end: Int64 = 0

    init(_ sink: any ByteSink) throws(ReelFailure) {
        self.sink = sink
        try super.init(sink.name, .openMuxer) { reel_alloc_writer($0, $1, writeBytes, seekBytes) }
    }

    override var size: Int64 { end }

    fileprivate func write(_ bytes: UnsafeRawBufferPointer) -> Int32 {
        do { try sink.write(bytes, at: position) } catch { return -error.errno }
        position += Int64(bytes.count)
        end = max(end, position)
        return Int32(bytes.count)
    }
}

private func writeBytes(_ writer: UnsafeMutableRawPointer?, _ bytes: UnsafePointer<UInt8>?, _ count: Int32) -> Int32 {
    guard let writer else { return -EINVAL }
    return Unmanaged<ByteWriter>.fromOpaque(writer).takeUnretainedValue()
        .write(UnsafeRawBufferPointer(start: bytes, count: Int(count)))
}
