internal import Foundation
package import ReelCore

/// The address of a Redis:
///
/// - `redis://[user[:password]@]host[:port][/db]`, and `rediss://` for TLS;
/// - `redis+sentinel://[user[:password]@]host[:port],host[:port]…/MASTER[/db]`, the sentinels of a master, and
///   `rediss+sentinel://` for TLS to sentinels and servers;
/// - `unix:///path/to/socket[?db=N]`.
///
/// With TLS, `?ca=FILE&cert=FILE&key=FILE` names the files of ``TLSFiles``.
package struct RedisAddress: Sendable, CustomStringConvertible {
    enum Endpoint: Sendable {
        case tcp(HostPort)
        case unix(path: String)
        case sentinels(Sentinels)
    }

    /// What secures connections.
    struct Security: Sendable {
        let transport: any SecureTransport
        let files: TLSFiles
    }

    let endpoint: Endpoint
    let user: String?
    let password: String?
    let database: Int
    /// Nil without TLS.
    let security: Security?

    /// Reads an address.
    ///
    /// Throws `.redisAddressInvalid` for anything but the forms above, and for TLS without a transport.
    ///
    /// - Parameters:
    ///   - transport: makes connections with TLS; nil in programs that are built without it.
    ///   - files: what an address with TLS uses if it names none of its own.
    package init(
        _ url: String, transport: (any SecureTransport)? = nil, files: TLSFiles = TLSFiles()
    ) throws(ReelFailure) {
        let (written, others) = RedisAddress.splitHosts(url)
        guard let parts = URLComponents(string: written), let scheme = parts.scheme?.lowercased() else {
            throw RedisAddress.refusal(nil, .notURL)
        }
        password = parts.password
        // `redis://:secret@host` is the old form without a user.
        user = parts.user.flatMap { $0.isEmpty ? nil : $0 }
        guard scheme != "unix" else {
            (endpoint, database) = try RedisAddress.socket(parts)
            security = nil
            return
        }
        guard let kind = Scheme(rawValue: scheme) else { throw RedisAddress.refusal(parts, .scheme) }
        if kind.isSecure {
            guard let transport else { throw RedisAddress.refusal(parts, .tls) }
            security = Security(transport: transport, files: try files.replaced(by: parts))
        } else {
            guard parts.queryItems == nil else { throw RedisAddress.refusal(parts, .query) }
            security = nil
        }
        let steps = parts.path.split(separator: "/", omittingEmptySubsequences: true).map(String.init)
        let hosts = try ([parts] + others.map { URLComponents(string: "redis://" + $0) }).map {
            host throws(ReelFailure) in
            try RedisAddress.host(host, usualPort: kind.isSentinel ? 26379 : 6379, of: parts)
        }
        if kind.isSentinel {
            guard (1...2).contains(steps.count) else { throw RedisAddress.refusal(parts, .sentinels) }
            database = try RedisAddress.database(steps.count == 2 ? steps[1] : nil, parts)
            let login = RedisLogin(user: user, password: password)
            endpoint = .sentinels(Sentinels(of: steps[0], at: hosts, login, security))
        } else {
            guard hosts.count == 1, let host = hosts.first else { throw RedisAddress.refusal(parts, .sentinels) }
            database = try RedisAddress.database(parts.path.isEmpty ? nil : steps.joined(separator: "/"), parts)
            endpoint = .tcp(host)
        }
    }

    private enum Scheme: String {
        case redis, rediss
        case sentinel = "redis+sentinel"
        case secureSentinel = "rediss+sentinel"

        var isSecure: Bool { self == .rediss || self == .secureSentinel }
        var isSentinel: Bool { self == .sentinel || self == .secureSentinel }
    }

    /// The address without its password.
    package var description: String {
        let login = user.map { "\($0)@" } ?? ""
        let scheme = security == nil ? "redis" : "rediss"
        return switch endpoint {
        case .tcp(let host): "\(scheme)://\(login)\(host)" + (database == 0 ? "" : "/\(database)")
        case .sentinels(let sentinels):
            "\(scheme)+sentinel://\(login)\(sentinels)" + (database == 0 ? "" : "/\(database)")
        case .unix(let path): "unix://\(login)\(path)" + (database == 0 ? "" : "?db=\(database)")
        }
    }
}

extension RedisAddress {
    /// A URL has one host. Returns the URL with the first of several, and the others.
    private static func splitHosts(_ url: String) -> (url: String, others: [String]) {
        guard let start = url.range(of: "://")?.upperBound else { return (url, []) }
        let end = url[start...].firstIndex(of: "/") ?? url.endIndex
        let hosts = url[start..<end].lastIndex(of: "@").map { url.index(after: $0) } ?? start
        let all = url[hosts..<end].split(separator: ",", omittingEmptySubsequences: false)
        let single = String(url[..<hosts]) + String(all.first ?? "") + String(url[end...])
        return (single, all.dropFirst().map(String.init))
    }

    private static func host(
        _ parts: URLComponents?, usualPort: Int, of address: URLComponents
    ) throws(ReelFailure) -> HostPort {
        guard let parts, let host = parts.host, !host.isEmpty else { throw refusal(address, .host) }
        let port = parts.port ?? usualPort
        guard (1...65535).contains(port) else { throw refusal(address, .port) }
        // In a URL an IPv6 address stands in brackets, which the resolver does not accept.
        return HostPort(host: host.trimmingCharacters(in: CharacterSet(charactersIn: "[]")), port: port)
    }

    private static func socket(_ parts: URLComponents) throws(ReelFailure) -> (Endpoint, database: Int) {
        guard parts.host?.isEmpty ?? true, parts.path.hasPrefix("/"), parts.path.utf8.count > 1 else {
            throw refusal(parts, .path)
        }
        guard parts.path.utf8.count <= 107 else { throw refusal(parts, .pathLength) }
        let items = parts.queryItems ?? []
        guard items.allSatisfy({ $0.name == "db" }), items.count <= 1 else { throw refusal(parts, .query) }
        return (.unix(path: parts.path), try database(items.first.map { $0.value ?? "" }, parts))
    }

    private static func database(_ text: String?, _ parts: URLComponents) throws(ReelFailure) -> Int {
        guard let text, !text.isEmpty || parts.scheme?.lowercased() == "unix" else { return 0 }
        guard let number = Int(text), number >= 0 else { throw refusal(parts, .database) }
        return number
    }

    fileprivate static func refusal(_ parts: URLComponents?, _ fault: RedisAddressFault) -> ReelFailure {
        var shown = parts
        shown?.password = nil
        return ReelFailure(.redisAddressInvalid(address: shown?.string, fault: fault))
    }
}

/// A host and a port.
package struct HostPort: Hashable, Sendable, CustomStringConvertible {
    /// A name, or an address without brackets.
    package let host: String
    package let port: Int

    package init(host: String, port: Int) { (self.host, self.port) = (host, port) }

    package var description: String { "\(host.contains(":") ? "[\(host)]" : host):\(port)" }
}

/// Who logs in to a Redis.
struct RedisLogin: Sendable {
    let user: String?
    let password: String?

    /// The command that logs in; nil without a password.
    var command: [String]? { password.map { ["AUTH"] + [user].compactMap(\.self) + [$0] } }
}

/// Files in PEM form for connections with TLS.
package struct TLSFiles: Hashable, Sendable {
    /// The certificates of the authorities that are trusted; nil for the ones that this machine trusts.
    package var authorities: String?
    /// The certificate, and the ones between it and its authority, by which this program identifies itself.
    package var certificate: String?
    /// The certificate's private key.
    package var key: String?

    package init(authorities: String? = nil, certificate: String? = nil, key: String? = nil) {
        (self.authorities, self.certificate, self.key) = (authorities, certificate, key)
    }

    /// These files, except the ones that an address names.
    fileprivate func replaced(by parts: URLComponents) throws(ReelFailure) -> TLSFiles {
        var files = self
        var names: Set<String> = []
        for item in parts.queryItems ?? [] {
            guard let value = item.value, !value.isEmpty, names.insert(item.name).inserted else {
                throw RedisAddress.refusal(parts, .tlsFiles)
            }
            switch item.name {
            case "ca": files.authorities = value
            case "cert": files.certificate = value
            case "key": files.key = value
            default: throw RedisAddress.refusal(parts, .tlsFiles)
            }
        }
        guard (files.certificate == nil) == (files.key == nil) else { throw RedisAddress.refusal(parts, .tlsFiles) }
        return files
    }
}

/// Makes connections with TLS. Its implementation needs packages that not every build of reel has.
package protocol SecureTransport: Sendable {
    /// Connects to a host, shakes hands, and checks that its certificate is for it. Blocks the thread meanwhile.
    ///
    /// - Parameters:
    ///   - limit: how long the handshake may take.
    ///   - dial: connects to the host, and returns a socket that blocks, which stays the caller's. Called once more if the
    ///     host is refused.
    func secure(
        _ host: HostPort, by files: TLSFiles, within limit: Duration, dial: () throws(ConnectionError) -> CInt
    ) throws(ConnectionError) -> any SecureStream
}

/// A connection with TLS. One thread uses it, the one that has made it, and closes its socket after that.
package protocol SecureStream {
    /// Takes bytes that `flush` sends.
    func write(_ bytes: UnsafeRawBufferPointer)
    func flush() throws(ConnectionError)
    /// Waits for bytes of the host, and gives them to `take` in one or more pieces, until it returns false. Returns what
    /// `take` returned last.
    func read(_ take: (UnsafeRawBufferPointer) -> Bool) throws(ConnectionError) -> Bool
}
