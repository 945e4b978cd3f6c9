internal import Glibc
public import ReelCore

/// Writes the bytes of an upload, one piece after another. Nobody else can write it as long as this lives.
public final class UploadWriter: Sendable {
    /// The upload's length when this began.
    public let offset: Int64
    private let upload: Upload
    private let file: Descriptor
    private let lock: FileLock
    private let unchecked: String?

    init(
        _ upload: Upload, _ file: consuming Descriptor, lock: FileLock, offset: Int64, unchecked: String?
    ) {
        self.upload = upload
        self.file = file
        self.lock = lock
        self.offset = offset
        self.unchecked = unchecked
    }

    /// Appends bytes. Blocks. Throws `.storeFull` and `.storeUnusable`.
    public func write(_ bytes: ArraySlice<UInt8>) throws(ReelFailure) {
        do {
            try file.write(bytes)
        } catch {
            throw SystemError.store(.write, upload.data, error.value)
        }
    }

    /// Makes what was written durable, and lets it count. Blocks.
    public func finish() throws(ReelFailure) {
        do {
            try file.sync()
            if let unchecked {
                unlink(unchecked)
                try Files.syncFolder(upload.folder)
            }
        } catch {
            throw SystemError.store(.write, upload.data, error.value)
        }
    }

    /// Drops what was written. If that is nothing, the file keeps its time: a job may have it as its source.
    public func drop() throws(ReelFailure) {
        do throws(SystemCode) {
            if try Int64(file.status().st_size) > offset, ftruncate(file.number, off_t(offset)) != 0 {
                throw SystemCode(errno)
            }
        } catch {
            throw SystemError.store(.write, upload.data, error.value)
        }
        try finish()
    }
}
