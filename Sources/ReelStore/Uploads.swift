internal import Crypto
internal import Glibc
public import ReelCore

/// The files that are being uploaded into a store, or that were and wait to be used. Any process may go on with an upload
/// that another has begun: what counts is on the disk, and a lock says who writes.
///
/// A folder for each: `upload.json` says what is known of it, `data` has its bytes so far, and `unchecked` the length up to
/// which they count while a piece with a checksum comes in.
public struct Uploads: Sendable {
    /// Path of the folder of all uploads.
    public let folder: String

    /// What is known of an upload, apart from its bytes.
    public struct Record: Codable, Hashable, Sendable {
        /// How many bytes it will have; nil while that is not known.
        public var length: Int64?
        /// Bytes that are set aside for it while its length is not known.
        public var reserved: Int64
        /// The name of the file, without any folder.
        public var name: String
        /// What its maker said of it, as it was sent.
        public var metadata: String?
        /// Who made it; nil if anyone may go on with it.
        public var owner: String?
        /// Whether it is a part of an upload that is to be put together.
        public var isPartial: Bool
        /// The uploads that it was put together of.
        public var parts: [String]?
        /// How long it is kept after its last change, in seconds.
        public var lifetime: Double

        /// A record of known parts.
        public init(
            length: Int64?, name: String, metadata: String? = nil, owner: String? = nil, isPartial: Bool = false,
            parts: [String]? = nil, lifetime: Double
        ) {
            self.length = length
            reserved = 0
            self.name = name
            self.metadata = metadata
            self.owner = owner
            self.isPartial = isPartial
            self.parts = parts
            self.lifetime = lifetime
        }

        private enum CodingKeys: String, CodingKey {
            case length = "length"
            case reserved = "reserved"
            case name = "name"
            case metadata = "metadata"
            case owner = "owner"
            case isPartial = "partial"
            case parts = "parts"
            case lifetime = "lifetime"
        }
    }

    /// Whether a text can be the id of an upload: 32 hexadecimal digits.
    static func isID(_ text: String) -> Bool {
        text.utf8.count == 32 && text.utf8.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
    }

    /// The upload of an id; nil if there is none, or if it has expired.
    public func upload(_ id: String, now: Double) throws(ReelFailure) -> Upload? {
        guard Uploads.isID(id) else { return nil }
        let upload = Upload(id: id, root: folder)
        guard try upload.exists, try upload.expiry > now else { return nil }
        return upload
    }

    /// Begins an upload, if all uploads together then have no more than `quota` bytes and there are no more than `most`;
    /// nil if not.
    public func create(_ record: Record, quota: Int64, most: Int) throws(ReelFailure) -> Upload? {
        let lock = try lockAll()
        defer { withExtendedLifetime(lock) {} }
        let all = try bytes()
        guard all.count < most, record.length ?? 0 <= quota - all.bytes else { return nil }
        let id = (0..<4).map { _ in
            let part = String(UInt32.random(in: .min ... .max), radix: 16)
            return String(repeating: "0", count: 8 - part.count) + part
        }.joined()
        let upload = Upload(id: id, root: folder)
        do throws(SystemCode) {
            try Files.makeFolders(upload.folder)
            let data = try Descriptor(open: upload.data, O_WRONLY | O_CREAT | O_EXCL, mode: 0o640)
            try data.sync()
        } catch {
            throw SystemError.store(.write, upload.folder, error.value)
        }
        try upload.write(record)
        return upload
    }

    /// Sets aside room for more bytes of an upload whose length is not known. False if all uploads together would then have
    /// more than `quota` bytes.
    public func reserve(_ bytes: Int64, for upload: Upload, quota: Int64) throws(ReelFailure) -> Bool {
        let lock = try lockAll()
        defer { withExtendedLifetime(lock) {} }
        var record = try upload.record()
        if let length = record.length { return bytes <= length }
        guard bytes > record.reserved else { return true }
        let others = try self.bytes().bytes - record.reserved
        // In steps, so that it is not looked at for each piece.
        let step: Int64 = 64 << 20
        let wanted = [(bytes + step - 1) / step * step, bytes].first { $0 <= quota - others }
        guard let wanted else { return false }
        record.reserved = wanted
        try upload.write(record)
        return true
    }

    /// States the length of an upload whose length was not known. False if all uploads together would then have more than
    /// `quota` bytes.
    public func state(_ length: Int64, of upload: Upload, quota: Int64) throws(ReelFailure) -> Bool {
        let lock = try lockAll()
        defer { withExtendedLifetime(lock) {} }
        var record = try upload.record()
        guard record.length == nil else { return record.length == length }
        guard try length <= quota - (bytes().bytes - record.reserved) else { return false }
        (record.length, record.reserved) = (length, 0)
        try upload.write(record)
        return true
    }

    /// Removes the uploads that have expired, and what a process that died has left of one. An upload that a process is
    /// writing stays.
    public func removeExpired(now: Double) throws(ReelFailure) {
        var trouble: ReelFailure?
        for upload in try all() {
            do throws(ReelFailure) {
                guard let lock = try upload.lock() else { continue }
                defer { withExtendedLifetime(lock) {} }
                if upload.end(now: now) <= now { try upload.remove() }
            } catch {
                // It keeps no other from being removed.
                trouble = error
            }
        }
        if let trouble { throw trouble }
    }

    /// The number of all uploads, and the bytes that they have or will have.
    public func bytes() throws(ReelFailure) -> (count: Int, bytes: Int64) {
        var (count, sum) = (0, Int64(0))
        for upload in try all() {
            // One that is just being removed counts no more.
            guard let record = try? upload.record() else { continue }
            count += 1
            sum += max(record.length ?? record.reserved, 0)
        }
        return (count, sum)
    }

    private func all() throws(ReelFailure) -> [Upload] {
        do {
            return try Files.names(in: folder).filter(Uploads.isID).map { Upload(id: $0, root: folder) }
        } catch {
            throw SystemError.store(.read, folder, error.value)
        }
    }

    /// Waits for the lock that makes sums of all uploads right.
    private func lockAll() throws(ReelFailure) -> FileLock {
        let path = folder + "/lock"
        do throws(SystemCode) {
            try Files.makeFolders(folder)
            // Others hold it for the time of looking at all uploads.
            for _ in 0..<1000 {
                if let lock = try FileLock(path) { return lock }
                usleep(10_000)
            }
            throw SystemCode(EBUSY)
        } catch {
            throw SystemError.store(.lock, path, error.value)
        }
    }
}

extension FolderStore {
    /// The store's uploads.
    public var uploads: Uploads { Uploads(folder: root + "/uploads") }
}

/// A file that is being uploaded, or that was.
public struct Upload: Sendable {
    /// 32 hexadecimal digits, which nobody can guess.
    public let id: String
    /// Path of the folder of all uploads.
    let root: String

    var folder: String { "\(root)/\(id)" }
    var data: String { folder + "/data" }
    private var unchecked: String { folder + "/unchecked" }
    private var recordPath: String { folder + "/upload.json" }

    /// What is known of it.
    public func record() throws(ReelFailure) -> Uploads.Record {
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

    /// Bytes that are there and count.
    public var offset: Int64 {
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
    public var expiry: Double {
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
    fileprivate func end(now: Double) -> Double {
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
    /// - Parameter isChecked: whether what is written counts only when `UploadWriter.accept` is called.
    public func writer(isChecked: Bool) throws(ReelFailure) -> UploadWriter? {
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
    public func end() throws(ReelFailure) -> Bool {
        guard let lock = try lock() else { return try !exists }
        defer { withExtendedLifetime(lock) {} }
        try remove()
        return true
    }

    func remove() throws(ReelFailure) {
        // Without its record it is no upload any more.
        unlink(recordPath)
        do {
            try Files.removeTree(folder, beneath: root)
        } catch {
            throw SystemError.store(.remove, folder, error.value)
        }
    }

    /// Appends the bytes of other uploads, which are complete, in their order.
    public func append(contentsOf others: [Upload]) throws(ReelFailure) {
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

    /// Gives a job this file as its copy of a source, under that name. The upload may be removed after that.
    ///
    /// Throws `.storeUnusable`.
    public func give(to job: JobFolder, as name: String) throws(ReelFailure) {
        let copy = "\(job.stage)/\(name)"
        do throws(SystemCode) {
            try Files.makeFolders(job.stage)
            if try Files.entry(copy) == nil {
                guard link(data, copy) == 0 || errno == EEXIST else { throw SystemCode(errno) }
            }
            try Files.syncFolder(job.stage)
        } catch {
            throw SystemError.store(.copySource, copy, error.value)
        }
    }

    /// A path of the file that ends with its name.
    ///
    /// Throws `.storeUnusable`.
    public func path(named name: String) throws(ReelFailure) -> String {
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

/// Writes the bytes of an upload, one piece after another. Nobody else can write it as long as this lives.
public final class UploadWriter: Sendable {
    /// The upload's length when this began.
    public let offset: Int64
    private let upload: Upload
    private let file: Descriptor
    private let lock: FileLock
    private let unchecked: String?

    fileprivate init(
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

    /// Drops what was written.
    public func drop() throws(ReelFailure) {
        do throws(SystemCode) {
            guard ftruncate(file.number, off_t(offset)) == 0 else { throw SystemCode(errno) }
        } catch {
            throw SystemError.store(.write, upload.data, error.value)
        }
        try finish()
    }
}
