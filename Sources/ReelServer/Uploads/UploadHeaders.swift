internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import ReelStore

extension Request {
    /// A header that is a number of bytes; nil if it is missing.
    func bytes(_ name: HTTPField.Name) throws -> Int64? {
        guard let text = headers[name] else { return nil }
        guard text.allSatisfy(\.isNumber), let number = Int64(text), number >= 0 else {
            throw Problem.header(name.canonicalName, "It is a number of bytes.")
        }
        return number
    }

    /// Whether its body is a piece of an upload.
    var isPiece: Bool {
        headers[.contentType]?.split(separator: ";").first?.trimmingCharacters(in: .whitespaces).lowercased()
            == Request.pieceType
    }

    static let pieceType = "application/offset+octet-stream"

    /// The name of the file, from the metadata's filename or name, without any folder; "upload" if there is none.
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
        guard !name.isEmpty, !name.hasPrefix("."), name.utf8.count <= 200 else { return "upload" }
        return name
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
            "Another request writes the upload",
            detail: "Ask for its offset and go on in a moment.", retryAfter: 1)
    }
}

extension HTTPField.Name {
    static let methodOverride = HTTPField.Name(known: "X-HTTP-Method-Override")
    static let tusResumable = HTTPField.Name(known: "Tus-Resumable")
    static let tusVersion = HTTPField.Name(known: "Tus-Version")
    static let tusExtension = HTTPField.Name(known: "Tus-Extension")
    static let tusMaxSize = HTTPField.Name(known: "Tus-Max-Size")
    static let tusChecksumAlgorithm = HTTPField.Name(known: "Tus-Checksum-Algorithm")
    static let uploadLength = HTTPField.Name(known: "Upload-Length")
    static let uploadOffset = HTTPField.Name(known: "Upload-Offset")
    static let uploadMetadata = HTTPField.Name(known: "Upload-Metadata")
    static let uploadConcat = HTTPField.Name(known: "Upload-Concat")
    static let uploadDeferLength = HTTPField.Name(known: "Upload-Defer-Length")
    static let uploadExpires = HTTPField.Name(known: "Upload-Expires")
    static let uploadChecksum = HTTPField.Name(known: "Upload-Checksum")
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
