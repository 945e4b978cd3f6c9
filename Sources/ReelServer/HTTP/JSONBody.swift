internal import Foundation
internal import Hummingbird
internal import NIOCore
internal import ReelJobs

/// A request's body, as JSON.
enum JSONBody {
    /// Throws a problem of status 413 if it has more bytes than `most`, of 415 if it is called anything but JSON, and of
    /// status 400 if it is not JSON.
    static func read(_ request: Request, most: Int) async throws -> JSONPlace {
        if let type = request.headers[.contentType],
            type.prefix(while: { $0 != ";" }).trimmingCharacters(in: .whitespaces).lowercased() != "application/json"
        {
            throw Problem(
                .unsupportedMediaType, "not-json", "The request's body must be JSON",
                detail: "Its Content-Type is \(type); application/json is taken.")
        }
        let bytes = try await bytes(request, most: most)
        do {
            return JSONPlace(try JSONDecoder().decode(DecimalJSON.self, from: bytes))
        } catch {
            throw Problem(
                .badRequest, "not-json", "The request's body must be JSON", detail: "It cannot be read as JSON.")
        }
    }

    private static func bytes(_ request: Request, most: Int) async throws -> Data {
        var bytes = Data()
        for try await buffer in request.body {
            guard bytes.count + buffer.readableBytes <= most else {
                throw Problem(
                    .contentTooLarge, "body-too-large", "The request's body is too large",
                    detail: "At most \(most) bytes are taken here.")
            }
            bytes.append(contentsOf: buffer.readableBytesView)
        }
        return bytes
    }
}
