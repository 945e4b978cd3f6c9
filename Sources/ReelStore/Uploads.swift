internal import Glibc
package import ReelCore

/// The files that are being uploaded into a store, or that were and wait to be used. Any process may go on with an upload
/// that another has begun: what counts is on the disk, and a lock says who writes.
///
/// A folder for each: `upload.json` says what is known of it, `data` has its bytes so far, and `unchecked` the length up to
/// which they count while a piece with a checksum comes in. `gone.json` has what was known of one that was removed while a job
/// has its bytes under another name.
package struct Uploads: Sendable {
    private let store: FolderStore

    fileprivate init(into store: FolderStore) { self.store = store }

    /// Path of the folder of all uploads.
    package var folder: String { store.root + "/uploads" }

    /// Gives the bytes of an upload to a job of the store, as `Upload.give` does.
    package func give(_ upload: Upload, to job: JobID, as name: String) throws(ReelFailure) {
        try upload.give(to: store.job(job), as: name)
    }

    /// What is known of an upload, apart from its bytes.
    package struct Record: Codable, Hashable, Sendable {
        /// How many bytes it will have; nil while that is not known.
        package var length: Int64?
        /// Bytes that are set aside for it while its length is not known.
        package var reserved: Int64
        /// The name of the file, without any folder.
        package var name: String
        /// What its maker said of it, as it was sent.
        package var metadata: String?
        /// Who made it; nil if anyone may go on with it.
        package var owner: String?
        /// Whether it is a part of an upload that is to be put together.
        package var isPartial: Bool
        /// The uploads that it was put together of.
        package var parts: [String]?
        /// How long it is kept after its last change, in seconds.
        package var lifetime: Double

        /// A record of known parts.
        package init(
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

        /// What it has or will have.
        fileprivate var bytes: Int64 { max(length ?? reserved, 0) }

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

    /// The upload of an id; nil if there is none, or if it was removed or has expired.
    package func upload(_ id: String, now: Double) throws(ReelFailure) -> Upload? {
        guard Uploads.isID(id) else { return nil }
        let upload = Upload(id: id, root: folder)
        guard try upload.exists, try upload.expiry > now else { return nil }
        return upload
    }

    /// Begins an upload, if all uploads together then have no more than `quota` bytes, those of its owner no more than
    /// `ownQuota`, there are no more than `most`, and no more than a quarter of those belong to an owner; nil if not.
    package func create(
        _ record: Record, quota: Int64, ownQuota: Int64? = nil, most: Int
    ) throws(ReelFailure) -> Upload? {
        let lock = try lockAll()
        defer { withExtendedLifetime(lock) {} }
        let there = try all().compactMap { try? $0.record() }
        guard there.count < most, record.length ?? 0 <= (try room(for: record, quota, ownQuota)) else { return nil }
        if let owner = record.owner, there.count(where: { $0.owner == owner }) >= max(most / 4, 1) { return nil }
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
    /// more than `quota` bytes, or those of its owner more than `ownQuota`.
    package func reserve(
        _ bytes: Int64, for upload: Upload, quota: Int64, ownQuota: Int64? = nil
    ) throws(ReelFailure) -> Bool {
        let lock = try lockAll()
        defer { withExtendedLifetime(lock) {} }
        var record = try upload.record()
        if let length = record.length { return bytes <= length }
        guard bytes > record.reserved else { return true }
        let room = try room(for: record, quota, ownQuota)
        // In steps, so that it is not looked at for each piece.
        let step: Int64 = 64 << 20
        let wanted = [(bytes + step - 1) / step * step, bytes].first { $0 <= room }
        guard let wanted else { return false }
        record.reserved = wanted
        try upload.write(record)
        return true
    }

    /// States the length of an upload whose length was not known. False if all uploads together would then have more than
    /// `quota` bytes, or those of its owner more than `ownQuota`.
    package func state(
        _ length: Int64, of upload: Upload, quota: Int64, ownQuota: Int64? = nil
    ) throws(ReelFailure) -> Bool {
        let lock = try lockAll()
        defer { withExtendedLifetime(lock) {} }
        var record = try upload.record()
        guard record.length == nil else { return record.length == length }
        guard try length <= room(for: record, quota, ownQuota) else { return false }
        (record.length, record.reserved) = (length, 0)
        try upload.write(record)
        return true
    }

    /// Removes the uploads that have expired, those whose bytes no job has any more after they were removed, and what a process
    /// that died has left of one. An upload that a process is writing stays.
    package func removeExpired(now: Double) throws(ReelFailure) {
        var trouble: ReelFailure?
        for upload in try all() {
            do throws(ReelFailure) {
                guard let lock = try upload.lock() else { continue }
                defer { withExtendedLifetime(lock) {} }
                if upload.isGone || upload.end(now: now) <= now { try upload.remove() }
            } catch {
                // It keeps no other from being removed.
                trouble = error
            }
        }
        if let trouble { throw trouble }
    }

    /// The bytes that all uploads have or will have, also those of which jobs alone have the bytes.
    package func bytes() throws(ReelFailure) -> Int64 { try counted().reduce(0) { $0 + $1.bytes } }

    /// The same for each owner; nil is the owner of those without one.
    package func bytesByOwner() throws(ReelFailure) -> [String?: Int64] {
        try counted().reduce(into: [:]) { $0[$1.owner, default: 0] += $1.bytes }
    }

    /// How many bytes an upload may have beside all others, and beside those of its owner. What is reserved for it counts as
    /// room. Call it while others cannot take any.
    private func room(for record: Record, _ quota: Int64, _ ownQuota: Int64?) throws(ReelFailure) -> Int64 {
        let counted = try counted()
        let room = quota - counted.reduce(0) { $0 + $1.bytes }
        let own = ownQuota.map { $0 - counted.reduce(0) { $0 + ($1.owner == record.owner ? $1.bytes : 0) } }
        return min(room, own ?? room) + record.reserved
    }

    /// The records of uploads that count.
    private func counted() throws(ReelFailure) -> [Record] { try all().compactMap(\.countedRecord) }

    /// Keeps other callers, on all machines, from having the lock of an owner until it is released.
    package func lock(owner: String) throws(ReelFailure) -> FileLock {
        try lock(named: "owner-\(Fingerprint.sha256Hex(Array(owner.utf8)).prefix(16)).lock")
    }

    private func all() throws(ReelFailure) -> [Upload] {
        do {
            return try Files.names(in: folder).filter(Uploads.isID).map { Upload(id: $0, root: folder) }
        } catch {
            throw SystemError.store(.read, folder, error.value)
        }
    }

    /// Waits for the lock that makes sums of all uploads right.
    private func lockAll() throws(ReelFailure) -> FileLock { try lock(named: "lock") }

    private func lock(named name: String) throws(ReelFailure) -> FileLock {
        let path = "\(folder)/\(name)"
        do throws(SystemCode) {
            try Files.makeFolders(folder)
            return try FileLock.waiting(for: path)
        } catch {
            throw SystemError.store(.lock, path, error.value)
        }
    }
}

extension FolderStore {
    /// The store's uploads.
    package var uploads: Uploads { Uploads(into: self) }
}
