internal import CServerPages
internal import Crypto
internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import ReelCore

/// The pages: one shell for all places, its style and the modules of its script. All are part of the program.
///
/// After an upgrade a browser must not run modules of two releases together. So they and the style have addresses below
/// `pages/VERSION/`, where VERSION is a hash of them all, and modules import each other by relative addresses
/// (`./api.js`), which keeps all of them in the folder that the shell names. A browser asks for the shell each time,
/// and may keep the modules for as long as it likes. The server knows no other version than its own: a browser that has
/// the shell of another release, as while servers of two releases serve one address, gets none of its modules, until it
/// loads the page anew.
struct PageRoutes {
    let basePath: String

    /// The files of `Pages`, by name.
    private static let files: [String: [UInt8]] = {
        var files: [String: [UInt8]] = [:]
        var next = server_pages()
        while let page = next?.pointee, let name = page.name.map({ String(cString: $0) }) {
            let bytes = Array(UnsafeBufferPointer(start: page.bytes, count: page.count))
            files[name] = name.hasSuffix(".js") ? lean(bytes) : bytes
            next = next?.advanced(by: 1)
        }
        return files
    }()

    /// A module without indentation, and without the lines that are comments: browsers need neither. No text in a module
    /// goes over several lines.
    private static func lean(_ module: [UInt8]) -> [UInt8] {
        let lines = module.split(separator: UInt8(ascii: "\n")).map { $0.drop { $0 == UInt8(ascii: " ") } }
        let kept = lines.filter { line in !["//", "/**", "*"].contains { line.starts(with: Array($0.utf8)) } }
        return Array(kept.joined(separator: [UInt8(ascii: "\n")]))
    }

    /// The modules and the style, in the order of their names.
    private static let parts = files.filter { $0.key.hasSuffix(".js") || $0.key.hasSuffix(".css") }
        .sorted { $0.key < $1.key }

    /// A hash of the modules and the style, with their names.
    private static let version: String = {
        var hash = SHA256()
        for (name, bytes) in parts {
            hash.update(data: Data("\(name) \(bytes.count) ".utf8))
            hash.update(data: bytes)
        }
        return Hexadecimal.text(hash.finalize().prefix(12))
    }()

    var routes: [Route] {
        let shell = page("index.html", "text/html; charset=utf-8")
        let places = ["", "jobs/{id}", "submit", "workers", "queue", "audit", "docs", "sign-in"]
        let folder = "pages/\(PageRoutes.version)"
        let files =
            [
                ("icon.svg", Page(PageRoutes.files["icon.svg"] ?? [], "image/svg+xml")),
                ("api/v1/openapi.json", page("openapi.json", "application/json")),
            ]
            + PageRoutes.parts.map { name, bytes in
                let type = name.hasSuffix(".css") ? "text/css" : "text/javascript"
                return ("\(folder)/\(name)", Page(bytes, type + "; charset=utf-8", lasts: true))
            }
        return places.map { place in .get(place, nil) { request, _ in shell.response(to: request) } }
            + files.map { name, page in .get(name, nil) { request, _ in page.response(to: request) } }
    }

    /// The shell, for a person who has come to a place that does not exist; nil for a request that a browser did not send
    /// to show a page, or below a place of programs.
    func lost(_ request: Request) -> Response? {
        let isAsked = request.method == .get && request.headers[.accept]?.contains("text/html") == true
        let isOfPrograms = ["/api/", "/pages/"].contains { request.uri.path.hasPrefix(basePath + $0) }
        guard isAsked, !isOfPrograms, request.uri.path.hasPrefix(basePath + "/") else { return nil }
        var response = page("index.html", "text/html; charset=utf-8").response(to: request)
        response.status = .notFound
        return response
    }

    /// A text that says where the server's places begin, and which version of the modules is this server's.
    private func page(_ name: String, _ type: String) -> Page {
        let text = String(decoding: PageRoutes.files[name] ?? [], as: UTF8.self)
            .replacing("{{base}}", with: basePath + "/").replacing("{{preloads}}", with: PageRoutes.preloads)
            .replacing("{{version}}", with: PageRoutes.version)
        return Page(Array(text.utf8), type)
    }

    /// Lets a browser ask for all modules at once. Without this it learns of some modules only from others.
    private static var preloads: String {
        parts.map(\.key).filter { $0.hasSuffix(".js") }
            .map { name in #"<link rel="modulepreload" href="pages/{{version}}/\#(name)">"# }.joined(separator: "\n")
    }
}

private struct Page: Sendable {
    let buffer: ByteBuffer
    let type: String
    /// Changes with the bytes, so that browsers ask and get no more than they lack.
    let tag: String
    let caching: String

    /// - Parameter lasts: whether its address changes with its bytes, so that browsers need not ask again.
    init(_ bytes: [UInt8], _ type: String, lasts: Bool = false) {
        buffer = ByteBuffer(bytes: bytes)
        self.type = type
        tag = "\"" + Hexadecimal.text(SHA256.hash(data: bytes).prefix(12)) + "\""
        caching = lasts ? "max-age=31536000, immutable" : "no-cache"
    }

    func response(to request: Request) -> Response {
        let headers: HTTPFields = [.contentType: type, .eTag: tag, .cacheControl: caching]
        if request.headers[.ifNoneMatch] == tag { return Response(status: .notModified, headers: headers) }
        return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: buffer))
    }
}
