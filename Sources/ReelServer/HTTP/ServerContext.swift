internal import Foundation
internal import Hummingbird
internal import NIOCore

/// What the server knows of a request beside the request itself.
struct ServerContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// The address that the request came from.
    private(set) var address: String
    /// Who makes it.
    var caller = Caller.nobody

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        address = source.channel.remoteAddress?.ipAddress ?? "unknown"
    }

    /// Takes the address that a proxy on this machine says the request came from.
    ///
    /// - Parameter addresses: X-Forwarded-For. The proxy adds the last one; those before it are what callers say.
    mutating func takeAddress(from addresses: String?) {
        guard IPAddress(address)?.isLoopback == true, let last = addresses?.split(separator: ",").last else { return }
        let origin = last.trimmingCharacters(in: .whitespaces)
        if IPAddress(origin) != nil { address = origin }
    }
}
