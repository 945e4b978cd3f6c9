internal import Glibc
internal import NIOConcurrencyHelpers
internal import NIOCore
internal import NIOPosix
internal import ReelQueue

/// One end of a pair of sockets. What is written to it goes into a channel, and what the channel receives can be read from
/// it.
struct RelayedSocket: SecureSocket {
    let descriptor: CInt
    /// The other end. Nothing is read from it before `open`.
    private let inner: any Channel
    private let reason = NIOLockedValueBox<String?>(nil)

    var failure: String? { reason.withLockedValue { $0 } }

    /// - Parameter loop: the channel's, so that both ends need no lock between them.
    init(on loop: any EventLoop) throws {
        var ends: [CInt] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw IOError(errnoCode: errno, reason: "socketpair")
        }
        do {
            inner = try ClientBootstrap(group: loop).channelOption(.autoRead, value: false)
                .withConnectedSocket(ends[1]).wait()
        } catch {
            close(ends[0])
            throw error
        }
        descriptor = ends[0]
    }

    /// The last handler of the channel, which passes on what it receives.
    func relay() -> some ChannelHandler & Sendable { Relay(to: inner, reason) }

    /// Passes on what is written, from now on.
    func open(into channel: any Channel) throws {
        try inner.eventLoop.submit { [inner, reason] in
            try inner.pipeline.syncOperations.addHandler(Relay(to: channel, reason))
        }.wait()
        try inner.setOption(.autoRead, value: true).wait()
    }

    /// Ends both sides, if the descriptor has no owner yet.
    func discard() {
        inner.close(promise: nil)
        close(descriptor)
    }
}

/// Passes on what a channel receives, no faster than it is taken, and its end.
private final class Relay: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer
    private let other: any Channel
    private let reason: NIOLockedValueBox<String?>

    init(to other: any Channel, _ reason: NIOLockedValueBox<String?>) { (self.other, self.reason) = (other, reason) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) { other.write(unwrapInboundIn(data), promise: nil) }

    func channelReadComplete(context: ChannelHandlerContext) { other.flush() }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        other.setOption(.autoRead, value: context.channel.isWritable).whenFailure { _ in }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        reason.withLockedValue { $0 = $0 ?? TLSTransport.words(error) }
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) { other.close(promise: nil) }
}
