internal import Foundation
internal import NIOCore
internal import NIOSSL
internal import ReelCore
package import ReelQueue

/// Connections with TLS 1.2 or later.
package struct TLSTransport: SecureTransport {
    package init() {}

    package func secure(
        _ host: HostPort, by files: TLSFiles, within limit: Duration, dial: () throws(ConnectionError) -> CInt
    ) throws(ConnectionError) -> any SecureStream {
        let context = try context(files)
        let socket = try dial()
        do {
            let stream = try TLSStream(socket, to: host) { name in
                try NIOSSLClientHandler(context: context, serverHostname: name)
            }
            try stream.shakeHands(within: limit)
            return stream
        } catch let error as NIOSSLExtraError where error == .failedToValidateHostname {
            throw ConnectionError(message: "its certificate is not for \(host.host)", cause: .permanent)
        } catch {
            guard "\(error)".contains("CERTIFICATE_VERIFY_FAILED") else {
                throw ConnectionError(message: TLSTransport.words(error))
            }
            // BoringSSL does not say what is wrong with a certificate, so another connection fetches it for a look.
            let certificate = try certificate(of: host, at: dial(), context, within: limit)
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

    /// The certificate by which a host identifies itself; nil if it shows none.
    private func certificate(
        of host: HostPort, at socket: CInt, _ context: NIOSSLContext, within limit: Duration
    ) -> NIOSSLCertificate? {
        var found: NIOSSLCertificate?
        let stream = try? TLSStream(socket, to: host) { name in
            try NIOSSLClientHandler(context: context, serverHostname: name) {
                (certificates: [NIOSSLCertificate], verdict: EventLoopPromise<NIOSSLVerificationResult>) in
                found = certificates.first
                verdict.succeed(NIOSSLVerificationResult.failed)
            }
        }
        try? stream?.shakeHands(within: limit)
        return found
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
        case let error as IOError where error.errnoCode == EAGAIN: return "no answer in time"
        case let error as IOError: return String(cString: strerror(error.errnoCode))
        case ChannelError.connectTimeout: return "no connection with TLS in time"
        case ChannelError.eof: return "Server closed the connection"
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
