internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import ReelCore
internal import ReelJobs
internal import ReelQueue

/// Signing in and out with a browser. The session is the token itself, in a cookie that scripts cannot read: any server
/// with the same tokens knows it.
struct SessionRoutes {
    let server: Server
    let gate: Gate

    var routes: [Route] {
        [
            .get("session", nil) { _, context in try JSONAnswer.response(view(context.caller)) },
            Route(
                method: .post, path: "session", role: nil, action: "sign in", isNoted: false, limit: .seconds(30),
                handler: signIn),
            Route(
                method: .delete, path: "session", role: nil, action: "sign out", isNoted: false, limit: .seconds(30)
            ) { _, _ in
                Response(status: .noContent, headers: [.setCookie: cookie("", seconds: 0, isSecure: false).description])
            },
        ]
    }

    /// The caller, and what this server offers.
    private struct SessionView: Encodable {
        var name: String?
        var role: Role?
        var readOnly: Bool
        var signIn: Bool
        var version: String
        var sources: Bool
        var uploads: Bool
        var mostUploadBytes: Int64
    }

    private func view(_ caller: Caller) -> SessionView {
        SessionView(
            name: caller.name, role: caller.role, readOnly: server.settings.isReadOnly, signIn: gate.isClosed,
            version: Release.version, sources: server.settings.sources != nil, uploads: true,
            mostUploadBytes: server.settings.uploadQuota)
    }

    @Sendable private func signIn(_ request: Request, _ context: ServerContext) async throws -> Response {
        let body = try await JSONBody.read(request, .few)
        let token = try body.object(knows: ["token"]).required("token").text()
        let caller = try gate.caller(token, from: context.address)
        try await server.jobs.note(
            JournalAction(
                who: caller.name ?? "", role: caller.role?.rawValue ?? "", address: context.address, action: "sign in",
                status: HTTPResponse.Status.noContent.code))
        let isSecure = request.headers[.xForwardedProto]?.lowercased() == "https"
        return Response(
            status: .noContent,
            headers: [.setCookie: cookie(token, seconds: 30 * 24 * 3600, isSecure: isSecure).description])
    }

    private func cookie(_ token: String, seconds: Int, isSecure: Bool) -> Cookie {
        Cookie(
            name: Gate.cookie, value: token, maxAge: seconds,
            path: server.settings.basePath.isEmpty ? "/" : server.settings.basePath, secure: isSecure, httpOnly: true,
            sameSite: .strict)
    }
}

extension HTTPField.Name {
    fileprivate static let xForwardedProto = HTTPField.Name(known: "X-Forwarded-Proto")
}
