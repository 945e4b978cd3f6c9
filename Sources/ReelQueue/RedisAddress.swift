internal import Foundation
package import ReelCore

/// The address of a Redis: `redis://[user[:password]@]host[:port][/db]` or `unix:///path/to/socket[?db=N]`.
package struct RedisAddress: Sendable, Hashable, CustomStringConvertible {
    enum Endpoint: Sendable, Hashable {
        case tcp(host: String, port: Int32)
        case unix(path: String)
    }

    let endpoint: Endpoint
    let user: String?
    let password: String?
    let database: Int

    /// Reads an address. Throws `.redisAddressInvalid` for anything but the two forms; TLS (`rediss://`) is not
    /// supported.
    package init(_ url: String) throws(ReelFailure) {
        guard let parts = URLComponents(string: url), let scheme = parts.scheme?.lowercased() else {
            throw RedisAddress.refusal(parts: nil, .notURL)
        }
        switch scheme {
        case "redis":
            guard let host = parts.host, !host.isEmpty else { throw RedisAddress.refusal(parts: parts, .host) }
            let port = parts.port ?? 6379
            guard (1...65535).contains(port) else { throw RedisAddress.refusal(parts: parts, .port) }
            guard parts.queryItems == nil else { throw RedisAddress.refusal(parts: parts, .query) }
            let path = parts.path.drop { $0 == "/" }
            // In a URL an IPv6 address stands in brackets, which the resolver does not accept.
            endpoint = .tcp(host: host.trimmingCharacters(in: CharacterSet(charactersIn: "[]")), port: Int32(port))
            database = try RedisAddress.database(path.isEmpty ? nil : String(path), parts: parts)
        case "unix":
            guard parts.host?.isEmpty ?? true, parts.path.hasPrefix("/"), parts.path.utf8.count > 1 else {
                throw RedisAddress.refusal(parts: parts, .path)
            }
            guard parts.path.utf8.count <= 107 else { throw RedisAddress.refusal(parts: parts, .pathLength) }
            endpoint = .unix(path: parts.path)
            let items = parts.queryItems ?? []
            guard items.allSatisfy({ $0.name == "db" }), items.count <= 1 else {
                throw RedisAddress.refusal(parts: parts, .query)
            }
            database = try RedisAddress.database(items.first.map { $0.value ?? "" }, parts: parts)
        case "rediss":
            throw RedisAddress.refusal(parts: parts, .tls)
        default:
            throw RedisAddress.refusal(parts: parts, .scheme)
        }
        password = parts.password
        // `redis://:secret@host` is the old form without a user.
        user = parts.user.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The address without its password.
    package var description: String {
        let login = user.map { "\($0)@" } ?? ""
        return switch endpoint {
        case .tcp(let host, let port):
            "redis://\(login)\(host.contains(":") ? "[\(host)]" : host):\(port)" + (database == 0 ? "" : "/\(database)")
        case .unix(let path): "unix://\(login)\(path)" + (database == 0 ? "" : "?db=\(database)")
        }
    }

    private static func database(_ text: String?, parts: URLComponents) throws(ReelFailure) -> Int {
        guard let text else { return 0 }
        guard let number = Int(text), number >= 0 else { throw refusal(parts: parts, .database) }
        return number
    }

    private static func refusal(parts: URLComponents?, _ fault: RedisAddressFault) -> ReelFailure {
        var shown = parts
        shown?.password = nil
        return ReelFailure(.redisAddressInvalid(address: shown?.string, fault: fault))
    }
}
