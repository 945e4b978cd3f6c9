internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import ReelJobs

/// A request's body, as JSON.
enum JSONBody {
    /// How long a body may take, and how many bytes give it a further second.
    private static let patience = (least: Duration.seconds(20), bytes: 64 << 10)

    /// Throws a problem of status 408 if its bytes come too slowly, of 413 if it has more bytes than `most`, of 415 if it is
    /// called anything but JSON, and of 400 if it is not JSON.
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
        let tooLarge = Problem(
            .contentTooLarge, "body-too-large", "The request's body is too large",
            detail: "At most \(most) bytes are taken here.")
        // If it says how many will come, none of them is waited for.
        if let length = request.headers[.contentLength].flatMap({ Int($0) }), length > most { throw tooLarge }
        var bytes = Data()
        let begun = ContinuousClock.now
        for try await buffer in request.body {
            guard bytes.count + buffer.readableBytes <= most else { throw tooLarge }
            bytes.append(contentsOf: buffer.readableBytesView)
            guard ContinuousClock.now - begun < patience.least + .seconds(bytes.count / patience.bytes) else {
                throw Problem(
                    .requestTimeout, "body-slow", "The request's body comes too slowly",
                    detail:
                        "After \(patience.least.components.seconds) s it must have come, or go on with 64 KiB a second."
                )
            }
        }
        return bytes
    }
}
