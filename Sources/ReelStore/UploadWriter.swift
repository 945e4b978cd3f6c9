internal import Glibc
package import ReelCore
internal import Synchronization

/// Writes the bytes of one piece of an upload. Nobody else can write the upload until this has finished or dropped the piece,
/// or is gone.
package final class UploadWriter: Sendable {
    /// The upload's length when this began.
    package let offset: Int64
    private let upload: Upload
    private let file: Descriptor
    private let lock: FileLock
    private let unchecked: String?
    private let turn = Mutex(())

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
    package func write(_ bytes: ArraySlice<UInt8>) throws(ReelFailure) {
        try turn.withLock { _ throws(ReelFailure) in
            do throws(SystemCode) {
                try file.write(bytes)
            } catch {
                throw SystemError.store(.write, upload.data, error.value)
            }
        }
    }

    /// Makes what was written durable, lets it count, and lets others write. Blocks.
    ///
    /// The lock does not wait for this object to go: a client that is told that the piece has come sends the next one at once, and a
    /// task that ends may hold the object a moment longer.
    package func finish() throws(ReelFailure) {
        try turn.withLock { _ throws(ReelFailure) in try end() }
    }

    private func end() throws(ReelFailure) {
        defer { lock.release() }
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
    package func drop() throws(ReelFailure) {
        try turn.withLock { _ throws(ReelFailure) in
            do throws(SystemCode) {
                if try Int64(file.status().st_size) > offset, ftruncate(file.number, off_t(offset)) != 0 {
                    throw SystemCode(errno)
                }
            } catch {
                throw SystemError.store(.write, upload.data, error.value)
            }
            try end()
        }
    }
}
