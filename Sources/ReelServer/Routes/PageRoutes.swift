internal import Crypto
internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import ReelCore

/// The pages: one shell for all places, its style and its script. All are part of the program.
struct PageRoutes {
    let basePath: String

    var routes: [Route] {
        let shell = page(PackageResources.index_html, "text/html; charset=utf-8")
        let places = ["", "jobs/{id}", "submit", "workers", "queue", "audit", "sign-in"]
        let files = [
            ("reel.css", Page(PackageResources.reel_css, "text/css; charset=utf-8")),
            ("reel.js", Page(PackageResources.reel_js, "text/javascript; charset=utf-8")),
            ("icon.svg", Page(PackageResources.icon_svg, "image/svg+xml")),
            ("api/v1/openapi.json", page(PackageResources.openapi_json, "application/json")),
        ]
        return places.map { place in .get(place, nil) { request, _ in shell.response(to: request) } }
            + files.map { name, page in .get(name, nil) { request, _ in page.response(to: request) } }
    }

    /// A text that says where the server's places begin.
    private func page(_ bytes: [UInt8], _ type: String) -> Page {
        let text = String(decoding: bytes, as: UTF8.self).replacing("{{base}}", with: basePath + "/")
        return Page(Array(text.utf8), type)
    }
}

/// A file that is part of the program.
private struct Page: Sendable {
    let buffer: ByteBuffer
    let type: String
    /// Changes with the bytes, so that browsers ask and get no more than they lack.
    let tag: String

    init(_ bytes: [UInt8], _ type: String) {
        buffer = ByteBuffer(bytes: bytes)
        self.type = type
        tag = "\"" + Hexadecimal.text(SHA256.hash(data: bytes).prefix(12)) + "\""
    }

    func response(to request: Request) -> Response {
        let headers: HTTPFields = [.contentType: type, .eTag: tag, .cacheControl: "no-cache"]
        if request.headers[.ifNoneMatch] == tag { return Response(status: .notModified, headers: headers) }
        return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: buffer))
    }
}
