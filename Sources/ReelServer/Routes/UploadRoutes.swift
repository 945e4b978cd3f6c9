internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import ReelCore
internal import ReelStore

/// Resumable uploads into the store: tus 1.0.0 with the extensions creation, creation-with-upload, creation-defer-length,
/// expiration, checksum, termination and concatenation (https://tus.io/protocols/resumable-upload).
struct UploadRoutes {
    let uploads: Uploads
    let settings: ServerSettings
    let limits: TokenLimits
    let access: StoreAccess

    /// The most uploads of all callers together.
    private static let mostUploads = 1000
    /// How long a piece may stall; then its upload can be gone on with by another request.
    private static let stall = Duration.seconds(20)
    /// How long a call to the store may take, and one that copies an upload or waits until one is on the disk.
    private static let (limit, longLimit) = (Duration.seconds(60), Duration.seconds(3600))

    var routes: [Route] {
        [
            Route(method: .options, path: "uploads", role: nil, action: nil, limit: .seconds(30), handler: options),
            Route(
                method: .options, path: "uploads/{id}", role: nil, action: nil, limit: .seconds(30), handler: options),
            .change(.post, "uploads", .operator, "upload", limit: nil, makesFiles: true) {
                try await tus($0, $1, create)
            },
            // A client that cannot send other methods names one.
            .change(.post, "uploads/{id}", .operator, "upload", limit: nil, isNoted: false) { request, context in
                switch request.headers[.methodOverride]?.uppercased() {
                case "PATCH": try await tus(request, context, append)
                case "DELETE": try await tus(request, context, end)
                default:
                    throw Problem(
                        .methodNotAllowed, "method-not-allowed", "The place does not take this method",
                        detail: "POST takes X-HTTP-Method-Override: PATCH or DELETE here.")
                }
            },
            Route(method: .head, path: "uploads/{id}", role: .operator, action: nil, limit: .seconds(30)) {
                try await tus($0, $1, look)
            }.usingStore(),
            .change(.patch, "uploads/{id}", .operator, "upload", limit: nil, isNoted: false) {
                try await tus($0, $1, append)
            },
            .change(.delete, "uploads/{id}", .operator, "remove upload", limit: nil) { try await tus($0, $1, end) },
        ]
    }

    // MARK: The protocol

    @Sendable private func options(_: Request, _: ServerContext) -> Response {
        var headers = UploadRoutes.version
        headers[.tusVersion] = "1.0.0"
        headers[.tusExtension] =
            "creation,creation-with-upload,creation-defer-length,expiration,checksum,termination,concatenation"
        headers[.tusMaxSize] = String(settings.uploadQuota)
        headers[.tusChecksumAlgorithm] = "sha1,sha256"
        return Response(status: .noContent, headers: headers)
    }

    private static var version: HTTPFields { [.tusResumable: "1.0.0", .cacheControl: "no-store"] }

    /// Answers a request of the protocol's version; every answer says that version.
    private func tus(
        _ request: Request, _ context: ServerContext, _ handler: (Request, ServerContext) async throws -> Response
    ) async throws -> Response {
        guard request.headers[.tusResumable] == "1.0.0" else {
            var problem = Problem(
                .preconditionFailed, "tus-version", "The request is of no version of tus that is known",
                detail: "Send Tus-Resumable: 1.0.0.")
            problem.headers[.tusVersion] = "1.0.0"
            throw problem
        }
        do {
            var response = try await handler(request, context)
            for field in UploadRoutes.version { response.headers[field.name] = field.value }
            return response
        } catch {
            var problem = Problem(of: error)
            problem.headers[.tusResumable] = "1.0.0"
            throw problem
        }
    }

    // MARK: Requests

    private func create(_ request: Request, _ context: ServerContext) async throws -> Response {
        let metadata = request.headers[.uploadMetadata]
        let name = try UploadRoutes.name(in: metadata)
        let concat = request.headers[.uploadConcat]
        var parts: [Upload]?
        if let concat, concat.hasPrefix("final;") {
            parts = try await access.use { try self.parts(named: concat.dropFirst(6), context) }
        }
        guard concat == nil || concat == "partial" || parts != nil else {
            throw Problem.header("Upload-Concat", "It is 'partial', or 'final;' with the places of the parts.")
        }
        var length = try UploadRoutes.number(request, .uploadLength)
        let isDeferred = request.headers[.uploadDeferLength] != nil
        guard request.headers[.uploadDeferLength] ?? "1" == "1", parts != nil || isDeferred != (length != nil) else {
            throw Problem.header("Upload-Length", "Send it, or Upload-Defer-Length: 1.")
        }
        if let parts {
            length = try await access.use { try parts.reduce(0) { $0 + (try $1.record().length ?? 0) } }
        }
        if let length, length > settings.uploadQuota {
            throw Problem(
                .contentTooLarge, "upload-too-large", "The upload is too large",
                detail: "It would have \(length) bytes; --upload-quota is \(settings.uploadQuota).")
        }
        let record = Uploads.Record(
            length: length, name: name, metadata: metadata, owner: context.caller.name, isPartial: concat == "partial",
            parts: parts?.map(\.id), lifetime: settings.uploadExpiry)
        // A whole may have the bytes of its parts once more: they can be removed as soon as it is there.
        let again = try await access.use { [parts = parts ?? []] in
            try UploadRoutes.bytes(of: parts, owner: record.owner)
        }
        let upload = try await limits.inTurn(of: record.owner) {
            let bytes = (record.length ?? 0) - again
            let room = try await limits.admitBytes(bytes, of: record.owner)
            let upload = try await access.use(atMost: UploadRoutes.limit) {
                try uploads.create(
                    record, quota: settings.uploadQuota, ownQuota: room.map { $0 + again },
                    most: UploadRoutes.mostUploads)
            }
            guard let upload else { throw try await limits.bytesExceeded(bytes, of: record.owner) ?? quotaExceeded }
            return upload
        }
        if let parts {
            do {
                try await access.use(atMost: UploadRoutes.longLimit) { try upload.append(contentsOf: parts) }
            } catch {
                await giveUp(upload)
                throw error
            }
        }
        var response = Response(status: .created)
        if parts == nil, UploadRoutes.isPiece(request) {
            do {
                response.headers[.uploadOffset] = String(try await receive(request, at: 0, upload, record))
            } catch {
                await giveUp(upload)
                throw error
            }
        }
        response.headers[.location] = "\(settings.basePath)/api/v1/uploads/\(upload.id)"
        response.headers[.uploadExpires] = try await access.use { try upload.expiryText }
        return response
    }

    /// Removes an upload whose maker does not learn its place, and could not remove it.
    private func giveUp(_ upload: Upload) async {
        _ = try? await access.use(begins: true) { try upload.end() }
    }

    private func look(_ request: Request, _ context: ServerContext) async throws -> Response {
        let (upload, record) = try self.upload(context.part("id"), context)
        var headers: HTTPFields = [.uploadOffset: String(try upload.offset)]
        headers[.uploadLength] = record.length.map { String($0) }
        if record.length == nil { headers[.uploadDeferLength] = "1" }
        headers[.uploadMetadata] = record.metadata
        headers[.uploadExpires] = try upload.expiryText
        if record.isPartial { headers[.uploadConcat] = "partial" }
        if let parts = record.parts {
            let places = parts.map { "\(settings.basePath)/api/v1/uploads/\($0)" }
            headers[.uploadConcat] = "final;" + places.joined(separator: " ")
        }
        return Response(status: .ok, headers: headers)
    }

    private func append(_ request: Request, _ context: ServerContext) async throws -> Response {
        let (upload, record) = try await access.use { try self.upload(context.part("id"), context) }
        guard UploadRoutes.isPiece(request) else {
            throw Problem(
                .unsupportedMediaType, "not-a-piece", "The request is no piece of an upload",
                detail: "Its Content-Type must be \(UploadRoutes.type).")
        }
        guard let offset = try UploadRoutes.number(request, .uploadOffset) else {
            throw Problem.header("Upload-Offset", "It is missing.")
        }
        guard record.parts == nil else {
            throw Problem(
                .forbidden, "upload-final", "The upload was put together of others",
                detail: "Nothing can be added to it.")
        }
        let end = try await receive(request, at: offset, upload, record)
        var headers: HTTPFields = [.uploadOffset: String(end)]
        headers[.uploadExpires] = try await access.use { try upload.expiryText }
        return Response(status: .noContent, headers: headers)
    }

    private func end(_ request: Request, _ context: ServerContext) async throws -> Response {
        try await access.use(atMost: UploadRoutes.limit) {
            let (upload, _) = try self.upload(context.part("id"), context)
            guard try upload.end() else { throw Problem.locked(upload) }
        }
        return Response(status: .noContent)
    }

    // MARK: Bytes

    private static let type = "application/offset+octet-stream"

    private static func isPiece(_ request: Request) -> Bool {
        request.headers[.contentType]?.split(separator: ";").first?.trimmingCharacters(in: .whitespaces).lowercased()
            == type
    }

    /// Writes a request's body to an upload, and returns the upload's offset after it. What has come counts even if the
    /// request breaks off, unless it has a checksum.
    private func receive(
        _ request: Request, at offset: Int64, _ upload: Upload, _ record: Uploads.Record
    ) async throws -> Int64 {
        var record = record
        let length = try UploadRoutes.number(request, .uploadLength)
        var checksum = try request.headers[.uploadChecksum].map(PieceChecksum.init)
        let isChecked = checksum != nil
        guard let writer = try await access.use({ try upload.writer(isChecked: isChecked) }) else {
            throw Problem.locked(upload)
        }
        guard writer.offset == offset else {
            try await access.use(begins: true) { try writer.drop() }
            throw Problem(
                .conflict, "offset-differs", "The upload is at another offset",
                detail: "It has \(writer.offset) bytes; Upload-Offset is \(offset).")
        }
        var end = offset
        do {
            if let length, length != record.length {
                let quota = settings.uploadQuota
                guard record.length == nil, length >= offset else {
                    throw Problem.header("Upload-Length", "The upload has another length, or more bytes than that.")
                }
                try await limits.inTurn(of: record.owner) { [owner = record.owner] in
                    let room = try await limits.admitBytes(length - offset, of: owner)
                    let hasRoom = try await access.use {
                        try uploads.state(length, of: upload, quota: quota, ownQuota: room)
                    }
                    guard hasRoom else {
                        throw try await limits.bytesExceeded(length - offset, of: owner) ?? quotaExceeded
                    }
                }
                record.length = length
            }
            var body = request.body.makeAsyncIterator()
            while let buffer = try await body.next(within: UploadRoutes.stall, orThrow: .stalled(UploadRoutes.stall)) {
                let count = Int64(buffer.readableBytes)
                if let length = record.length, end + count > length {
                    throw Problem(
                        .contentTooLarge, "upload-too-long", "The piece goes beyond the upload's end",
                        detail: "The upload has \(length) bytes in all.")
                }
                if record.length == nil {
                    let wanted = end + count
                    try await limits.inTurn(of: record.owner) { [owner = record.owner] in
                        let room = try await limits.admitBytes(count, of: owner)
                        let hasRoom = try await access.use {
                            try uploads.reserve(wanted, for: upload, quota: settings.uploadQuota, ownQuota: room)
                        }
                        guard hasRoom else { throw try await limits.bytesExceeded(count, of: owner) ?? quotaExceeded }
                    }
                }
                let bytes = Array(buffer.readableBytesView)
                checksum?.update(bytes)
                try await access.use(atMost: UploadRoutes.limit) { try writer.write(bytes[...]) }
                end += count
            }
            if let checksum, !checksum.isRight {
                throw Problem(
                    HTTPResponse.Status(code: 460, reasonPhrase: "Checksum Mismatch"), "checksum-differs",
                    "The piece's checksum differs", detail: "The bytes that came have another; none of them was taken.")
            }
            try await access.use(atMost: UploadRoutes.longLimit) { try writer.finish() }
            return end
        } catch {
            // After a call that has not returned: until then no other may write the upload.
            try? await access.use(atMost: UploadRoutes.limit, begins: true) {
                if isChecked { try writer.drop() } else { try writer.finish() }
            }
            throw error
        }
    }

    // MARK: Parts of requests

    /// The upload of an id, if it is the caller's. Blocks.
    func upload(_ id: String, _ context: ServerContext) throws -> (Upload, Uploads.Record) {
        let found = try uploads.upload(id, now: Date().timeIntervalSince1970)
        if let found, let record = try? found.record(),
            record.owner == nil || record.owner == context.caller.name || context.caller.role == .admin
        {
            return (found, record)
        }
        throw Problem(
            .notFound, "upload-unknown", "There is no such upload", detail: "\(id) is none, or it has expired.")
    }

    /// The parts that Upload-Concat names, which must be complete. Blocks.
    private func parts(named text: Substring, _ context: ServerContext) throws -> [Upload] {
        let parts = try text.split(separator: " ").map { place in
            let id = place.split(separator: "/").last.map(String.init) ?? ""
            let (part, record) = try upload(id, context)
            guard record.isPartial else { throw Problem.header("Upload-Concat", "\(place) is no partial upload.") }
            guard try record.length == part.offset else {
                throw Problem(
                    .conflict, "part-incomplete", "A part is not complete", detail: "\(place) lacks bytes.")
            }
            return part
        }
        guard !parts.isEmpty else { throw Problem.header("Upload-Concat", "It names no part.") }
        return parts
    }

    /// How many bytes the uploads of an owner among these have; one that is named twice counts once. Blocks.
    private static func bytes(of parts: [Upload], owner: String?) throws -> Int64 {
        let records = try Dictionary(parts.map { ($0.id, $0) }) { first, _ in first }.values.map { try $0.record() }
        return records.reduce(0) { $0 + ($1.owner == owner ? $1.length ?? 0 : 0) }
    }

    /// The name of the file, of the metadata's filename or name, without any folder; "upload" if it says none.
    private static func name(in metadata: String?) throws -> String {
        var values: [String: String] = [:]
        for pair in (metadata ?? "").split(separator: ",") {
            let parts = pair.split(separator: " ", omittingEmptySubsequences: true)
            guard (1...2).contains(parts.count), values[String(parts[0])] == nil,
                let value = parts.count == 2 ? Data(base64Encoded: String(parts[1])) : Data()
            else { throw Problem.header("Upload-Metadata", "It is pairs of a key and a value in Base64.") }
            values[String(parts[0])] = String(decoding: value, as: UTF8.self)
        }
        let text = values["filename"] ?? values["name"] ?? ""
        let last = text.split(whereSeparator: { "/\\".contains($0) }).last.map(String.init) ?? ""
        let name = String(last.unicodeScalars.filter { $0.properties.generalCategory != .control }.map(Character.init))
        guard !name.isEmpty, !name.hasPrefix("."), name.utf8.count <= 200 else { return "upload" }
        return name
    }

    private static func number(_ request: Request, _ name: HTTPField.Name) throws -> Int64? {
        guard let text = request.headers[name] else { return nil }
        guard text.allSatisfy(\.isNumber), let number = Int64(text), number >= 0 else {
            throw Problem.header(name.canonicalName, "It is a number of bytes.")
        }
        return number
    }

    private var quotaExceeded: Problem {
        Problem(
            .insufficientStorage, "upload-quota",
            "There is no room for the upload",
            detail:
                "All uploads together may have \(settings.uploadQuota) bytes, those that jobs still have among them, and be "
                + "\(UploadRoutes.mostUploads), a quarter of them of a token.",
            retryAfter: 60)
    }
}

extension Upload {
    /// When it expires, as HTTP spells moments.
    fileprivate var expiryText: String {
        get throws {
            let formatter = DateFormatter()
            formatter.locale = Locale(identifier: "en_US_POSIX")
            formatter.timeZone = TimeZone(secondsFromGMT: 0)
            formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
            return formatter.string(from: Date(timeIntervalSince1970: try expiry))
        }
    }
}

extension Problem {
    static func header(_ name: String, _ detail: String) -> Problem {
        Problem(.badRequest, "header-invalid", "A header cannot be taken", detail: "\(name): \(detail)", pointer: name)
    }

    fileprivate static func stalled(_ time: Duration) -> Problem {
        Problem(
            .requestTimeout, "piece-stalled", "The piece does not go on",
            detail: "No byte of it has come for \(time.components.seconds) s.")
    }

    fileprivate static func locked(_ upload: Upload) -> Problem {
        Problem(
            HTTPResponse.Status(code: 423, reasonPhrase: "Locked"), "upload-locked",
            "Another request writes the upload",
            detail: "Ask for its offset and go on in a moment.", retryAfter: 1)
    }
}

extension HTTPField.Name {
    fileprivate static let methodOverride = HTTPField.Name(known: "X-HTTP-Method-Override")
    fileprivate static let tusResumable = HTTPField.Name(known: "Tus-Resumable")
    fileprivate static let tusVersion = HTTPField.Name(known: "Tus-Version")
    fileprivate static let tusExtension = HTTPField.Name(known: "Tus-Extension")
    fileprivate static let tusMaxSize = HTTPField.Name(known: "Tus-Max-Size")
    fileprivate static let tusChecksumAlgorithm = HTTPField.Name(known: "Tus-Checksum-Algorithm")
    fileprivate static let uploadLength = HTTPField.Name(known: "Upload-Length")
    fileprivate static let uploadOffset = HTTPField.Name(known: "Upload-Offset")
    fileprivate static let uploadMetadata = HTTPField.Name(known: "Upload-Metadata")
    fileprivate static let uploadConcat = HTTPField.Name(known: "Upload-Concat")
    fileprivate static let uploadDeferLength = HTTPField.Name(known: "Upload-Defer-Length")
    fileprivate static let uploadExpires = HTTPField.Name(known: "Upload-Expires")
    fileprivate static let uploadChecksum = HTTPField.Name(known: "Upload-Checksum")
}
