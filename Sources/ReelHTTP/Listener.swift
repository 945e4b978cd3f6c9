internal import Glibc
internal import HTTPTypes
package import Hummingbird
internal import HummingbirdCore
package import Logging
package import NIOCore
package import NIOHTTPTypes
internal import NIOPosix
internal import ReelCore
package import ServiceLifecycle

/// Answers HTTP at an address, with the limits that all of reel's servers have for connections and heads of requests.
package struct Listener: Sendable {
    private let host: String
    private let port: Int
    private let connections: Int
    private let log: Logger

    /// - Parameters:
    ///   - host: a name or an address of this machine.
    ///   - port: 0 for any that is free.
    ///   - connections: the most that it holds; nil for as many as the limit of open files allows.
    package init(host: String, port: Int, connections: Int? = nil, log: Logger) {
        (self.host, self.port, self.log) = (host, port, log)
        self.connections = connections ?? ConnectionLimit.ofFiles
    }

    /// Answers until it is shut down gracefully, or cancelled.
    ///
    /// - Parameters:
    ///   - services: run as long as it listens.
    ///   - listening: gets the port, as soon as callers can connect.
    ///
    /// Throws `.addressUnusable` if the address cannot be listened at.
    package func serve<Context: RequestContext>(
        _ router: Router<Context>, services: [any Service] = [], listening: @escaping @Sendable (Int) -> Void
    ) async throws where Context.Source == ApplicationRequestContextSource {
        let application = Application(
            router: router,
            server: .http1(
                configuration: .init(
                    additionalChannelHandlers: [ConnectionGuard()], idleTimeout: .seconds(120),
                    httpDecoderConfiguration: Listener.limits)),
            configuration: ApplicationConfiguration(
                address: .hostname(host, port: port),
                availableConnectionsDelegate: ConnectionLimit(connections, log: log)), services: services,
            onServerRunning: { channel in listening(channel.localAddress?.port ?? 0) }, logger: log)
        do {
            try await application.run()
        } catch let error as IOError {
            throw ReelFailure(
                .addressUnusable(address: "\(host):\(port)", said: String(cString: strerror(error.errnoCode))))
        }
    }

    /// The limits of a request's head.
    private static var limits: HTTP1Channel.Configuration.DecoderConfiguration {
        .init(maxHeaderFieldSize: 16 << 10, maxHeaderListSize: 32 << 10, maxHeaderFieldCount: 100)
    }
}

/// The most connections that a program holds. Further callers wait in the system's queue until one ends. Without this
/// limit, once all files are open, the system would refuse each caller again and again, and the program would ask for
/// the next one without a pause.
struct ConnectionLimit: AvailableConnectionsDelegate {
    private let most: Int
    private let log: Logger
    private var open = 0

    init(_ most: Int, log: Logger) { (self.most, self.log) = (most, log) }

    /// As many as the limit of this process for open files allows, less a reserve for its own files.
    static var ofFiles: Int {
        var limit = rlimit()
        let isKnown = getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0
        let files = isKnown ? Int(clamping: limit.rlim_cur) : 1024
        return max(files - min(256, files / 4), 1)
    }

    mutating func connectionOpened() {
        open += 1
        guard open == most else { return }
        log.warning("holds \(most) connections, the most that it may; further callers wait")
    }

    mutating func connectionClosed() { open -= 1 }

    func isAcceptingNewConnections() -> Bool { open < most }
}

/// Ends the connections of callers that send no request, take no bytes of an answer, or go on sending a body after its
/// answer. Tells callers that wait for consent to send their body (RFC 9110, 10.1.1).
package final class ConnectionGuard: ChannelDuplexHandler, RemovableChannelHandler {
    package typealias InboundIn = HTTPRequestPart
    package typealias InboundOut = HTTPRequestPart
    package typealias OutboundIn = HTTPResponsePart
    package typealias OutboundOut = HTTPResponsePart

    /// How long the head of a connection's first request may take. After it the server's idle timeout applies, so that
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

    package func handlerAdded(context: ChannelHandlerContext) {
        // How many bytes of an answer the system keeps for a caller who does not take them: as on a connection within
        // this machine, where it takes megabytes otherwise. Sockets that have no such option go without.
        let unsent = ChannelOptions.Types.SocketOption(level: .tcp, name: .init(rawValue: TCP_NOTSENT_LOWAT))
        context.channel.setOption(unsent, value: 128 << 10).whenFailure { _ in }
        if context.channel.isActive { awaitHead(context) }
    }

    package func channelActive(context: ChannelHandlerContext) {
        awaitHead(context)
        context.fireChannelActive()
    }

    /// NIO passes a head on when it is complete, however slowly it came.
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
