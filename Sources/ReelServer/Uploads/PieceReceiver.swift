internal import Crypto
internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import ReelCore
internal import ReelStore

/// Brings a piece of an upload from a request to the disk.
struct PieceReceiver {
    let room: UploadRoom
    let access: StoreAccess

    /// How long a piece may stall; then another request can continue its upload.
    private let stall = Duration.seconds(20)

    /// Writes a request's body to an upload, and returns the upload's offset after it. The bytes that have come are
    /// kept even if the request breaks off, unless it has a checksum.
    func receive(
        _ request: Request, at offset: Int64, _ upload: Upload, _ record: Uploads.Record
    ) async throws -> Int64 {
        let stated = try request.bytes(.uploadLength)
        let checksum = try request.headers[.uploadChecksum].map(PieceChecksum.init)
        guard let writer = try await access.use({ try upload.writer(isChecked: checksum != nil) }) else {
            throw Problem.locked(upload)
        }
        guard writer.offset == offset else {
            try await access.use(begins: true) { try writer.drop() }
            throw Problem(
                .conflict, "offset-differs", "The upload is at another offset",
                detail: "It has \(writer.offset) bytes; Upload-Offset is \(offset).")
        }
        do {
            var record = record
            record.length = try await length(of: upload, record, stated: stated, at: offset)
            let end = try await write(request.body, upload, record, writer, checksum)
            try await access.use(atMost: UploadRoutes.longLimit) { try writer.finish() }
            return end
        } catch {
            // A call that has not returned comes first: until then no other request may write the upload.
            try? await access.use(atMost: UploadRoutes.limit, begins: true) {
                if checksum != nil { try writer.drop() } else { try writer.finish() }
            }
            throw error
        }
    }

    /// The length of an upload, after a piece at an offset that may state it; nil if it is still unknown (the extension
    /// creation-defer-length).
    private func length(
        of upload: Upload, _ record: Uploads.Record, stated: Int64?, at offset: Int64
    ) async throws -> Int64? {
        guard let stated, stated != record.length else { return record.length }
        guard record.length == nil, stated >= offset else {
            throw Problem.header("Upload-Length", "The upload has another length, or more bytes than that.")
        }
        try await room.state(stated, of: upload, owner: record.owner, at: offset)
        return stated
    }

    /// Writes a body, and returns the upload's offset after it.
    private func write(
        _ body: RequestBody, _ upload: Upload, _ record: Uploads.Record, _ writer: UploadWriter,
        _ checksum: PieceChecksum?
    ) async throws -> Int64 {
        var (end, checksum) = (writer.offset, checksum)
        var body = body.makeAsyncIterator()
        while let buffer = try await body.next(within: stall, orThrow: .stalled(stall)) {
            let count = Int64(buffer.readableBytes)
            if let length = record.length {
                guard end + count <= length else {
                    throw Problem(
                        .contentTooLarge, "upload-too-long", "The piece goes beyond the upload's end",
                        detail: "The upload has \(length) bytes in all.")
                }
            } else {
                try await room.reserve(count, to: end + count, of: upload, owner: record.owner)
            }
            let bytes = Array(buffer.readableBytesView)
            checksum?.update(bytes)
            try await access.use(atMost: UploadRoutes.limit) { try writer.write(bytes[...]) }
            end += count
        }
        try checksum?.check()
        return end
    }
}

extension Problem {
    fileprivate static func stalled(_ time: Duration) -> Problem {
        Problem(
            .requestTimeout, "piece-stalled", "The piece does not go on",
            detail: "No byte of it has come for \(time.components.seconds) s.")
    }
}

/// The checksum that a piece must have (the extension checksum).
struct PieceChecksum {
    private let wanted: Data
    private var sha1: Insecure.SHA1?
    private var sha256: SHA256?

    init(_ header: String) throws {
        let parts = header.split(separator: " ")
        guard parts.count == 2, let wanted = Data(base64Encoded: String(parts[1])) else {
            throw Problem.header("Upload-Checksum", "It is an algorithm and a checksum in Base64.")
        }
        self.wanted = wanted
        switch parts[0] {
        case "sha1": sha1 = Insecure.SHA1()
        case "sha256": sha256 = SHA256()
        default: throw Problem.header("Upload-Checksum", "The algorithms are sha1 and sha256.")
        }
    }

    mutating func update(_ bytes: [UInt8]) {
        sha1?.update(data: bytes)
        sha256?.update(data: bytes)
    }

    /// Throws a problem of status 460 if the bytes so far have another checksum.
    func check() throws {
        let found = sha1.map { Data($0.finalize()) } ?? sha256.map { Data($0.finalize()) }
        guard found == wanted else {
            throw Problem(
                HTTPResponse.Status(code: 460, reasonPhrase: "Checksum Mismatch"), "checksum-differs",
                "The piece's checksum differs", detail: "The bytes that came have another; none of them was taken.")
        }
    }
}

/// Room for the bytes of uploads: within the quota of all uploads together, and within what their owner's token may
/// have.
struct UploadRoom {
    let uploads: Uploads
    let settings: ServerSettings
    let limits: TokenLimits
    let access: StoreAccess

    /// The most uploads of all callers together.
    private static let mostUploads = 1000

    /// Begins an upload. Throws a problem if there is no room for it.
    ///
    /// - Parameter again: how many of its bytes its owner already has in other uploads, which can be removed as soon as
    ///   this one is complete. They count once for the owner.
    func begin(_ record: Uploads.Record, again: Int64) async throws -> Upload {
        try await take((record.length ?? 0) - again, of: record.owner) { [uploads, settings] room in
            try uploads.create(
                record, quota: settings.uploadQuota, ownQuota: room.map { $0 + again }, most: UploadRoom.mostUploads)
        }
    }

    /// States the length of an upload that has `offset` bytes and began without one. Throws a problem if there is no
    /// room for that length.
    func state(_ length: Int64, of upload: Upload, owner: String?, at offset: Int64) async throws {
        try await take(length - offset, of: owner) { [uploads, settings] room in
            try uploads.state(length, of: upload, quota: settings.uploadQuota, ownQuota: room) ? () : nil
        }
    }

    /// Takes room for `count` bytes more of an upload without a length, which then ends at `end`. Throws a problem if
    /// there is no room.
    func reserve(_ count: Int64, to end: Int64, of upload: Upload, owner: String?) async throws {
        try await take(count, of: owner) { [uploads, settings] room in
            try uploads.reserve(end, for: upload, quota: settings.uploadQuota, ownQuota: room) ? () : nil
        }
    }

    /// Takes room in the owner's turn, so that each request sees the room that earlier requests have taken.
    ///
    /// - Parameter body: takes the room; returns nil if there is not enough. Blocks. Gets the most bytes that all
    ///   uploads of the owner may have.
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
            .insufficientStorage, "upload-quota", "There is no room for the upload",
            detail:
                "All uploads together, including the ones that jobs still use, may have \(settings.uploadQuota) bytes. "
                + "There may be \(UploadRoom.mostUploads) uploads, a quarter of them with one token.", retryAfter: 60)
    }
}
