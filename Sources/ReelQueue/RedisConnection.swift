internal import CHiredis
internal import Foundation
package import ReelCore

/// Why a connection cannot be used any more. Redis may or may not have carried out the command that was under way.
package struct ConnectionError: Error {
    package var message: String
    /// `.transient` if another attempt may succeed.
    package var cause: FailureCause

    package init(message: String, cause: FailureCause = .transient) { (self.message, self.cause) = (message, cause) }
}

/// One blocking connection to Redis, for one thread. It is the only code that uses hiredis. After an error it must be
/// discarded.
final class RedisConnection {
    private let native: UnsafeMutablePointer<redisContext>
    /// What encrypts the bytes; nil without TLS.
    private let secured: (any SecureStream)?
    /// Called before the connection's descriptor is closed.
    var closing: (() -> Void)?

    /// Connects, and sets how long an answer may take. Throws if no server accepts the connection in time.
    convenience init(
        _ host: HostPort, _ security: RedisAddress.Security?, connectTimeout: Duration, answerTimeout: Duration
    ) throws(ConnectionError) {
        guard let security else {
            self.init(try RedisConnection.dial(host, connectTimeout), nil, answerTimeout)
            return
        }
        var dialled: [UnsafeMutablePointer<redisContext>] = []
        do throws(ConnectionError) {
            let secured = try security.transport.secure(host, by: security.files, within: connectTimeout) {
                () throws(ConnectionError) in
                dialled.append(try RedisConnection.dial(host, connectTimeout))
                return dialled[dialled.count - 1].pointee.fd
            }
            // It was dialled once if nothing was thrown.
            self.init(dialled[0], secured, answerTimeout)
        } catch {
            dialled.forEach(redisFree)
            throw error
        }
    }

    /// Connects to a socket of this machine.
    convenience init(
        socket path: String, connectTimeout: Duration, answerTimeout: Duration
    ) throws(ConnectionError) {
        let context = redisConnectUnixWithTimeout(path, timeval(connectTimeout))
        self.init(try RedisConnection.opened(context), nil, answerTimeout)
    }

    private init(
        _ native: UnsafeMutablePointer<redisContext>, _ secured: (any SecureStream)?, _ answerTimeout: Duration
    ) {
        (self.native, self.secured) = (native, secured)
        redisSetTimeout(native, timeval(answerTimeout))
    }

    /// Connects without TLS. Reading and writing take no longer than connecting may.
    private static func dial(
        _ host: HostPort, _ limit: Duration
    ) throws(ConnectionError) -> UnsafeMutablePointer<redisContext> {
        let native = try opened(redisConnectWithTimeout(host.host, Int32(host.port), timeval(limit)))
        redisEnableKeepAlive(native)
        redisSetTimeout(native, timeval(limit))
        return native
    }

    /// The context, if it is connected.
    private static func opened(
        _ context: UnsafeMutablePointer<redisContext>?
    ) throws(ConnectionError) -> UnsafeMutablePointer<redisContext> {
        RedisConnection.ignoreBrokenPipes
        guard let context else { throw ConnectionError(message: "out of memory") }
        guard context.pointee.err == 0 else {
            let message = RedisConnection.errorText(context)
            redisFree(context)
            throw ConnectionError(message: message)
        }
        return context
    }

    deinit {
        closing?()
        redisFree(native)
    }

    /// The socket. Shutting it down from another thread ends a call that waits.
    var descriptor: CInt { native.pointee.fd }

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
        var formatted: UnsafeMutablePointer<CChar>?
        let count = bytes.withUnsafeBufferPointer { buffer in
            var next = buffer.baseAddress
            var pointers = lengths.map { length in
                defer { next = next?.advanced(by: length) }
                return next
            }
            return Int(redisFormatCommandArgv(&formatted, Int32(lengths.count), &pointers, lengths))
        }
        guard count > 0, let formatted else { throw ConnectionError(message: "out of memory") }
        defer { redisFreeCommand(formatted) }
        if let secured {
            secured.write(UnsafeRawBufferPointer(start: formatted, count: count))
        } else {
            guard redisAppendFormattedCommand(native, formatted, count) == REDIS_OK else { throw failure }
        }
    }

    /// Sends what is to be sent.
    private func flush() throws(ConnectionError) {
        if let secured { return try secured.flush() }
        var isSent: CInt = 0
        while isSent == 0 { guard redisBufferWrite(native, &isSent) == REDIS_OK else { throw failure } }
    }

    /// Waits for bytes of the server.
    private func receive() throws(ConnectionError) {
        guard let secured else {
            guard redisBufferRead(native) == REDIS_OK else { throw failure }
            return
        }
        let isTaken = try secured.read { bytes in
            redisReaderFeed(native.pointee.reader, bytes.baseAddress, bytes.count) == REDIS_OK
        }
        guard isTaken else { throw ConnectionError(message: "out of memory") }
    }

    /// Waits for the answer to the first command that has none, after it has sent what is to be sent.
    private func answer() throws(ConnectionError) -> Reply {
        while true {
            if let reply = try received() { return reply }
            try flush()
            try receive()
        }
    }

    /// Sends a command whose answer is read with `message`.
    func ask(_ command: [String]) throws(ConnectionError) {
        try append(command)
        try flush()
    }

    /// Waits for a message that no command asked for. Nil if none comes in time; the connection can be used further.
    func message(within limit: Duration) throws(ConnectionError) -> Reply? {
        if let message = try received() { return message }
        var awaited = pollfd(fd: native.pointee.fd, events: Int16(POLLIN), revents: 0)
        guard poll(&awaited, 1, Int32(clamping: limit.milliseconds)) > 0 else { return nil }
        try receive()
        return try received()
    }

    /// The first reply or message that has arrived as a whole.
    private func received() throws(ConnectionError) -> Reply? {
        var reply: UnsafeMutableRawPointer?
        guard redisGetReplyFromReader(native, &reply) == REDIS_OK else { throw failure }
        guard let reply else { return nil }
        defer { freeReplyObject(reply) }
        return Reply(reply.assumingMemoryBound(to: redisReply.self).pointee)
    }

    /// Why the connection does not work any more.
    private var failure: ConnectionError { ConnectionError(message: RedisConnection.errorText(native)) }

    private static func errorText(_ context: UnsafeMutablePointer<redisContext>) -> String {
        if context.pointee.err == REDIS_ERR_IO, errno == EAGAIN { return "no answer in time" }
        return withUnsafeBytes(of: context.pointee.errstr) { text in
            String(decoding: text.prefix { $0 != 0 }, as: UTF8.self)
        }
    }

    /// Ignores SIGPIPE, once for the process: connections use write(), and the signal would end the process when Redis has
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
