internal import HTTPTypes
internal import Hummingbird

/// A method of a place, and who may use it.
struct Route: Sendable {
    typealias Handler = @Sendable (Request, ServerContext) async throws -> Response

    let method: HTTPRequest.Method
    /// Below the base path, without a slash at its start; `{name}` stands for any part.
    private(set) var path: String
    /// The least role; nil for anyone.
    let role: Role?
    /// What the audit log calls it; nil for a route that changes nothing.
    let action: String?
    /// Whether the audit log has a line for each request.
    var isNoted = true
    /// Whether it makes files in the store.
    var makesFiles = false
    /// Whether its handler uses the store, and reads no body. Other handlers go to the store by `StoreAccess`, if at all.
    private(set) var usesStore = false
    /// Answers in its stead while the store hangs; nil if nothing can.
    private(set) var spare: Handler?
    /// How long it may take; nil for as long as it takes.
    let limit: Duration?
    let handler: Handler

    /// A route that reads.
    static func get(
        _ path: String, _ role: Role? = .viewer, limit: Duration? = .seconds(30), _ handler: @escaping Handler
    ) -> Route {
        Route(method: .get, path: path, role: role, action: nil, limit: limit, handler: handler)
    }

    /// A route that changes something.
    static func change(
        _ method: HTTPRequest.Method, _ path: String, _ role: Role, _ action: String,
        limit: Duration? = .seconds(60), isNoted: Bool = true, makesFiles: Bool = false,
        _ handler: @escaping Handler
    ) -> Route {
        Route(
            method: method, path: path, role: role, action: action, isNoted: isNoted, makesFiles: makesFiles,
            limit: limit, handler: handler)
    }

    /// The route with something before its path.
    func below(_ prefix: String) -> Route {
        var route = self
        route.path = prefix + path
        return route
    }

    /// The route as one whose handler uses the store.
    ///
    /// - Parameter spare: answers in its stead while the store hangs; nil if nothing can.
    func usingStore(orElse spare: Handler? = nil) -> Route {
        var route = self
        (route.usesStore, route.spare) = (true, spare)
        return route
    }
}
