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

/// One blocking connection to Redis. It is the only code that uses hiredis. After an error it must be discarded.
final class RedisConnection {
    private let native: UnsafeMutablePointer<redisContext>
    /// What carries the bytes with TLS.
    private let socket: (any SecureSocket)?
    /// Called before the connection's descriptor is closed.
    var closing: (() -> Void)?

    /// Connects, and sets how long an answer may take. Throws if no server accepts the connection in time.
    convenience init(
        _ host: HostPort, _ security: RedisAddress.Security?, connectTimeout: Duration, answerTimeout: Duration
    ) throws(ConnectionError) {
        if let security {
            let socket = try security.transport.connect(to: host, by: security.files, within: connectTimeout)
            try self.init(redisConnectFd(socket.descriptor), socket, answerTimeout)
        } else {
            let context = redisConnectWithTimeout(host.host, Int32(host.port), timeval(connectTimeout))
            try self.init(context, nil, answerTimeout)
            redisEnableKeepAlive(native)
        }
    }

    /// Connects to a socket of this machine.
    convenience init(
        socket path: String, connectTimeout: Duration, answerTimeout: Duration
    ) throws(ConnectionError) {
        try self.init(redisConnectUnixWithTimeout(path, timeval(connectTimeout)), nil, answerTimeout)
    }

    private init(
        _ context: UnsafeMutablePointer<redisContext>?, _ socket: (any SecureSocket)?, _ answerTimeout: Duration
    ) throws(ConnectionError) {
        RedisConnection.ignoreBrokenPipes
        guard let context else {
            if let socket { close(socket.descriptor) }
            throw ConnectionError(message: "out of memory")
        }
        guard context.pointee.err == 0 else {
            let message = RedisConnection.errorText(context)
            redisFree(context)
            throw ConnectionError(message: message)
        }
        // hiredis before 1.0 does not say so of a descriptor that it is given.
        context.pointee.flags |= REDIS_BLOCK
        (native, self.socket) = (context, socket)
        redisSetTimeout(context, timeval(answerTimeout))
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
        let result = bytes.withUnsafeBufferPointer { buffer in
            var next = buffer.baseAddress
            var pointers = lengths.map { length in
                defer { next = next?.advanced(by: length) }
                return next
            }
            return redisAppendCommandArgv(native, Int32(lengths.count), &pointers, lengths)
        }
        guard result == REDIS_OK else { throw failure }
    }

    /// Waits for the answer to the first command that has none, after it has sent what is to be sent.
    private func answer() throws(ConnectionError) -> Reply {
        var answer: UnsafeMutableRawPointer?
        guard redisGetReply(native, &answer) == REDIS_OK, let answer else { throw failure }
        defer { freeReplyObject(answer) }
        return Reply(answer.assumingMemoryBound(to: redisReply.self).pointee)
    }

    /// Sends a command whose answer is read with `message`.
    func ask(_ command: [String]) throws(ConnectionError) {
        try append(command)
        var isSent: CInt = 0
        while isSent == 0 { guard redisBufferWrite(native, &isSent) == REDIS_OK else { throw failure } }
    }

    /// Waits for a message that no command asked for. Nil if none comes in time; the connection can be used further.
    func message(within limit: Duration) throws(ConnectionError) -> Reply? {
        if let message = try bufferedMessage() { return message }
        var awaited = pollfd(fd: native.pointee.fd, events: Int16(POLLIN), revents: 0)
        guard poll(&awaited, 1, Int32(clamping: limit.milliseconds)) > 0 else { return nil }
        guard redisBufferRead(native) == REDIS_OK else { throw failure }
        return try bufferedMessage()
    }

    private func bufferedMessage() throws(ConnectionError) -> Reply? {
        var message: UnsafeMutableRawPointer?
        guard redisGetReplyFromReader(native, &message) == REDIS_OK else { throw failure }
        guard let message else { return nil }
        defer { freeReplyObject(message) }
        return Reply(message.assumingMemoryBound(to: redisReply.self).pointee)
    }

    /// Why the connection does not work any more.
    private var failure: ConnectionError {
        ConnectionError(message: socket?.failure ?? RedisConnection.errorText(native))
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
