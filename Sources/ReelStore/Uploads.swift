internal import Glibc
package import ReelCore

/// The uploads of a store: files that are being uploaded, or that are complete and wait to be used. Any process may
/// continue an upload that another has begun: its state is on the disk, and a lock lets one process write at a time.
///
/// Each upload has a folder: `upload.json` is its record, `data` has its bytes so far, and `unchecked` the length up to
/// which they count while a piece with a checksum arrives. `gone.json` is the record of an upload that was removed
/// while a job uses its bytes under another name.
package struct Uploads: Sendable {
    fileprivate let store: FolderStore

    /// Path of the folder of all uploads.
    package var folder: String { store.root + "/uploads" }

    /// Facts about an upload, apart from its bytes.
    package struct Record: Codable, Hashable, Sendable {
        /// Its final length in bytes; nil while that is unknown.
        package var length: Int64?
        /// Bytes that are set aside for it while its length is unknown.
        package var reserved: Int64 = 0
        /// The name of the file, without any folder.
        package var name: String
        /// The metadata that its maker sent, unchanged.
        package var metadata: String?
        /// Its maker; nil if every user may continue it.
        package var owner: String?
        /// Whether it is a part of an upload that will be concatenated.
        package var isPartial: Bool
        /// The uploads that it was concatenated from.
        package var parts: [String]?
        /// Seconds for which it is kept after its last change.
        package var lifetime: Double

        package init(
            length: Int64?, name: String, metadata: String? = nil, owner: String? = nil, isPartial: Bool = false,
            parts: [String]? = nil, lifetime: Double
        ) {
            self.length = length
            self.name = name
            self.metadata = metadata
            self.owner = owner
            self.isPartial = isPartial
            self.parts = parts
            self.lifetime = lifetime
        }

        /// Its present or future size.
        fileprivate var bytes: Int64 { max(length ?? reserved, 0) }

        private enum CodingKeys: String, CodingKey {
            case length, reserved, name, metadata, owner, parts, lifetime
            case isPartial = "partial"
        }
    }

    /// Whether a text can be the id of an upload: 32 hexadecimal digits.
    static func isID(_ text: String) -> Bool {
        text.utf8.count == 32 && text.utf8.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
    }

    /// The upload of an id; nil if it does not exist, was removed or has expired.
    package func upload(_ id: String, now: Double) throws(ReelFailure) -> Upload? {
        guard Uploads.isID(id) else { return nil }
        let upload = Upload(id: id, root: folder)
        guard try upload.exists, try upload.expiry > now else { return nil }
        return upload
    }

    /// Begins an upload, if all uploads together then have at most `quota` bytes, the uploads of its owner at most
    /// `ownQuota`, there are at most `most`, and at most a quarter of `most` belong to its owner; nil if not.
    package func create(
        _ record: Record, quota: Int64, ownQuota: Int64? = nil, most: Int
    ) throws(ReelFailure) -> Upload? {
        let lock = try lockAll()
        defer { withExtendedLifetime(lock) {} }
        let there = try all().compactMap { try? $0.record() }
        guard there.count < most, record.length ?? 0 <= (try room(for: record, quota, ownQuota)) else { return nil }
        if let owner = record.owner, there.count(where: { $0.owner == owner }) >= max(most / 4, 1) { return nil }
        let upload = Upload(id: Files.randomName() + Files.randomName(), root: folder)
        try SystemError.inStore(.write, upload.folder) { () throws(SystemCode) in
            try Files.makeFolders(upload.folder)
            try AtomicFile.writeDurably([], to: upload.data, mode: 0o640)
        }
        try upload.write(record)
        return upload
    }

    /// Sets aside room for more bytes of an upload of unknown length. False if all uploads together would then have
    /// more than `quota` bytes, or the uploads of its owner more than `ownQuota`.
    package func reserve(
        _ bytes: Int64, for upload: Upload, quota: Int64, ownQuota: Int64? = nil
    ) throws(ReelFailure) -> Bool {
        let lock = try lockAll()
        defer { withExtendedLifetime(lock) {} }
        var record = try upload.record()
        if let length = record.length { return bytes <= length }
        guard bytes > record.reserved else { return true }
        let room = try room(for: record, quota, ownQuota)
        // In steps, so that not every piece has to reserve room.
        let step: Int64 = 64 << 20
        let wanted = [(bytes + step - 1) / step * step, bytes].first { $0 <= room }
        guard let wanted else { return false }
        record.reserved = wanted
        try upload.write(record)
        return true
    }

    /// States the length of an upload of unknown length. False under the same conditions, or if another length is
    /// stated.
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

    /// Removes the uploads that have expired, removed uploads whose bytes no job uses any more, and the remains of
    /// uploads that a dead process was making. An upload that a process is writing stays.
    package func removeExpired(now: Double) throws(ReelFailure) {
        var trouble: ReelFailure?
        for upload in try all() {
            do throws(ReelFailure) {
                guard let lock = try upload.lock() else { continue }
                defer { withExtendedLifetime(lock) {} }
                if upload.isGone || upload.end(now: now) <= now { try upload.remove() }
            } catch {
                // Still remove the others.
                trouble = error
            }
        }
        if let trouble { throw trouble }
    }

    /// The bytes that all uploads have or will have, including removed uploads whose bytes a job uses.
    package func bytes() throws(ReelFailure) -> Int64 { try counted().reduce(0) { $0 + $1.bytes } }

    /// The same by owner; uploads without an owner are under nil.
    package func bytesByOwner() throws(ReelFailure) -> [String?: Int64] {
        try counted().reduce(into: [:]) { $0[$1.owner, default: 0] += $1.bytes }
    }

    /// The bytes that an upload may have beside all others, and beside the others of its owner. Its reserved bytes
    /// count as room. The caller holds the lock of all uploads.
    private func room(for record: Record, _ quota: Int64, _ ownQuota: Int64?) throws(ReelFailure) -> Int64 {
        let counted = try counted()
        let room = quota - counted.reduce(0) { $0 + $1.bytes }
        let own = ownQuota.map { $0 - counted.reduce(0) { $0 + ($1.owner == record.owner ? $1.bytes : 0) } }
        return min(room, own ?? room) + record.reserved
    }

    /// The records of uploads that count. Removes first what removed uploads have that no job uses any more.
    private func counted() throws(ReelFailure) -> [Record] {
        try all().compactMap { upload in
            if upload.isGone, !upload.isKeptByJob, let lock = try? upload.lock() {
                defer { withExtendedLifetime(lock) {} }
                try? upload.remove()
            }
            return upload.countedRecord
        }
    }

    /// Waits for the lock of an owner, which excludes other callers on all machines until it is released.
    package func lock(owner: String) throws(ReelFailure) -> FileLock {
        try lock(named: "owner-\(Fingerprint.sha256Hex(Array(owner.utf8)).prefix(16)).lock")
    }

    private func all() throws(ReelFailure) -> [Upload] {
        try SystemError.inStore(.read, folder, Files.names(in: folder)).filter(Uploads.isID)
            .map { Upload(id: $0, root: folder) }
    }

    /// Waits for the lock under which sums of all uploads are consistent.
    private func lockAll() throws(ReelFailure) -> FileLock { try lock(named: "lock") }

    private func lock(named name: String) throws(ReelFailure) -> FileLock {
        let path = "\(folder)/\(name)"
        return try SystemError.inStore(.lock, path) { () throws(SystemCode) in
            try Files.makeFolders(folder)
            return try FileLock.waiting(for: path)
        }
    }
}

extension FolderStore {
    package var uploads: Uploads { Uploads(store: self) }
}
