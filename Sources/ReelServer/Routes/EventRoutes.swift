internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import ReelCore
internal import ReelJobs
internal import ReelQueue
internal import ServiceLifecycle

/// The board's events, as server-sent events.
struct EventRoutes {
    let jobs: JobService
    let hub: EventHub
    let access: StoreAccess

    var routes: [Route] { [.get("events", .viewer, limit: nil, events)] }

    /// The job of a name. Throws `.jobUnknown` if there is none.
    private func known(_ name: String, to jobs: JobService) async throws -> JobID {
        JobID(try await jobs.view(jobs.job(named: name)).id)
    }

    private func isLarge(_ name: String) async throws -> Bool {
        try await access.use { [jobs] in try await jobs.isLarge(jobs.job(named: name)) }
    }

    @Sendable private func events(_ request: Request, _ context: ServerContext) async throws -> Response {
        try request.refuseParameters(except: "job")
        let name = try request.query("job")
        let job: JobID? =
            if let name {
                try await access.use(isLarge: (try? await isLarge(name)) ?? false) { [jobs] in
                    try await known(name, to: jobs)
                } orElse: {
                    try await known(name, to: jobs.withoutStore)
                }
            } else { nil }
        let place = try request.headers[.lastEventID].map { text in
            guard let place = BoardEvent.Place(text) else {
                throw Problem(
                    .badRequest, "place-invalid", "The Last-Event-ID cannot be taken",
                    detail: "It must be the id of an event that this stream sent.")
            }
            return place
        }
        try await hub.check()
        var headers: HTTPFields = [.contentType: "text/event-stream", .cacheControl: "no-store"]
        headers[.accelBuffering] = "no"
        return Response(
            status: .ok, headers: headers,
            body: ResponseBody { [hub] writer in
                var listener = await hub.listen(after: place)
                do {
                    // Browsers wait for that many milliseconds before they connect again.
                    try await writer.write(ByteBuffer(string: "retry: 1000\n: reel\n\n"))
                    try await withGracefulShutdownHandler {
                        for await _ in listener.wakes {
                            let items = await hub.next(for: &listener).filter {
                                job == nil || $0.job == nil || $0.job == job
                            }
                            var text = ByteBuffer()
                            for item in items { text.writeImmutableBuffer(item.text) }
                            if items.isEmpty { text.writeString(":\n\n") }
                            try await writer.write(text)
                        }
                    } onGracefulShutdown: { [listener] in
                        listener.end()
                    }
                    try await writer.write(ByteBuffer(string: "event: bye\ndata: {}\n\n"))
                    try await writer.finish(nil)
                    await hub.leave(listener)
                } catch {
                    await hub.leave(listener)
                    throw error
                }
            })
    }
}

extension HTTPField.Name {
    fileprivate static let lastEventID = HTTPField.Name(known: "Last-Event-ID")
    fileprivate static let accelBuffering = HTTPField.Name(known: "X-Accel-Buffering")
}

/// The audit log: which caller had a server make which change.
struct AuditRoutes {
    let jobs: JobService

    var routes: [Route] { [.get("audit", .admin, audit)] }

    private struct AuditView: Encodable {
        /// The latest first.
        var entries: [EntryView]
        /// The cursor of the next page; missing if there is none.
        var next: String?
    }

    private struct EntryView: Encodable {
        var time: Double
        var who: String
        var role: String
        var address: String
        var action: String
        var job: String?
        var status: Int
    }

    @Sendable private func audit(_ request: Request, _ context: ServerContext) async throws -> Response {
        try request.refuseParameters(except: "cursor", "limit")
        let place = try request.cursor { BoardEvent.Place($0) }
        let limit = try request.query("limit", 1...JobRoutes.mostItems) ?? 100
        let entries = try await jobs.journal(before: place, count: limit)
        return try JSONAnswer.response(
            AuditView(
                entries: entries.map { entry in
                    let action = entry.action
                    return EntryView(
                        time: entry.time, who: action.who, role: action.role, address: action.address,
                        action: action.action, job: action.job?.text, status: action.status)
                }, next: entries.count == limit ? entries.last?.place.description : nil))
    }
}
