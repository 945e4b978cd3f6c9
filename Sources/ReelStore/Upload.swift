internal import Glibc
package import ReelCore

/// A file that is being uploaded, or that was.
package struct Upload: Sendable {
    /// 32 hexadecimal digits, which nobody can guess.
    package let id: String
    /// Path of the folder of all uploads.
    let root: String

    var folder: String { "\(root)/\(id)" }
    var data: String { folder + "/data" }
    private var unchecked: String { folder + "/unchecked" }
    private var recordPath: String { folder + "/upload.json" }
    /// Has its record after it was removed.
    private var gonePath: String { folder + "/gone.json" }

    /// What is known of it.
    package func record() throws(ReelFailure) -> Uploads.Record {
        try AtomicFile.read(json: Uploads.Record.self, from: recordPath)
    }

    func write(_ record: Uploads.Record) throws(ReelFailure) { try AtomicFile.write(json: record, to: recordPath) }

    var exists: Bool {
        get throws(ReelFailure) {
            do {
                return try Files.entry(recordPath) != nil
            } catch {
                throw SystemError.store(.read, recordPath, error.value)
            }
        }
    }

    /// What is known of it as far as its bytes count: also if it was removed, or has expired, while a job has them. Nil if they
    /// do not count.
    var countedRecord: Uploads.Record? {
        if let record = try? record() { return record }
        return isKeptByJob ? try? AtomicFile.read(json: Uploads.Record.self, from: gonePath) : nil
    }

    /// Whether it was removed, or has expired, and a job had its bytes then.
    var isGone: Bool { ((try? Files.entry(gonePath)) ?? nil) != nil }

    /// Whether a job has its bytes: the file has more names than those in this folder.
    var isKeptByJob: Bool {
        guard let entry = (try? Files.entry(data)) ?? nil else { return false }
        let own = 1 + ((try? Files.names(in: folder + "/file")) ?? []).count
        return Int(entry.st_nlink) > own
    }

    /// Bytes that are there and count.
    package var offset: Int64 {
        get throws(ReelFailure) {
            do {
                let size = Int64(try Files.entry(data)?.st_size ?? 0)
                guard try Files.entry(unchecked) != nil else { return size }
                let text = String(decoding: (try? AtomicFile.read(unchecked)) ?? [], as: UTF8.self)
                return min(size, Int64(text) ?? 0)
            } catch {
                throw SystemError.store(.read, data, error.value)
            }
        }
    }

    /// When it expires, in seconds since 1970.
    package var expiry: Double {
        get throws(ReelFailure) {
            let lifetime = try record().lifetime
            do {
                guard let time = try Files.entry(data)?.st_mtim else { return 0 }
                return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9 + lifetime
            } catch {
                throw SystemError.store(.read, data, error.value)
            }
        }
    }

    /// When it may be removed: when it expires, or an hour after its folder was made if it has no record. Another process may
    /// be about to write that.
    func end(now: Double) -> Double {
        if let expiry = try? expiry { return expiry }
        guard let entry = (try? Files.entry(folder)) ?? nil else { return now }
        return Double(entry.st_mtim.tv_sec) + 3600
    }

    /// The right to change it; nil if another has that.
    func lock() throws(ReelFailure) -> FileLock? {
        do {
            return try FileLock(folder + "/lock")
        } catch {
            // It was removed meanwhile.
            if error.value == ENOENT { return nil }
            throw SystemError.store(.lock, folder, error.value)
        }
    }

    /// Opens it to write what follows; nil if another process is writing it, or has removed it. A piece with a checksum that
    /// a process left unchecked is dropped.
    ///
    /// - Parameter isChecked: whether what is written counts only once `UploadWriter.finish` has returned.
    package func writer(isChecked: Bool) throws(ReelFailure) -> UploadWriter? {
        guard let lock = try lock(), try exists else { return nil }
        let offset = try offset
        do throws(SystemCode) {
            let file = try Descriptor(regular: data, O_WRONLY)
            if try Int64(file.status().st_size) > offset, ftruncate(file.number, off_t(offset)) != 0 {
                throw SystemCode(errno)
            }
            guard lseek(file.number, off_t(offset), SEEK_SET) >= 0 else { throw SystemCode(errno) }
            unlink(unchecked)
            if isChecked {
                try AtomicFile.writeDurably(Array("\(offset)".utf8), to: unchecked)
                try Files.syncFolder(folder)
            }
            return UploadWriter(self, file, lock: lock, offset: offset, unchecked: isChecked ? unchecked : nil)
        } catch {
            throw SystemError.store(.write, data, error.value)
        }
    }

    /// Removes it with all that it has; false if another process is writing it.
    package func end() throws(ReelFailure) -> Bool {
        guard let lock = try lock() else { return try !exists }
        defer { withExtendedLifetime(lock) {} }
        try remove()
        return true
    }

    /// Removes it. If a job has its bytes, they stay with the record, so that they count, until a later call finds that no job
    /// has them.
    func remove() throws(ReelFailure) {
        do throws(SystemCode) {
            // From here on it is no upload any more, and no further job gets its bytes.
            if try Files.entry(recordPath) != nil { try Files.rename(recordPath, to: gonePath) }
        } catch {
            throw SystemError.store(.remove, recordPath, error.value)
        }
        do {
            try Files.removeTree(folder + "/file", beneath: root)
            if !isKeptByJob { try Files.removeTree(folder, beneath: root) }
        } catch {
            throw SystemError.store(.remove, folder, error.value)
        }
    }

    /// Appends the bytes of other uploads, which are complete, in their order.
    package func append(contentsOf others: [Upload]) throws(ReelFailure) {
        guard let writer = try writer(isChecked: false) else { throw SystemError.store(.lock, folder, EBUSY) }
        for other in others {
            let file: Descriptor
            do {
                file = try Descriptor(regular: other.data)
            } catch {
                throw SystemError.store(.read, other.data, error.value)
            }
            var block = [UInt8](repeating: 0, count: 1 << 20)
            while true {
                let count: Int
                do {
                    count = try file.read(into: &block)
                } catch {
                    throw SystemError.store(.read, other.data, error.value)
                }
                if count == 0 { break }
                try writer.write(block[..<count])
            }
        }
        try writer.finish()
    }

    /// Gives a job this file as its copy of a source, under that name. The upload may be removed after that; its bytes count until
    /// the job has none of them.
    ///
    /// Throws `.storeUnusable`, and `.sourceInaccessible` if the upload is removed meanwhile.
    package func give(to job: JobFolder, as name: String) throws(ReelFailure) {
        let copy = "\(job.stage)/\(name)"
        do throws(SystemCode) {
            try Files.makeFolders(job.stage)
            if try Files.entry(copy) == nil {
                guard link(data, copy) == 0 || errno == EEXIST else { throw SystemCode(errno) }
                // What removes it may have looked for names before there was this one.
                guard try Files.entry(recordPath) != nil else {
                    unlink(copy)
                    throw SystemCode(ENOENT)
                }
            }
            try Files.syncFolder(job.stage)
        } catch {
            if error.value == ENOENT { throw ReelFailure(.sourceInaccessible(path: data, errno: ENOENT)) }
            throw SystemError.store(.copySource, copy, error.value)
        }
    }

    /// A path of the file that ends with its name.
    ///
    /// Throws `.storeUnusable`.
    package func path(named name: String) throws(ReelFailure) -> String {
        let path = "\(folder)/file/\(name)"
        do throws(SystemCode) {
            try Files.makeFolders("\(folder)/file")
            guard link(data, path) == 0 || errno == EEXIST else { throw SystemCode(errno) }
        } catch {
            throw SystemError.store(.write, path, error.value)
        }
        return path
    }
}
