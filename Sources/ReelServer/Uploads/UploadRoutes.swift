internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import ReelCore
internal import ReelStore

/// Resumable uploads into the store: tus 1.0.0 with the extensions creation, creation-with-upload,
/// creation-defer-length, expiration, checksum, termination and concatenation
/// (https://tus.io/protocols/resumable-upload). docs/server.md says why these.
struct UploadRoutes {
    let uploads: Uploads
    let settings: ServerSettings
    let limits: TokenLimits
    let access: StoreAccess

    /// The time for a call to the store, and for a call that copies an upload or waits until it is on the disk.
    static let (limit, longLimit) = (Duration.seconds(60), Duration.seconds(3600))

    private var room: UploadRoom { UploadRoom(uploads: uploads, settings: settings, limits: limits, access: access) }
    private var receiver: PieceReceiver { PieceReceiver(room: room, access: access) }

    var routes: [Route] {
        [
            Route(method: .options, path: "uploads", role: nil, action: nil, limit: .seconds(30), handler: options),
            Route(
                method: .options, path: "uploads/{id}", role: nil, action: nil, limit: .seconds(30), handler: options),
            .change(.post, "uploads", .operator, "upload", limit: nil, makesFiles: true) {
                try await tus($0, $1, create)
            },
            .change(.post, "uploads/{id}", .operator, "upload", limit: nil, isNoted: false) {
                try await tus($0, $1, overridden($0))
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

    private typealias Handler = (Request, ServerContext) async throws -> Response

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

    /// Answers a request of the protocol's version. Every answer has that version.
    private func tus(_ request: Request, _ context: ServerContext, _ handler: Handler) async throws -> Response {
        guard request.headers[.tusResumable] == "1.0.0" else {
            var problem = Problem(
                .preconditionFailed, "tus-version", "The version of tus is not supported",
                detail: "This server speaks 1.0.0: send Tus-Resumable: 1.0.0.")
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

    /// The handler of the method that a POST names, for clients that cannot send that method.
    private func overridden(_ request: Request) throws -> Handler {
        switch request.headers[.methodOverride]?.uppercased() {
        case "PATCH": return append
        case "DELETE": return end
        default:
            throw Problem(
                .methodNotAllowed, "method-not-allowed", "The place does not take this method",
                detail: "POST takes X-HTTP-Method-Override: PATCH or DELETE here.")
        }
    }

    // MARK: Requests

    private func create(_ request: Request, _ context: ServerContext) async throws -> Response {
        let name = try request.fileName()
        let concat = try UploadConcat(request)
        let parts = try await parts(concat, context)
        let length = try parts?.length ?? UploadRoutes.length(of: request)
        if let length, length > settings.uploadQuota {
            throw Problem(
                .contentTooLarge, "upload-too-large", "The upload is too large",
                detail: "It would have \(length) bytes; --upload-quota is \(settings.uploadQuota).")
        }
        let record = Uploads.Record(
            length: length, name: name, metadata: request.headers[.uploadMetadata], owner: context.caller.name,
            isPartial: concat == .part, parts: parts?.uploads.map(\.id), lifetime: settings.uploadExpiry)
        let upload = try await room.begin(record, again: parts?.bytes(of: record.owner) ?? 0)
        var response = Response(status: .created)
        do {
            if let parts {
                try await access.use(atMost: UploadRoutes.longLimit) { try upload.append(contentsOf: parts.uploads) }
            } else if request.isPiece {
                response.headers[.uploadOffset] = String(try await receiver.receive(request, at: 0, upload, record))
            }
        } catch {
            // The client does not learn its place, and could not remove it.
            _ = try? await access.use(begins: true) { try upload.end() }
            throw error
        }
        response.headers[.location] = place(of: upload.id)
        response.headers[.uploadExpires] = try await access.use { try upload.expiryText }
        return response
    }

    private func look(_ request: Request, _ context: ServerContext) async throws -> Response {
        let (upload, record) = try self.upload(context.part("id"), context)
        var headers: HTTPFields = [.uploadOffset: String(try upload.offset)]
        headers[.uploadLength] = record.length.map { String($0) }
        if record.length == nil { headers[.uploadDeferLength] = "1" }
        headers[.uploadMetadata] = record.metadata
        headers[.uploadExpires] = try upload.expiryText
        headers[.uploadConcat] = UploadConcat.text(of: record, place: place(of:))
        return Response(status: .ok, headers: headers)
    }

    private func append(_ request: Request, _ context: ServerContext) async throws -> Response {
        let (upload, record) = try await access.use { try self.upload(context.part("id"), context) }
        guard request.isPiece else {
            throw Problem(
                .unsupportedMediaType, "not-a-piece", "The request is not a piece of an upload",
                detail: "Its Content-Type must be \(Request.pieceType).")
        }
        guard let offset = try request.bytes(.uploadOffset) else {
            throw Problem.header("Upload-Offset", "It is missing.")
        }
        guard record.parts == nil else {
            throw Problem(
                .forbidden, "upload-final", "The upload was put together of others",
                detail: "Nothing can be added to it.")
        }
        let end = try await receiver.receive(request, at: offset, upload, record)
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
            .notFound, "upload-unknown", "There is no such upload", detail: "\(id) is unknown, or it has expired.")
    }

    private func place(of id: String) -> String { "\(settings.basePath)/api/v1/uploads/\(id)" }

    /// The parts of a new upload that consists of parts; otherwise nil.
    private func parts(_ concat: UploadConcat, _ context: ServerContext) async throws -> UploadParts? {
        guard case .parts(let places) = concat else { return nil }
        return try await access.use { try UploadParts(at: places) { try upload($0, context) } }
    }

    /// The length of a new upload; nil if a later piece will state it (the extension creation-defer-length).
    private static func length(of request: Request) throws -> Int64? {
        let length = try request.bytes(.uploadLength)
        let deferral = request.headers[.uploadDeferLength]
        guard deferral ?? "1" == "1", (deferral == nil) == (length != nil) else {
            throw Problem.header("Upload-Length", "Send it, or Upload-Defer-Length: 1.")
        }
        return length
    }
}

extension Request {
    /// A header that is a number of bytes; nil if it is missing.
    func bytes(_ name: HTTPField.Name) throws -> Int64? {
        guard let text = headers[name] else { return nil }
        guard text.allSatisfy(\.isNumber), let number = Int64(text), number >= 0 else {
            throw Problem.header(name.canonicalName, "It is a number of bytes.")
        }
        return number
    }

    var isPiece: Bool {
        headers[.contentType]?.split(separator: ";").first?.trimmingCharacters(in: .whitespaces).lowercased()
            == Request.pieceType
    }

    static let pieceType = "application/offset+octet-stream"

    /// The name of the file, from the metadata's filename or name, without any folder, and not too long; "upload" if they name
    /// none.
    func fileName() throws -> String {
        var values: [String: String] = [:]
        for pair in (headers[.uploadMetadata] ?? "").split(separator: ",") {
            let parts = pair.split(separator: " ", omittingEmptySubsequences: true)
            guard (1...2).contains(parts.count), values[String(parts[0])] == nil,
                let value = parts.count == 2 ? Data(base64Encoded: String(parts[1])) : Data()
            else { throw Problem.header("Upload-Metadata", "It is pairs of a key and a value in Base64.") }
            values[String(parts[0])] = String(decoding: value, as: UTF8.self)
        }
        let text = values["filename"] ?? values["name"] ?? ""
        let last = text.split(whereSeparator: { "/\\".contains($0) }).last.map(String.init) ?? ""
        let name = String(last.unicodeScalars.filter { $0.properties.generalCategory != .control }.map(Character.init))
        guard !name.isEmpty, !name.hasPrefix(".") else { return "upload" }
        return name.shortened(toBytes: FileNames.mostBytes)
    }
}

extension Upload {
    /// When it expires, as HTTP spells moments. Blocks.
    var expiryText: String {
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

    static func locked(_ upload: Upload) -> Problem {
        Problem(
            HTTPResponse.Status(code: 423, reasonPhrase: "Locked"), "upload-locked",
            "Another request writes the upload", detail: "Ask for its offset and go on in a moment.", retryAfter: 1)
    }
}

/// The header `Upload-Concat` of a new upload (the extension concatenation).
enum UploadConcat: Equatable {
    /// An upload of its own: the header is missing.
    case whole
    case part
    /// An upload that consists of parts, by their places.
    case parts([String])

    init(_ request: Request) throws {
        switch request.headers[.uploadConcat] {
        case nil: self = .whole
        case "partial": self = .part
        case let text? where text.hasPrefix("final;"):
            let places = text.dropFirst("final;".count).split(separator: " ").map(String.init)
            guard !places.isEmpty else { throw Problem.header("Upload-Concat", "It names no part.") }
            self = .parts(places)
        default: throw Problem.header("Upload-Concat", "It is 'partial', or 'final;' with the places of the parts.")
        }
    }

    /// The header of an upload that exists; nil for an upload of its own.
    static func text(of record: Uploads.Record, place: (String) -> String) -> String? {
        if let parts = record.parts { return "final;" + parts.map(place).joined(separator: " ") }
        return record.isPartial ? "partial" : nil
    }
}

/// The complete parts of an upload.
struct UploadParts {
    private let parts: [(upload: Upload, record: Uploads.Record)]

    /// Finds the parts at these places. Throws a problem if there is no upload at one of them, or it is not complete.
    /// Blocks.
    ///
    /// - Parameter find: the upload of an id, if the caller may use it.
    init(at places: [String], find: (String) throws -> (Upload, Uploads.Record)) throws {
        parts = try places.map { place in
            let (part, record) = try find(place.split(separator: "/").last.map(String.init) ?? "")
            guard record.isPartial else { throw Problem.header("Upload-Concat", "\(place) is not a partial upload.") }
            guard try record.length == part.offset else {
                throw Problem(.conflict, "part-incomplete", "A part is not complete", detail: "\(place) lacks bytes.")
            }
            return (part, record)
        }
    }

    var uploads: [Upload] { parts.map(\.upload) }

    /// The bytes of the whole. A part that is named twice counts twice.
    var length: Int64 { parts.reduce(0) { $0 + ($1.record.length ?? 0) } }

    /// The bytes of the parts that belong to an owner. A part that is named twice counts once.
    func bytes(of owner: String?) -> Int64 {
        let records = Dictionary(parts.map { ($0.upload.id, $0.record) }) { first, _ in first }.values
        return records.reduce(0) { $0 + ($1.owner == owner ? $1.length ?? 0 : 0) }
    }
}
