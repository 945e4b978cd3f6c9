internal import Foundation
internal import NIOConcurrencyHelpers
internal import NIOCore
internal import NIOPosix
internal import NIOSSL
internal import NIOTLS
internal import ReelCore
package import ReelQueue

/// Connections with TLS 1.2 or later. The bytes of each go through a pair of sockets, so that a library without TLS can
/// use it: hiredis of Debian 12 has none.
package struct TLSTransport: SecureTransport {
    package init() {}

    package func connect(
        to host: HostPort, by files: TLSFiles, within limit: Duration
    ) throws(ConnectionError) -> any SecureSocket {
        let context = try context(files)
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        do {
            let socket = try RelayedSocket(on: loop)
            do {
                let channel = try open(host, on: loop, within: limit) { name in
                    [try NIOSSLClientHandler(context: context, serverHostname: name), socket.relay()]
                }
                try socket.open(into: channel)
            } catch {
                socket.discard()
                // An alert of the server may close the channel between two steps.
                if error is ChannelError, let said = socket.failure { throw ConnectionError(message: said) }
                throw error
            }
            return socket
        } catch let error as ConnectionError {
            throw error
        } catch let error as NIOSSLExtraError where error == .failedToValidateHostname {
            throw ConnectionError(message: "its certificate is not for \(host.host)", cause: .permanent)
        } catch {
            guard "\(error)".contains("CERTIFICATE_VERIFY_FAILED") else {
                throw ConnectionError(message: TLSTransport.words(error))
            }
            // BoringSSL does not say what is wrong with a certificate, so another connection fetches it for a look.
            let certificate = certificate(of: host, context, on: loop, within: limit)
            throw ConnectionError(message: TLSTransport.words(refused: certificate, files), cause: .permanent)
        }
    }

    private func context(_ files: TLSFiles) throws(ConnectionError) -> NIOSSLContext {
        var settings = TLSConfiguration.makeClientConfiguration()
        settings.minimumTLSVersion = .tlsv12
        if let authorities = files.authorities { settings.trustRoots = .file(authorities) }
        var file = files.certificate
        do {
            if let certificate = files.certificate, let key = files.key {
                settings.certificateChain = try NIOSSLCertificate.fromPEMFile(certificate).map { .certificate($0) }
                file = key
                settings.privateKey = .privateKey(try NIOSSLPrivateKey(file: key, format: .pem))
            }
            file = files.authorities
            return try NIOSSLContext(configuration: settings)
        } catch {
            let what = file == files.key ? "key" : "certificate"
            throw ConnectionError(
                message:
                    "\(file ?? "the list of authorities of this machine") holds no \(what) in PEM form, or cannot be read",
                cause: .permanent)
        }
    }

    /// Connects and shakes hands.
    ///
    /// - Parameter handlers: makes the channel's handlers for a host's name; nil for an address, which is compared as such.
    private func open(
        _ host: HostPort, on loop: any EventLoop, within limit: Duration,
        _ handlers: @escaping @Sendable (String?) throws -> [any ChannelHandler]
    ) throws -> any Channel {
        let name = (try? SocketAddress(ipAddress: host.host, port: 0)) == nil ? host.host : nil
        let handshake = loop.makePromise(of: Void.self)
        let channel = ClientBootstrap(group: loop)
            .connectTimeout(TimeAmount(limit))
            .channelOption(.socketOption(.so_keepalive), value: 1)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    var all = try handlers(name)
                    all.insert(HandshakeHandler(handshake), at: 1)
                    try channel.pipeline.syncOperations.addHandlers(all)
                }
            }
            .connect(host: host.host, port: host.port)
        channel.whenFailure { handshake.fail($0) }
        let alarm = loop.scheduleTask(in: TimeAmount(limit + limit)) {
            handshake.fail(ChannelError.connectTimeout(.zero))
        }
        defer { alarm.cancel() }
        do {
            try handshake.futureResult.wait()
            return try channel.wait()
        } catch {
            channel.whenSuccess { $0.close(promise: nil) }
            throw error
        }
    }

    /// The certificate by which a host identifies itself; nil if it shows none.
    private func certificate(
        of host: HostPort, _ context: NIOSSLContext, on loop: any EventLoop, within limit: Duration
    ) -> NIOSSLCertificate? {
        let found = NIOLockedValueBox<NIOSSLCertificate?>(nil)
        _ = try? open(host, on: loop, within: limit) { name in
            let look = try NIOSSLClientHandler(context: context, serverHostname: name) {
                (certificates: [NIOSSLCertificate], verdict: EventLoopPromise<NIOSSLVerificationResult>) in
                found.withLockedValue { $0 = certificates.first }
                verdict.succeed(NIOSSLVerificationResult.failed)
            }
            return [look]
        }
        return found.withLockedValue { $0 }
    }

    /// Why a certificate that is not trusted is not.
    private static func words(refused certificate: NIOSSLCertificate?, _ files: TLSFiles) -> String {
        let now = Date().timeIntervalSince1970
        if let end = certificate?.notValidAfter, Double(end) < now {
            return "its certificate ran out on \(day(end)); renew it"
        }
        if let start = certificate?.notValidBefore, Double(start) > now {
            return "its certificate is not valid before \(day(start)); compare the clocks"
        }
        return """
            its certificate is not of an authority that \(files.authorities ?? "this machine") names; name the \
            authority's certificate with ?ca=FILE
            """
    }

    private static func day(_ time: Int) -> String {
        Date(timeIntervalSince1970: Double(time)).formatted(.iso8601.year().month().day())
    }

    /// What an error of the network or of TLS means.
    static func words(_ error: any Error) -> String {
        switch error {
        case let error as NIOConnectionError:
            return error.connectionErrors.first.map { words($0.error) } ?? "the name \(error.host) has no address"
        case let error as IOError: return String(cString: strerror(error.errnoCode))
        case ChannelError.connectTimeout: return "no connection with TLS in time"
        case ChannelError.eof: return "the server ended the connection during the handshake of TLS"
        default: break
        }
        let said = "\(error)"
        // Alerts of a server that asks who calls, and does not like the answer.
        if said.contains("CERTIFICATE_REQUIRED") {
            return "the server wants a client certificate; name it with ?cert=FILE&key=FILE"
        }
        if said.contains("ALERT_UNKNOWN_CA") || said.contains("ALERT_BAD_CERTIFICATE") {
            return "the server does not accept the client certificate"
        }
        if said.contains("WRONG_VERSION_NUMBER") { return "the server does not speak TLS at this port" }
        return "TLS fails: \(said)"
    }
}

/// Waits for the end of the handshake.
private final class HandshakeHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    private let promise: EventLoopPromise<Void>

    init(_ promise: EventLoopPromise<Void>) { self.promise = promise }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .handshakeCompleted? = event as? TLSUserEvent { promise.succeed() }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        promise.fail(error)
        context.fireErrorCaught(error)
    }

    func channelInactive(context: ChannelHandlerContext) {
        promise.fail(ChannelError.eof)
        context.fireChannelInactive()
    }
}
