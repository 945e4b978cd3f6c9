internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import ReelCore
internal import ReelStore

/// Brings a piece of an upload from a request to the disk.
struct PieceReceiver {
    let room: UploadRoom
    let access: StoreAccess

    /// How long a piece may stall; then its upload can be gone on with by another request.
    private let stall = Duration.seconds(20)

    /// Writes a request's body to an upload, and returns the upload's offset after it. What has come counts even if the
    /// request breaks off, unless it has a checksum.
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
            // After a call that has not returned: until then no other may write the upload.
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
