internal import Glibc
package import Hummingbird
internal import HummingbirdCore
package import Logging
internal import NIOCore
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
        self.host = host
        self.port = port
        self.connections = connections ?? ConnectionLimit.ofFiles
        self.log = log
    }

    /// Answers until it is shut down gracefully, or cancelled.
    ///
    /// - Parameters:
    ///   - services: run as long as it listens.
    ///   - listening: hears of the port, as soon as callers can connect.
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
                availableConnectionsDelegate: ConnectionLimit(connections, log: log)),
            services: services,
            onServerRunning: { channel in listening(channel.localAddress?.port ?? 0) }, logger: log)
        do {
            try await application.run()
        } catch let error as IOError {
            throw ReelFailure(
                .addressUnusable(address: "\(host):\(port)", said: String(cString: strerror(error.errnoCode))))
        }
    }

    /// Of a request's head.
    private static var limits: HTTP1Channel.Configuration.DecoderConfiguration {
        .init(maxHeaderFieldSize: 16 << 10, maxHeaderListSize: 32 << 10, maxHeaderFieldCount: 100)
    }
}
