internal import Crypto
internal import Foundation
internal import HTTPTypes
internal import Hummingbird
package import ReelCore
internal import ReelJobs
internal import ReelQueue
internal import ReelStore
internal import Synchronization

/// Finds out who makes a request. Changes of the file of tokens take effect within a second.
final class Gate: Sendable {
    private let file: TokenFile?
    private let state = Mutex(State())
    private let wrong = Mutex(WrongTokens())

    private struct State {
        var entries: [TokenFile.Entry] = []
        /// When the file was last checked, and its state then.
        var looked: ContinuousClock.Instant?
        var seen: FileState?
    }

    private struct FileState: Equatable {
        var changed: Date?
        var size: Int?
        var number: UInt64?
    }

    static let cookie = "reel-token"

    /// - Parameter file: nil if every caller may do all.
    init(_ file: TokenFile?) throws(ReelFailure) {
        self.file = file
        guard let file else { return }
        let entries = try file.read()
        state.withLock { $0.entries = entries }
    }

    var isClosed: Bool { file != nil }

    /// Who makes a request. Throws a problem of status 429 if the address has sent too many wrong tokens, and of status
    /// 401 if this one is wrong.
    func caller(of request: Request, from address: String) throws -> Caller {
        guard isClosed else { return .anyone }
        guard let token = Gate.token(of: request) else { return .nobody }
        return try caller(token, from: address)
    }

    /// Who makes a request; `.nobody` if its token is unknown, which is not counted then.
    func callerIfKnown(of request: Request) -> Caller {
        guard isClosed else { return .anyone }
        return Gate.token(of: request).flatMap(bearer) ?? .nobody
    }

    private func bearer(of token: String) -> Caller? {
        refresh()
        let entry = state.withLock(\.entries).first { $0.matches(token) }
        return entry.map { Caller(name: $0.name, role: $0.role) }
    }

    /// The bearer of a token. Throws as `caller(of:from:)` does. A right token is taken however many wrong ones came
    /// from the address: many people may share it.
    func caller(_ token: String, from address: String) throws -> Caller {
        if let bearer = bearer(of: token) { return bearer }
        let wait = wrong.withLock { $0.note(from: address, at: .now) }
        if let wait {
            throw Problem(
                .tooManyRequests, "too-many-tokens", "Too many wrong tokens",
                detail:
                    "More than \(WrongTokens.most) wrong tokens came from \(address) within a minute, or from too many "
                    + "addresses.",
                retryAfter: Int(wait.components.seconds) + 1)
        }
        throw Problem(
            .unauthorized, "token-unknown", "The token is not known",
            detail: "This server does not have the token that was sent. Make one with reel-server token.")
    }

    private static func token(of request: Request) -> String? {
        if let header = request.headers[.authorization] {
            let parts = header.split(separator: " ", maxSplits: 1)
            let isBearer = parts.count == 2 && parts[0].lowercased() == "bearer"
            return isBearer ? parts[1].trimmingCharacters(in: .whitespaces) : ""
        }
        return request.cookies[cookie]?.value
    }

    private func refresh() {
        guard let file else { return }
        let now = ContinuousClock.now
        let isDue = state.withLock { state in
            guard now - (state.looked ?? now - .seconds(2)) >= .seconds(1) else { return false }
            state.looked = now
            return true
        }
        guard isDue else { return }
        let attributes = try? FileManager.default.attributesOfItem(atPath: file.path)
        let found = FileState(
            changed: attributes?[.modificationDate] as? Date, size: attributes?[.size] as? Int,
            number: attributes?[.systemFileNumber] as? UInt64)
        guard state.withLock({ $0.seen != found }) else { return }
        // Without a readable file no token is right.
        let entries = (try? file.read()) ?? []
        state.withLock { ($0.seen, $0.entries) = (found, entries) }
    }
}

/// The tokens of a server: a file with a line of JSON for each, which keeps a salted hash. A token is 256 random bits,
/// too many to try, so a fast hash is enough.
package struct TokenFile: Sendable {
    package let path: String

    /// The file at a path; it need not exist.
    package init(path: String) { self.path = path }

    struct Entry: Codable, Hashable, Sendable {
        var name: String
        var role: Role
        var salt: Data
        /// HMAC-SHA256 of the token, with the salt as its key, in Base64.
        var hash: Data

        /// Takes as long for a token that differs late as for one that differs early.
        func matches(_ token: String) -> Bool {
            HMAC<SHA256>.isValidAuthenticationCode(
                hash, authenticating: Data(token.utf8), using: SymmetricKey(data: salt))
        }
    }

    /// Adds a token, and makes the file if it is missing; only its owner can read it. Returns the token, which is kept
    /// nowhere.
    ///
    /// Throws `.tokenNameTaken` if the file has one of that name, `.tokenFileDamaged`, and `.secretFileUnusable`.
    package func add(_ name: String, _ role: Role) throws(ReelFailure) -> String {
        var entries = FileManager.default.fileExists(atPath: path) ? try read() : []
        guard !entries.contains(where: { $0.name == name }) else {
            throw ReelFailure(.tokenNameTaken(name: name, path: path))
        }
        let token = "reel_" + TokenFile.text(SymmetricKey(size: .bits256))
        let salt = SymmetricKey(size: .bits128)
        let hash = HMAC<SHA256>.authenticationCode(for: Data(token.utf8), using: salt)
        entries.append(Entry(name: name, role: role, salt: salt.withUnsafeBytes { Data($0) }, hash: Data(hash)))
        do {
            let lines = try entries.map { try CanonicalJSON.text(of: $0) + "\n" }
            try SecretFile.write(lines.joined(), to: path)
        } catch {
            throw .of(error)
        }
        return token
    }

    /// The tokens of the file. Throws `.tokenFileDamaged`, and as `SecretFile.read` does.
    func read() throws(ReelFailure) -> [Entry] {
        var entries: [Entry] = []
        for (number, line) in try SecretFile.read(path, of: .server).split(separator: "\n").enumerated() {
            guard let entry = try? JSONDecoder().decode(Entry.self, from: Data(line.utf8)) else {
                throw ReelFailure(.tokenFileDamaged(path: path, line: number + 1))
            }
            entries.append(entry)
        }
        return entries
    }

    /// Base64 for URLs and cookies.
    private static func text(_ key: SymmetricKey) -> String {
        key.withUnsafeBytes { Data($0) }.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
            .replacing("=", with: "")
    }
}

/// What the bearer of a token may do; each role may do what the ones before it may.
package enum Role: String, CaseIterable, Codable, Comparable, Sendable {
    case viewer
    /// Submits, uploads, cancels, retries, pauses, changes and downloads.
    case `operator`
    /// Removes jobs, drains workers, and reads the audit log.
    case admin

    package static func < (less: Role, more: Role) -> Bool { allCases.drop { $0 != less }.dropFirst().contains(more) }
}

struct Caller: Hashable, Sendable {
    /// The name of its token; nil if tokens are not used, or for nobody.
    var name: String?
    /// Nil for a caller without a token.
    var role: Role?

    /// A caller without a token, where tokens are used.
    static let nobody = Caller(name: nil, role: nil)
    /// Any caller of a server without tokens.
    static let anyone = Caller(name: nil, role: .admin)
}

/// Signing in and out with a browser. The session is the token itself, in a cookie that scripts cannot read: any server
/// with the same tokens knows it.
struct SessionRoutes {
    let server: Server
    let gate: Gate

    var routes: [Route] {
        [
            .get("session", nil) { _, context in try JSONAnswer.response(view(context.caller)) },
            .change(.post, "session", nil, "sign in", limit: .seconds(30), isNoted: false, signIn),
            .change(.delete, "session", nil, "sign out", limit: .seconds(30), isNoted: false) { _, _ in
                Response(status: .noContent, headers: [.setCookie: cookie("", seconds: 0, isSecure: false).description])
            },
        ]
    }

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
        let body = try await JSONBody.read(request, .few).place
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
