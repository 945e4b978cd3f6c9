internal import HTTPTypes
package import NIOCore
package import NIOHTTPTypes

/// Ends connections whose other side holds them without taking part: one that sends no request, one that takes no bytes of an
/// answer, and one that goes on sending a body after its answer. Tells callers that wait for it to send their body (RFC 9110, 10.1.1).
package final class ConnectionGuard: ChannelDuplexHandler, RemovableChannelHandler {
    package typealias InboundIn = HTTPRequestPart
    package typealias InboundOut = HTTPRequestPart
    package typealias OutboundIn = HTTPResponsePart
    package typealias OutboundOut = HTTPResponsePart

    /// How long the head of a connection's first request may take. What comes after it has the server's idle timeout, so that
    /// proxies can keep connections.
    package static let head = TimeAmount.seconds(20)
    /// For how long a caller may take none of the bytes that wait for it.
    package static let stall = TimeAmount.seconds(60)
    /// For how long a body may go on after the answer to its request.
    package static let linger = TimeAmount.seconds(10)

    private var isReceiving = false
    private var silent: Scheduled<Void>?
    private var stalled: Scheduled<Void>?
    private var lingering: Scheduled<Void>?

    package init() {}

    package func handlerAdded(context: ChannelHandlerContext) { if context.channel.isActive { awaitHead(context) } }

    package func channelActive(context: ChannelHandlerContext) {
        awaitHead(context)
        context.fireChannelActive()
    }

    /// A head is passed on when all of it has come, however slowly that is.
    private func awaitHead(_ context: ChannelHandlerContext) {
        silent?.cancel()
        silent = closing(context, in: ConnectionGuard.head)
    }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let request):
            isReceiving = true
            silent?.cancel()
            if request.headerFields[.expect]?.lowercased() == "100-continue" {
                context.writeAndFlush(wrapOutboundOut(.head(HTTPResponse(status: .continue))), promise: nil)
            }
        case .body: break
        case .end:
            isReceiving = false
            lingering?.cancel()
        }
        context.fireChannelRead(data)
    }

    package func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if case .end = unwrapOutboundIn(data), isReceiving { lingering = closing(context, in: ConnectionGuard.linger) }
        context.write(data, promise: promise)
    }

    package func channelWritabilityChanged(context: ChannelHandlerContext) {
        stalled?.cancel()
        stalled = context.channel.isWritable ? nil : closing(context, in: ConnectionGuard.stall)
        context.fireChannelWritabilityChanged()
    }

    package func handlerRemoved(context: ChannelHandlerContext) {
        silent?.cancel()
        stalled?.cancel()
        lingering?.cancel()
    }

    private func closing(_ context: ChannelHandlerContext, in time: TimeAmount) -> Scheduled<Void> {
        let channel = context.channel
        return context.eventLoop.scheduleTask(in: time) { channel.close(promise: nil) }
    }
}
