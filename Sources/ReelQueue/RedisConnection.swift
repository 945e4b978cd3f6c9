internal import CHiredis
internal import Foundation
package import ReelCore

/// Why a connection cannot be used any more. Redis may or may not have carried out the command that was under way.
struct ConnectionError: Error {
    var message: String
    /// `.transient` if another attempt may succeed.
    var cause = FailureCause.transient
}

/// One blocking connection to Redis. It is the only code that uses hiredis. After an error it must be discarded.
final class RedisConnection {
    private let native: UnsafeMutablePointer<redisContext>

    /// Connects, and sets how long an answer may take. Throws if no server accepts the connection in time.
    init(_ endpoint: RedisAddress.Endpoint, connectTimeout: Duration, answerTimeout: Duration) throws(ConnectionError) {
        RedisConnection.ignoreBrokenPipes
        let limit = timeval(connectTimeout)
        let context =
            switch endpoint {
            case .tcp(let host, let port): redisConnectWithTimeout(host, port, limit)
            case .unix(let path): redisConnectUnixWithTimeout(path, limit)
            }
        guard let context else { throw ConnectionError(message: "out of memory") }
        guard context.pointee.err == 0 else {
            let message = RedisConnection.errorText(context)
            redisFree(context)
            throw ConnectionError(message: message)
        }
        native = context
        redisSetTimeout(context, timeval(answerTimeout))
        if case .tcp = endpoint { redisEnableKeepAlive(context) }
    }

    deinit { redisFree(native) }

    /// Sends commands together, and waits for the answers, one of each.
    func send(_ commands: [[String]]) throws(ConnectionError) -> [Reply] {
        for command in commands { try append(command) }
        return try commands.map { _ throws(ConnectionError) in try answer() }
    }

    /// Puts a command into the buffer of those to be sent.
    private func append(_ command: [String]) throws(ConnectionError) {
        // hiredis wants an array of pointers. The arguments share one buffer, since one closure for each argument's
        // pointer would nest as deep as the command is long.
        var bytes: [CChar] = []
        var lengths: [Int] = []
        for argument in command {
            let start = bytes.count
            bytes.append(contentsOf: argument.utf8.lazy.map(CChar.init(bitPattern:)))
            lengths.append(bytes.count - start)
        }
        bytes.append(0)  // An empty buffer would have no address.
        let result = bytes.withUnsafeBufferPointer { buffer in
            var next = buffer.baseAddress
            var pointers = lengths.map { length in
                defer { next = next?.advanced(by: length) }
                return next
            }
            return redisAppendCommandArgv(native, Int32(lengths.count), &pointers, lengths)
        }
        guard result == REDIS_OK else { throw ConnectionError(message: RedisConnection.errorText(native)) }
    }

    /// Waits for the answer to the first command that has none, after it has sent what is to be sent.
    private func answer() throws(ConnectionError) -> Reply {
        var answer: UnsafeMutableRawPointer?
        guard redisGetReply(native, &answer) == REDIS_OK, let answer else {
            throw ConnectionError(message: RedisConnection.errorText(native))
        }
        defer { freeReplyObject(answer) }
        return Reply(answer.assumingMemoryBound(to: redisReply.self).pointee)
    }

    private static func errorText(_ context: UnsafeMutablePointer<redisContext>) -> String {
        if context.pointee.err == REDIS_ERR_IO, errno == EAGAIN { return "no answer in time" }
        return withUnsafeBytes(of: context.pointee.errstr) { text in
            String(decoding: text.prefix { $0 != 0 }, as: UTF8.self)
        }
    }

    /// Ignores SIGPIPE, once for the process: hiredis uses write(), and the signal would end the process when Redis has
    /// closed the connection.
    private static let ignoreBrokenPipes: Void = { _ = signal(SIGPIPE, SIG_IGN) }()
}

extension Reply {
    fileprivate init(_ native: redisReply) {
        switch native.type {
        case REDIS_REPLY_NIL: self = .none
        case REDIS_REPLY_INTEGER: self = .integer(Int(native.integer))
        case REDIS_REPLY_ERROR: self = .error(Reply.text(native))
        case REDIS_REPLY_ARRAY:
            let elements = UnsafeBufferPointer(start: native.element, count: native.elements)
            self = .array(elements.map { $0.map { Reply($0.pointee) } ?? .none })
        default: self = .string(Reply.text(native))
        }
    }

    private static func text(_ native: redisReply) -> String {
        UnsafeRawBufferPointer(start: native.str, count: native.len).withMemoryRebound(to: UInt8.self) {
            String(decoding: $0, as: UTF8.self)
        }
    }
}

extension timeval {
    fileprivate init(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        self.init(tv_sec: Int(seconds), tv_usec: Int(attoseconds / 1_000_000_000_000))
    }
}

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
