internal import Glibc
internal import NIOCore
internal import NIOEmbedded
internal import NIOSSL
internal import NIOTLS
internal import ReelQueue

/// TLS over a connected socket that blocks. The handlers of NIOSSL run on the caller's thread, in a channel without an event
/// loop of its own: between two threads, each call of the board would take 0.1 ms more.
final class TLSStream: SecureStream {
    private let descriptor: CInt
    private let channel = EmbeddedChannel()
    private let handshake = Handshake()

    /// - Parameter handler: makes the handler for a host's name; nil for an address, which is compared as such.
    init(_ descriptor: CInt, to host: HostPort, _ handler: (String?) throws -> NIOSSLClientHandler) throws {
        self.descriptor = descriptor
        let isAddress = (try? SocketAddress(ipAddress: host.host, port: host.port)) != nil
        let handlers = [try handler(isAddress ? nil : host.host), handshake] as [any ChannelHandler]
        try channel.pipeline.syncOperations.addHandlers(handlers)
        // It connects nothing, but tells the handlers that it has.
        let peer = try TLSStream.peer(of: descriptor)
        channel.connect(to: peer, promise: nil)
        channel.remoteAddress = peer
    }

    private static func peer(of descriptor: CInt) throws -> SocketAddress {
        var (address, size) = (sockaddr_storage(), socklen_t(MemoryLayout<sockaddr_storage>.size))
        let code = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(descriptor, $0, &size) }
        }
        guard code == 0 else { throw IOError(errnoCode: errno, reason: "getpeername") }
        return withUnsafeBytes(of: address) { bytes in
            CInt(address.ss_family) == AF_INET6
                ? SocketAddress(bytes.load(as: sockaddr_in6.self), host: "")
                : SocketAddress(bytes.load(as: sockaddr_in.self), host: "")
        }
    }

    /// Shakes hands. Throws errors of NIO, NIOSSL and the system.
    func shakeHands(within limit: Duration) throws {
        let end = ContinuousClock.now + limit
        while !handshake.isDone {
            guard ContinuousClock.now < end else { throw ChannelError.connectTimeout(TimeAmount(limit)) }
            try send()
            do { try receive() } catch let error as IOError where error.errnoCode == EAGAIN {
                throw ChannelError.connectTimeout(TimeAmount(limit))
            }
        }
    }

    func write(_ bytes: UnsafeRawBufferPointer) { channel.write(ByteBuffer(bytes: bytes), promise: nil) }

    func flush() throws(ConnectionError) {
        do {
            channel.flush()
            try channel.throwIfErrorCaught()
            try send()
        } catch {
            throw ConnectionError(message: TLSTransport.words(error))
        }
    }

    func read(_ take: (UnsafeRawBufferPointer) -> Bool) throws(ConnectionError) -> Bool {
        var piece: ByteBuffer?
        do {
            repeat {
                try receive()
                try send()
                piece = try channel.readInbound()
            } while piece == nil
            while let bytes = piece {
                guard bytes.withUnsafeReadableBytes(take) else { return false }
                piece = try channel.readInbound()
            }
            return true
        } catch {
            throw ConnectionError(message: TLSTransport.words(error))
        }
    }

    /// Sends what the handlers have written.
    private func send() throws {
        while let piece = try channel.readOutbound(as: ByteBuffer.self) {
            try piece.withUnsafeReadableBytes { bytes in
                var rest = bytes[...]
                while !rest.isEmpty {
                    let count = Glibc.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                    if count < 0, errno == EINTR { continue }
                    guard count > 0 else { throw IOError(errnoCode: errno, reason: "write") }
                    rest = rest.dropFirst(count)
                }
            }
        }
    }

    /// Waits for bytes, and gives them to the handlers.
    private func receive() throws {
        var buffer = channel.allocator.buffer(capacity: 1 << 15)
        let count = try buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: 1 << 15) { room in
            var count = 0
            repeat { count = Glibc.read(descriptor, room.baseAddress, room.count) } while count < 0 && errno == EINTR
            guard count >= 0 else { throw IOError(errnoCode: errno, reason: "read") }
            return count
        }
        guard count > 0 else { throw ChannelError.eof }
        do { try channel.writeInbound(buffer) } catch {
            // The alert that tells the host.
            try? send()
            throw error
        }
    }
}

/// Notes the end of the handshake.
private final class Handshake: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    private(set) var isDone = false

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .handshakeCompleted? = event as? TLSUserEvent { isDone = true }
        context.fireUserInboundEventTriggered(event)
    }
}
