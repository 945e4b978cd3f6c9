internal import ReelCore
internal import ReelStore

/// Room for the bytes of uploads: within the quota of all uploads together, and within what their owner's token may have.
struct UploadRoom {
    let uploads: Uploads
    let settings: ServerSettings
    let limits: TokenLimits
    let access: StoreAccess

    /// The most uploads of all callers together.
    private static let mostUploads = 1000

    /// Begins an upload. Throws a problem if there is no room for it.
    ///
    /// - Parameter again: how many of its bytes its owner has already in other uploads, which can be removed as soon as it
    ///   is there. They count once for the owner.
    func begin(_ record: Uploads.Record, again: Int64) async throws -> Upload {
        try await take((record.length ?? 0) - again, of: record.owner) { [uploads, settings] room in
            try uploads.create(
                record, quota: settings.uploadQuota, ownQuota: room.map { $0 + again }, most: UploadRoom.mostUploads)
        }
    }

    /// States the length of an upload that has `offset` bytes and began without one. Throws a problem if there is no room
    /// for that length.
    func state(_ length: Int64, of upload: Upload, owner: String?, at offset: Int64) async throws {
        try await take(length - offset, of: owner) { [uploads, settings] room in
            try uploads.state(length, of: upload, quota: settings.uploadQuota, ownQuota: room) ? () : nil
        }
    }

    /// Takes room for `count` bytes more of an upload without a length, which then ends at `end`. Throws a problem if there
    /// is no room.
    func reserve(_ count: Int64, to end: Int64, of upload: Upload, owner: String?) async throws {
        try await take(count, of: owner) { [uploads, settings] room in
            try uploads.reserve(end, for: upload, quota: settings.uploadQuota, ownQuota: room) ? () : nil
        }
    }

    /// Takes room in the owner's turn, so that of several requests each sees what those before it have taken.
    ///
    /// - Parameter body: takes it; nil if there is none. Blocks. Gets the most bytes that uploads of the owner may have
    ///   together.
    private func take<Taken: Sendable>(
        _ bytes: Int64, of owner: String?, _ body: @escaping @Sendable (Int64?) throws -> Taken?
    ) async throws -> Taken {
        try await limits.inTurn(of: owner) {
            let room = try await limits.admitBytes(bytes, of: owner)
            let taken = try await access.use(atMost: UploadRoutes.limit) { try body(room) }
            guard let taken else { throw try await limits.bytesExceeded(bytes, of: owner) ?? quotaExceeded }
            return taken
        }
    }

    private var quotaExceeded: Problem {
        Problem(
            .insufficientStorage, "upload-quota",
            "There is no room for the upload",
            detail:
                "All uploads together may have \(settings.uploadQuota) bytes, those that jobs still have among them, and be "
                + "\(UploadRoom.mostUploads), a quarter of them of a token.",
            retryAfter: 60)
    }
}
