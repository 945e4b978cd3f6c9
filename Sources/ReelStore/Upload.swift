internal import Glibc
package import ReelCore
internal import Synchronization

/// A file that is being uploaded, or whose upload is complete.
package struct Upload: Sendable {
    /// 32 hexadecimal digits, which cannot be guessed.
    package let id: String
    /// Path of the folder of all uploads.
    let root: String

    var folder: String { "\(root)/\(id)" }
    var data: String { folder + "/data" }
    private var unchecked: String { folder + "/unchecked" }
    fileprivate var recordPath: String { folder + "/upload.json" }
    /// The record of a removed upload.
    private var gonePath: String { folder + "/gone.json" }

    package func record() throws(ReelFailure) -> Uploads.Record {
        try AtomicFile.read(json: Uploads.Record.self, from: recordPath)
    }

    func write(_ record: Uploads.Record) throws(ReelFailure) { try AtomicFile.write(json: record, to: recordPath) }

    var exists: Bool {
        get throws(ReelFailure) { try SystemError.inStore(.read, recordPath, Files.entry(recordPath)) != nil }
    }

    /// Its record if its bytes count. They also count if it was removed, or has expired, while a job used them, as long as
    /// they are there.
    var countedRecord: Uploads.Record? {
        if let record = try? record() { return record }
        return try? AtomicFile.read(json: Uploads.Record.self, from: gonePath)
    }

    /// Whether it was removed, or has expired, while a job used its bytes.
    var isGone: Bool { ((try? Files.entry(gonePath)) ?? nil) != nil }

    /// Whether a job uses its bytes: the file has names outside this folder.
    var isKeptByJob: Bool {
        guard let entry = (try? Files.entry(data)) ?? nil else { return false }
        let own = 1 + ((try? Files.names(in: folder + "/file")) ?? []).count
        return Int(entry.st_nlink) > own
    }

    /// The number of bytes that have arrived and count.
    package var offset: Int64 {
        get throws(ReelFailure) {
            try SystemError.inStore(.read, data) { () throws(SystemCode) in
                let size = Int64(try Files.entry(data)?.st_size ?? 0)
                guard try Files.entry(unchecked) != nil else { return size }
                let text = String(decoding: (try? AtomicFile.read(unchecked)) ?? [], as: UTF8.self)
                return min(size, Int64(text) ?? 0)
            }
        }
    }

    /// When it expires, in seconds since 1970.
    package var expiry: Double {
        get throws(ReelFailure) {
            let lifetime = try record().lifetime
            guard let time = try SystemError.inStore(.read, data, Files.entry(data))?.st_mtim else { return 0 }
            return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9 + lifetime
        }
    }

    /// When it may be removed: when it expires, or an hour after its folder was made if it has no record, which another
    /// process may be about to write.
    func end(now: Double) -> Double {
        if let expiry = try? expiry { return expiry }
        guard let entry = (try? Files.entry(folder)) ?? nil else { return now }
        return Double(entry.st_mtim.tv_sec) + 3600
    }

    /// The exclusive right to change it; nil if another process has that right, or has removed it.
    func lock() throws(ReelFailure) -> FileLock? {
        do {
            return try FileLock(folder + "/lock")
        } catch {
            if error.value == ENOENT { return nil }
            throw SystemError.store(.lock, folder, error.value)
        }
    }

    /// Opens it to append bytes; nil if another process is writing it, or has removed it. Drops a piece with a checksum
    /// that another process left unchecked.
    ///
    /// - Parameter isChecked: whether the new bytes count only once `UploadWriter.finish` has returned.
    package func writer(isChecked: Bool) throws(ReelFailure) -> UploadWriter? {
        guard let lock = try lock(), try exists else { return nil }
        let offset = try offset
        return try SystemError.inStore(.write, data) { () throws(SystemCode) in
            let file = try Descriptor(regular: data, O_WRONLY)
            try file.shorten(to: offset)
            guard lseek(file.number, off_t(offset), SEEK_SET) >= 0 else { throw SystemCode(errno) }
            unlink(unchecked)
            if isChecked {
                try AtomicFile.writeDurably(Array("\(offset)".utf8), to: unchecked)
                try Files.syncFolder(folder)
            }
            return UploadWriter(self, file, lock: lock, offset: offset, unchecked: isChecked ? unchecked : nil)
        }
    }

    /// Removes it; false if another process is writing it.
    package func end() throws(ReelFailure) -> Bool {
        guard let lock = try lock() else { return try !exists }
        defer { withExtendedLifetime(lock) {} }
        try remove()
        return true
    }

    /// Removes it. If a job uses its bytes, they stay with the record, so that they count, until a later call finds
    /// that no job uses them any more.
    func remove() throws(ReelFailure) {
        try SystemError.inStore(.remove, recordPath) { () throws(SystemCode) in
            // From here on it is not an upload any more, and no further job gets its bytes.
            if try Files.entry(recordPath) != nil { try Files.rename(recordPath, to: gonePath) }
        }
        try SystemError.inStore(.remove, folder) { () throws(SystemCode) in
            try Files.removeTree(folder + "/file", beneath: root)
            if !isKeptByJob { try Files.removeTree(folder, beneath: root) }
        }
    }

    /// Appends the bytes of other uploads, which are complete, in their order.
    package func append(contentsOf others: [Upload]) throws(ReelFailure) {
        guard let writer = try writer(isChecked: false) else { throw SystemError.store(.lock, folder, EBUSY) }
        for other in others {
            let file = try SystemError.inStore(.read, other.data, Descriptor(regular: other.data))
            var block = [UInt8](repeating: 0, count: 1 << 20)
            while case let count = try SystemError.inStore(.read, other.data, file.read(into: &block)), count > 0 {
                try writer.write(block[..<count])
            }
        }
        try writer.finish()
    }

    /// A path of the file that ends with its name.
    ///
    /// Throws `.storeUnusable`.
    package func path(named name: String) throws(ReelFailure) -> String {
        let path = "\(folder)/file/\(name)"
        try SystemError.inStore(.write, path) { () throws(SystemCode) in
            try Files.makeFolders("\(folder)/file")
            guard link(data, path) == 0 || errno == EEXIST else { throw SystemCode(errno) }
        }
        return path
    }
}

extension JobFolder {
    /// The upload's bytes count as long as the job uses them.
    package func take(_ upload: Upload, as name: String, _ fingerprint: Fingerprint) throws(ReelFailure) {
        let copy = "\(stage)/\(name)"
        do throws(SystemCode) {
            try Files.makeFolders(stage)
            if try Files.entry(copy) == nil {
                guard link(upload.data, copy) == 0 || errno == EEXIST else { throw SystemCode(errno) }
                // Another process that removes the upload may have counted the names before this one existed.
                guard try Files.entry(upload.recordPath) != nil else {
                    unlink(copy)
                    throw SystemCode(ENOENT)
                }
            }
            try Files.syncFolder(stage)
        } catch {
            if error.value == ENOENT { throw ReelFailure(.sourceInaccessible(path: upload.data, errno: ENOENT)) }
            throw SystemError.store(.copySource, copy, error.value)
        }
    }
}

/// Writes the bytes of one piece of an upload. No other writer can write the upload until this one has finished or
/// dropped the piece, or is released.
package final class UploadWriter: Sendable {
    /// The upload's length when this began.
    package let offset: Int64
    private let upload: Upload
    private let file: Descriptor
    private let lock: FileLock
    private let unchecked: String?
    private let turn = Mutex(())

    init(_ upload: Upload, _ file: consuming Descriptor, lock: FileLock, offset: Int64, unchecked: String?) {
        self.upload = upload
        self.file = file
        self.lock = lock
        self.offset = offset
        self.unchecked = unchecked
    }

    /// Appends bytes. Blocks. Throws `.storeFull` and `.storeUnusable`.
    package func write(_ bytes: ArraySlice<UInt8>) throws(ReelFailure) {
        try turn.withLock { _ throws(ReelFailure) in try SystemError.inStore(.write, upload.data, file.write(bytes)) }
    }

    /// Makes the bytes durable, lets them count, and lets other writers write. Blocks.
    ///
    /// It releases the lock before this object is released: a client that hears that the piece has arrived sends the
    /// next one at once, and a task that ends may hold the object a moment longer.
    package func finish() throws(ReelFailure) { try turn.withLock { _ throws(ReelFailure) in try end() } }

    private func end() throws(ReelFailure) {
        defer { lock.release() }
        try SystemError.inStore(.write, upload.data) { () throws(SystemCode) in
            try file.sync()
            if let unchecked {
                unlink(unchecked)
                try Files.syncFolder(upload.folder)
            }
        }
    }

    /// Drops the written bytes. If there are no such bytes, the file keeps its time: a job may have it as its source.
    package func drop() throws(ReelFailure) {
        try turn.withLock { _ throws(ReelFailure) in
            try SystemError.inStore(.write, upload.data, file.shorten(to: offset))
            try end()
        }
    }
}
