internal import Hummingbird
internal import NIOCore

/// What the server knows of a request beside the request itself.
struct ServerContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// The address that the request came from.
    let address: String
    /// Who makes it.
    var caller = Caller.nobody

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        address = source.channel.remoteAddress?.ipAddress ?? "unknown"
    }
}
