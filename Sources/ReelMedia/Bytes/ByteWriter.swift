internal import CFFmpeg
internal import Glibc
internal import ReelCore

/// Bytes that libavformat writes by way of reel, into a sink.
final class ByteWriter {
    /// libavformat's view of the bytes.
    private(set) var native: UnsafeMutablePointer<AVIOContext>
    private let sink: any ByteSink
    private var position: Int64 = 0
    /// Bytes written so far, up to the last one.
    private(set) var size: Int64 = 0

    /// Bytes written at once.
    private static let buffer = 32 << 10

    init(_ sink: any ByteSink) throws(ReelFailure) {
        self.sink = sink
        let room = av_malloc(Self.buffer)?.assumingMemoryBound(to: UInt8.self)
        guard let native = reel_alloc_writer(room, Int32(Self.buffer), writeBytes, seekBytes) else {
            av_free(room)
            throw mediaFailure(reel_error_no_memory, .openMuxer, sink.name)
        }
        self.native = native
        // Not retained: the context is freed with this object, and nothing else calls it.
        native.pointee.opaque = Unmanaged.passUnretained(self).toOpaque()
    }

    deinit {
        av_free(native.pointee.buffer)
        var context: UnsafeMutablePointer<AVIOContext>? = native
        avio_context_free(&context)
    }

    fileprivate func write(_ bytes: UnsafeRawBufferPointer) -> Int32 {
        do {
            try sink.write(bytes, at: position)
        } catch {
            return -error.errno
        }
        position += Int64(bytes.count)
        size = max(size, position)
        return Int32(bytes.count)
    }

    fileprivate func seek(to offset: Int64, _ whence: Int32) -> Int64 {
        switch whence & ~AVSEEK_FORCE {
        case AVSEEK_SIZE: return size
        case SEEK_SET where offset >= 0: position = offset
        case SEEK_CUR where position + offset >= 0: position += offset
        case SEEK_END where size + offset >= 0: position = size + offset
        default: return Int64(-EINVAL)
        }
        return position
    }
}

private func writeBytes(
    _ writer: UnsafeMutableRawPointer?, _ bytes: UnsafePointer<UInt8>?, _ count: Int32
) -> Int32 {
    guard let writer else { return -EINVAL }
    return Unmanaged<ByteWriter>.fromOpaque(writer).takeUnretainedValue()
        .write(UnsafeRawBufferPointer(start: bytes, count: Int(count)))
}

private func seekBytes(_ writer: UnsafeMutableRawPointer?, _ offset: Int64, _ whence: Int32) -> Int64 {
    guard let writer else { return Int64(-EINVAL) }
    return Unmanaged<ByteWriter>.fromOpaque(writer).takeUnretainedValue().seek(to: offset, whence)
}
