internal import CHiredis
internal import Glibc
internal import ReelCore

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
