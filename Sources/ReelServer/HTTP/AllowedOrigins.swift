internal import Foundation
internal import HTTPTypes
internal import Hummingbird

/// Answers browsers that ask whether a page of another site may use the API, and marks the answers that such pages may read
/// (CORS, Fetch 3.3). Only the sites that the server was given may; they have to send a token, since browsers send the
/// cookie of the server's own pages to no other site.
struct AllowedOrigins: RouterMiddleware {
    typealias Context = ServerContext

    private let origins: Set<String>
    private let answers = CORSMiddleware<ServerContext>(
        allowOrigin: .originBased,
        allowHeaders: [
            .accept, .authorization, .contentType, .ifMatch, .ifNoneMatch, .ifRange, .lastEventID, .range,
            .tusResumable,
            .uploadChecksum, .uploadConcat, .uploadDeferLength, .uploadLength, .uploadMetadata, .uploadOffset,
        ],
        allowMethods: Responder.methods,
        exposedHeaders: [
            "Content-Disposition", "Content-Range", "ETag", "Location", "Repr-Digest", "Retry-After", "Tus-Resumable",
            "Upload-Expires", "Upload-Length", "Upload-Offset",
        ],
        maxAge: .seconds(600))

    init(_ origins: Set<String>) { self.origins = origins }

    func handle(
        _ request: Request, context: ServerContext, next: (Request, ServerContext) async throws -> Response
    ) async throws -> Response {
        guard let origin = request.headers[.origin], origins.contains(origin) else {
            return try await next(request, context)
        }
        // What tus asks by OPTIONS is no question of a browser.
        if request.method == .options, request.headers[.accessControlRequestMethod] == nil {
            return try await next(request, context)
        }
        return try await answers.handle(request, context: context, next: next)
    }

    /// Whether a text is an origin as browsers write it: https://app.example, with a port if it is not the usual one.
    static func isOrigin(_ text: String) -> Bool {
        guard let parts = URLComponents(string: text), let scheme = parts.scheme, ["http", "https"].contains(scheme),
            let host = parts.host, !host.isEmpty
        else { return false }
        return text == "\(scheme)://\(host)\(parts.port.map { ":\($0)" } ?? "")" && text == text.lowercased()
    }
}

extension ServerSettings {
    /// Whether a text can be one of `origins`.
    package static func isOrigin(_ text: String) -> Bool { AllowedOrigins.isOrigin(text) }
}
