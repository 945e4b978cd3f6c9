internal import AsyncHTTPClient
internal import Foundation
internal import NIOCore
internal import NIOHTTP1
internal import NIOSSL
internal import ReelCore

/// A client that ends with this object.
final class OwnedClient: Sendable {
    let client: HTTPClient

    /// - Parameters:
    ///   - host: a host that is asked at one address alone; nil for any.
    ///   - authorities: a file of certificates to trust. Otherwise SSL_CERT_FILE, as curl and OpenSSL have it, or the
    ///     system's.
    ///   - connections: to each host at the same time.
    init(_ host: (WebURL.Host, at: IPAddress)? = nil, authorities: String? = nil, connections: Int = 2) {
        var settings = HTTPClient.Configuration(
            redirectConfiguration: .disallow,
            // How long a request may go on without a byte.
            timeout: .init(connect: .seconds(10), read: .seconds(30)), decompression: .disabled)
        settings.httpVersion = .http1Only
        // Who asks knows for how long to try.
        settings.connectionPool.retryConnectionEstablishment = false
        settings.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = connections
        if let (host, address) = host, case .name(let name) = host { settings.dnsOverride = [name: "\(address)"] }
        if let authorities = authorities ?? ProcessInfo.processInfo.environment["SSL_CERT_FILE"] {
            var security = TLSConfiguration.makeClientConfiguration()
            security.trustRoots = .file(authorities)
            settings.tlsConfiguration = security
        }
        client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: settings)
    }

    deinit { client.shutdown(queue: .global()) { _ in } }
}

extension HTTPClientRequest {
    /// A request of reel.
    static func of(_ method: HTTPMethod, _ url: String) -> HTTPClientRequest {
        var request = HTTPClientRequest(url: url)
        request.method = method
        request.headers.add(name: "User-Agent", value: "reel/\(Release.version)")
        return request
    }

    /// The header fields that ask for a range of bytes, of a version if one is known.
    static func fields(for range: Range<Int64>, of version: WebVersion? = nil) -> [(name: String, value: String)] {
        let tag = version?.tag.map { [(name: "If-Match", value: $0)] } ?? []
        return [("Range", "bytes=\(range.lowerBound)-\(range.upperBound - 1)")] + tag
    }
}
