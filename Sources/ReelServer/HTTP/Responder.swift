internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import Logging
internal import ReelCore
internal import ReelJobs
internal import ReelQueue
internal import ReelStore
internal import ReelWords

/// Answers requests by a table of routes: checks the caller's role, limits the time, and adds the fields that every
/// answer has for browsers.
struct Responder: Sendable {
    let settings: ServerSettings
    let gate: Gate
    let jobs: JobService
    let store: any JobStore
    let access: StoreAccess
    let log: Logger

    /// The methods that the server knows. Any place has an answer for each of them.
    static let methods: [HTTPRequest.Method] = [.get, .head, .post, .put, .patch, .delete, .options, .trace]

    /// A router with all routes. A place answers HEAD as it does GET, and a method that it does not have with a list of
    /// its methods.
    func router(_ routes: [Route]) -> Router<ServerContext> {
        let router = Router(context: ServerContext.self)
        router.add(middleware: AllowedOrigins(settings.origins))
        router.add(middleware: Manners(log: log, pages: PageRoutes(basePath: settings.basePath)))
        let places = Dictionary(grouping: routes, by: \.path)
        for (path, routes) in places {
            let place = RouterPath(path.isEmpty ? settings.basePath : "\(settings.basePath)/\(path)")
            let has = Set(routes.map(\.method))
            let allowed = Responder.methods.filter { has.contains($0) || $0 == .head && has.contains(.get) }
            for route in routes {
                router.on(place, method: route.method) { request, context in try await answer(route, request, context) }
                guard route.method == .get, !has.contains(.head) else { continue }
                router.on(place, method: .head) { request, context in
                    try await answer(route, request, context).createHeadResponse()
                }
            }
            for method in Responder.methods where !allowed.contains(method) {
                router.on(place, method: method) { _, _ -> Response in throw Problem.notAllowed(method, allowed) }
            }
        }
        return router
    }

    private func answer(_ route: Route, _ request: Request, _ context: ServerContext) async throws -> Response {
        var context = context
        // Pages, and signing in and out, also work with a token that is not known any more.
        context.caller =
            route.role == nil ? gate.callerIfKnown(of: request) : try gate.caller(of: request, from: context.address)
        // Look the job up now: the request may delete it or give its name to another job.
        let job = isNoted(route, context) && route.path.contains("jobs/{id}") ? try? await job(context) : nil
        do {
            try check(route, request, context.caller)
            let response = try await handle(route, request, context)
            // The answer to a new job has the job's place.
            let made = route.path.hasSuffix("/jobs") ? response.headers[.location]?.split(separator: "/").last : nil
            await note(route, context, made.map { JobID(String($0)) } ?? job, response.status)
            return response
        } catch {
            await note(route, context, job, Problem(of: error).status)
            throw error
        }
    }

    /// While the store cannot be reached, nothing is made in its place, and no job or upload is called unknown: the
    /// client would believe that it is gone.
    private func handle(_ route: Route, _ request: Request, _ context: ServerContext) async throws -> Response {
        if route.makesFiles { try await checkStore() }
        do {
            guard route.usesStore else {
                return try await Responder.within(route.limit, request, context, route.handler)
            }
            let handler: @Sendable () async throws -> Response = { try await route.handler(request, context) }
            let limit = route.limit ?? StoreAccess.limit
            // If the store does not answer, its use below finds that out.
            let isLarge = route.path.contains("jobs/{id}") ? (try? await isLarge(context)) ?? false : false
            guard let spare = route.spare else { return try await access.use(atMost: limit, isLarge: isLarge, handler) }
            return try await access.use(atMost: limit, isLarge: isLarge, handler) {
                try await Responder.within(limit, request, context, spare)
            }
        } catch {
            if route.role != nil, Problem(of: error).status == .notFound { try await checkStore() }
            throw error
        }
    }

    private func checkStore() async throws {
        try await access.use { [store] in
            do throws(ReelFailure) { try await store.check() } catch { throw Problem.storeAway(error) }
        }
    }

    private func job(_ context: ServerContext) async throws -> JobID {
        try await access.use { [jobs] in try await context.job(jobs) }
    }

    private func isLarge(_ context: ServerContext) async throws -> Bool {
        try await access.use { [jobs] in try await jobs.isLarge(context.job(jobs)) }
    }

    /// Whether the audit log has a line for the request. Otherwise unauthenticated requests could flood the log.
    private func isNoted(_ route: Route, _ context: ServerContext) -> Bool {
        route.action != nil && route.isNoted && context.caller.role != nil
    }

    /// Notes a change, or an attempt to make one, in the board's journal. The answer does not depend on it.
    private func note(_ route: Route, _ context: ServerContext, _ job: JobID?, _ status: HTTPResponse.Status) async {
        guard isNoted(route, context), let action = route.action else { return }
        let name = context.parameters.get("name")?.removingPercentEncoding
        do throws(ReelFailure) {
            try await jobs.note(
                JournalAction(
                    who: context.caller.name ?? "", role: context.caller.role?.rawValue ?? "", address: context.address,
                    action: name.map { "\(action) \($0)" } ?? action, job: job, status: status.code))
        } catch {
            log.error(
                "cannot note '\(action)' in the audit log: \(error.words)", metadata: ["code": "\(error.reason.code)"])
        }
    }

    private func check(_ route: Route, _ request: Request, _ caller: Caller) throws {
        if let needed = route.role {
            guard let role = caller.role else {
                throw Problem(
                    .unauthorized, "token-missing", "A token is needed",
                    detail: "Send one of role \(needed.rawValue) as 'Authorization: Bearer TOKEN', or sign in.")
            }
            guard role >= needed else {
                throw Problem(
                    .forbidden, "role-too-low", "Another role is needed",
                    detail:
                        "That takes role \(needed.rawValue); \(caller.name ?? "this caller") has role \(role.rawValue)."
                )
            }
        }
        let host = request.head.authority ?? ""
        guard gate.isClosed || settings.isInsecure || Responder.isOwn(host) else {
            // Otherwise any web site could send requests from a browser on this machine, through a host name that
            // resolves to it (DNS rebinding).
            throw Problem(
                .misdirectedRequest, "host-foreign", "The server is not known by that name",
                detail:
                    "Without tokens it answers to localhost and to addresses alone; the request is for \(host.prefix(100))."
            )
        }
        let isRead = [.get, .head, .options].contains(route.method)
        if !isRead || route.isForOwnPages { try checkOrigin(request, host) }
        guard !isRead else { return }
        if settings.isReadOnly, route.action != nil, route.role != nil {
            throw Problem(
                .forbidden, "read-only", "The server is read-only", detail: "It was started with --read-only.")
        }
    }

    /// Throws a problem if a page of another site sends a request that may change something, or that makes the server
    /// work. Browsers say which site a request comes from; older ones, and connections without TLS, say its origin.
    private func checkOrigin(_ request: Request, _ host: String) throws {
        if let origin = request.headers[.origin], settings.origins.contains(origin) { return }
        let site = request.headers[.secFetchSite]
        let origin = site == nil ? request.headers[.origin] : nil
        let isOwn =
            site.map { $0 == "same-origin" || $0 == "none" }
            ?? origin.map { $0.split(separator: "/", maxSplits: 1).last.map { "\($0)" == "/\(host)" } ?? false } ?? true
        guard isOwn else {
            throw Problem(
                .forbidden, "other-site", "Another site may only read",
                detail:
                    "The browser says that a page of another site sent this (\((site ?? origin ?? "").prefix(100))).")
        }
    }

    /// Whether a name is this machine's own: localhost or an address, with or without a port.
    private static func isOwn(_ host: String) -> Bool {
        host.isEmpty
            || host.wholeMatch(of: /(?i:localhost|[0-9]{1,3}(\.[0-9]{1,3}){3}|\[[0-9a-f:.]+\])(:[0-9]{1,5})?/) != nil
    }

    /// Runs a handler, and cancels it after that time; then throws a problem of status 503.
    private static func within(
        _ limit: Duration?, _ request: Request, _ context: ServerContext, _ handler: @escaping Route.Handler
    ) async throws -> Response {
        guard let limit else { return try await handler(request, context) }
        return try await Problem.slow(limit).unless(within: limit) { try await handler(request, context) }
    }
}

extension Problem {
    fileprivate static func notAllowed(_ method: HTTPRequest.Method, _ allowed: [HTTPRequest.Method]) -> Problem {
        let names = allowed.map(\.rawValue).joined(separator: ", ")
        var problem = Problem(
            .methodNotAllowed, "method-not-allowed", "The place does not take this method",
            detail: "It takes \(names); the request was \(method.rawValue).")
        problem.headers[.allow] = names
        return problem
    }

    /// RFC 9112, 3.2. A proxy in front of the server may have used the other one.
    fileprivate static let hostTwice = Problem(
        .badRequest, "host-twice", "The request has more than one Host", detail: "One field of that name is taken.")

    fileprivate static func unknown(_ method: HTTPRequest.Method) -> Problem {
        Problem(
            .notImplemented, "method-unknown", "The server does not know the method",
            detail: "It is \(method.rawValue.prefix(40)).")
    }
}

/// Turns errors into answers, and limits what browsers let the server's pages do.
private struct Manners: RouterMiddleware {
    typealias Context = ServerContext

    let log: Logger
    let pages: PageRoutes

    func handle(
        _ request: Request, context: ServerContext, next: (Request, ServerContext) async throws -> Response
    ) async throws -> Response {
        var context = context
        context.takeAddress(from: request.headers[.xForwardedFor])
        var response: Response
        do {
            guard Responder.methods.contains(request.method) else { throw Problem.unknown(request.method) }
            // Hummingbird has taken the first out of the fields: it is the request's authority.
            guard request.headers[.host] == nil else { throw Problem.hostTwice }
            response = try await next(request, context)
        } catch {
            let problem = Problem(of: error)
            // Anyone can send an unknown method.
            if problem.status.kind == .serverError, problem.status != .notImplemented {
                log.error(
                    "\(request.method) \(request.uri.path): \(problem.detail)", metadata: ["code": "\(problem.code)"])
            }
            let page = problem.status == .notFound ? pages.lost(request) : nil
            response = try page ?? problem.response(from: request, context: context)
        }
        if response.headers[.contentSecurityPolicy] == nil { response.headers[.contentSecurityPolicy] = Manners.policy }
        response.headers[.xContentTypeOptions] = "nosniff"
        response.headers[.referrerPolicy] = "no-referrer"
        response.headers[.crossOriginResourcePolicy] = "same-origin"
        return response
    }

    private static let policy = [
        "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self'", "media-src 'self'",
        "connect-src 'self'", "form-action 'self'", "base-uri 'self'", "frame-ancestors 'none'",
    ].joined(separator: "; ")
}

struct Route: Sendable {
    typealias Handler = @Sendable (Request, ServerContext) async throws -> Response

    let method: HTTPRequest.Method
    /// Below the base path, without a slash at its start; `{name}` stands for any part.
    private(set) var path: String
    /// The least role; nil for anyone.
    let role: Role?
    /// Its name in the audit log; nil for a route that changes nothing.
    let action: String?
    /// Whether the audit log has a line for each request.
    var isNoted = true
    var makesFiles = false
    /// Whether its handler uses the store, and reads no body. Other handlers use the store by `StoreAccess`, if at all.
    private(set) var usesStore = false
    /// Answers instead of it while the store hangs; nil if nothing can.
    private(set) var spare: Handler?
    /// Whether pages of other sites may not even ask: an engine works for each question, and the questions can be guessed.
    private(set) var isForOwnPages = false
    /// How long it may take; nil for any time.
    let limit: Duration?
    let handler: Handler

    static func get(
        _ path: String, _ role: Role? = .viewer, limit: Duration? = .seconds(30), _ handler: @escaping Handler
    ) -> Route {
        Route(method: .get, path: path, role: role, action: nil, limit: limit, handler: handler)
    }

    static func change(
        _ method: HTTPRequest.Method, _ path: String, _ role: Role?, _ action: String, limit: Duration? = .seconds(60),
        isNoted: Bool = true, makesFiles: Bool = false, _ handler: @escaping Handler
    ) -> Route {
        Route(
            method: method, path: path, role: role, action: action, isNoted: isNoted, makesFiles: makesFiles,
            limit: limit, handler: handler)
    }

    func below(_ prefix: String) -> Route {
        var route = self
        route.path = prefix + path
        return route
    }

    /// The route as one that pages of other sites may not ask for.
    func fromOwnPages() -> Route {
        var route = self
        route.isForOwnPages = true
        return route
    }

    /// The route as one whose handler uses the store.
    ///
    /// - Parameter spare: answers instead of it while the store hangs; nil if nothing can.
    func usingStore(orElse spare: Handler? = nil) -> Route {
        var route = self
        (route.usesStore, route.spare) = (true, spare)
        return route
    }
}
