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

    private static let modules: [(String, [UInt8])] = [
        ("api.js", PackageResources.api_js),
        ("audit.js", PackageResources.audit_js),
        ("connection.js", PackageResources.connection_js),
        ("elements.js", PackageResources.elements_js),
        ("films.js", PackageResources.films_js),
        ("job.js", PackageResources.job_js),
        ("jobFacts.js", PackageResources.jobFacts_js),
        ("jobRow.js", PackageResources.jobRow_js),
        ("jobSections.js", PackageResources.jobSections_js),
        ("jobs.js", PackageResources.jobs_js),
        ("main.js", PackageResources.main_js),
        ("navigation.js", PackageResources.navigation_js),
        ("page.js", PackageResources.page_js),
        ("parts.js", PackageResources.parts_js),
        ("plan.js", PackageResources.plan_js),
        ("player.js", PackageResources.player_js),
        ("queue.js", PackageResources.queue_js),
        ("rateChart.js", PackageResources.rateChart_js),
        ("session.js", PackageResources.session_js),
        ("signIn.js", PackageResources.signIn_js),
        ("storage.js", PackageResources.storage_js),
        ("strip.js", PackageResources.strip_js),
        ("submit.js", PackageResources.submit_js),
        ("time.js", PackageResources.time_js),
        ("upload.js", PackageResources.upload_js),
        ("words.js", PackageResources.words_js),
        ("workers.js", PackageResources.workers_js),
    ]
    private static let style = ("reel.css", PackageResources.reel_css)

    /// A hash of the modules and the style, with their names.
    private static let version: String = {
        var hash = SHA256()
        for (name, bytes) in modules + [style] {
            hash.update(data: Data("\(name) \(bytes.count) ".utf8))
            hash.update(data: bytes)
        }
        return Hexadecimal.text(hash.finalize().prefix(12))
    }()

    var routes: [Route] {
        let shell = page(PackageResources.index_html, "text/html; charset=utf-8")
        let places = ["", "jobs/{id}", "submit", "workers", "queue", "audit", "sign-in"]
        let folder = "pages/\(PageRoutes.version)"
        let (name, style) = PageRoutes.style
        let files =
            [
                ("\(folder)/\(name)", Page(style, "text/css; charset=utf-8", lasts: true)),
                ("icon.svg", Page(PackageResources.icon_svg, "image/svg+xml")),
                ("api/v1/openapi.json", page(PackageResources.openapi_json, "application/json")),
            ]
            + PageRoutes.modules.map { name, bytes in
                ("\(folder)/\(name)", Page(bytes, "text/javascript; charset=utf-8", lasts: true))
            }
        return places.map { place in .get(place, nil) { request, _ in shell.response(to: request) } }
            + files.map { name, page in .get(name, nil) { request, _ in page.response(to: request) } }
    }

    /// A text that says where the server's places begin, and which version of the modules is this server's.
    private func page(_ bytes: [UInt8], _ type: String) -> Page {
        let text = String(decoding: bytes, as: UTF8.self)
            .replacing("{{base}}", with: basePath + "/").replacing("{{preloads}}", with: PageRoutes.preloads)
            .replacing("{{version}}", with: PageRoutes.version)
        return Page(Array(text.utf8), type)
    }

    /// Lets a browser ask for all modules at once. Without this it learns of some modules only from others.
    private static var preloads: String {
        modules.map { name, _ in #"<link rel="modulepreload" href="pages/{{version}}/\#(name)">"# }
            .joined(separator: "\n")
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
