internal import Hummingbird
internal import ReelStore

/// What `Upload-Concat` says of a new upload (the extension concatenation).
enum UploadConcat: Equatable {
    /// An upload of its own: the header is missing.
    case whole
    /// A part of an upload that is to be put together.
    case part
    /// An upload that is put together of parts, by their places.
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

    /// What it says of an upload that is there; nil for one of its own.
    static func text(of record: Uploads.Record, place: (String) -> String) -> String? {
        if let parts = record.parts { return "final;" + parts.map(place).joined(separator: " ") }
        return record.isPartial ? "partial" : nil
    }
}

/// The complete parts that an upload is put together of.
struct UploadParts {
    private let parts: [(upload: Upload, record: Uploads.Record)]

    /// Finds the parts at these places. Throws a problem if there is no upload at one of them, or it is not complete. Blocks.
    ///
    /// - Parameter find: the upload of an id, if the caller may use it.
    init(at places: [String], find: (String) throws -> (Upload, Uploads.Record)) throws {
        parts = try places.map { place in
            let (part, record) = try find(place.split(separator: "/").last.map(String.init) ?? "")
            guard record.isPartial else { throw Problem.header("Upload-Concat", "\(place) is no partial upload.") }
            guard try record.length == part.offset else {
                throw Problem(
                    .conflict, "part-incomplete", "A part is not complete", detail: "\(place) lacks bytes.")
            }
            return (part, record)
        }
    }

    var uploads: [Upload] { parts.map(\.upload) }

    /// The bytes of the whole. A part that is named twice is in it twice.
    var length: Int64 { parts.reduce(0) { $0 + ($1.record.length ?? 0) } }

    /// The bytes of the whole that the owner has in parts. A part that is named twice is there once.
    func bytes(of owner: String?) -> Int64 {
        let records = Dictionary(parts.map { ($0.upload.id, $0.record) }) { first, _ in first }.values
        return records.reduce(0) { $0 + ($1.owner == owner ? $1.length ?? 0 : 0) }
    }
}
