internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import Logging
internal import NIOCore
internal import ReelCore
internal import ReelJobs
internal import ReelQueue
internal import ReelWords
internal import ServiceLifecycle

/// The board's events, as server-sent events; and the audit log: which caller had a server make which change.
struct EventRoutes {
    let jobs: JobService
    let hub: EventHub
    let access: StoreAccess

    /// About how many bytes of events are written at once.
    private static let piece = 64 << 10

    var routes: [Route] { [.get("events", .viewer, limit: nil, events), .get("audit", .admin, audit)] }

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
                            if items.isEmpty { text.writeString(":\n\n") }
                            for item in items {
                                text.writeImmutableBuffer(item.text)
                                guard text.readableBytes >= EventRoutes.piece else { continue }
                                try await writer.write(text)
                                // As in downloads: a caller that takes nothing holds no more than this.
                                try await context.eventLoop.submit {}.get()
                                text.clear()
                            }
                            if text.readableBytes > 0 { try await writer.write(text) }
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

    // MARK: The audit log

    private struct AuditView: Encodable {
        /// The latest first.
        var entries: [EntryView]
        /// The cursor of the next page; missing on the last page.
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

/// Reads the board's stream of events once for all listeners of this server, and keeps as much of it as the board does,
/// so that a listener gets the events that it missed when its connection was cut.
actor EventHub: Service {
    private let jobs: JobService
    private let log: Logger
    private var items: [Item] = []
    /// How many items came before the first of `items`.
    private var dropped = 0
    /// Whether the stream has been read to its end once: until then items are history.
    private var isCurrent = false
    /// Whether Redis cannot be reached; then the hub has no listeners.
    private var isLost = false
    private var listeners: [Int: AsyncStream<Void>.Continuation] = [:]
    private var lastListener = 0

    /// As many as the board keeps.
    private static let mostItems = 10_000
    private static let mostListeners = 2000
    /// The time between two signs of life.
    private static let pulse = Duration.seconds(15)

    /// How far another server may be ahead of this one: a client may present an event ID that this server has not read
    /// yet.
    private static let headStart = Duration.seconds(2)

    struct Item: Sendable {
        /// Nil for all jobs.
        var job: JobID?
        var place: BoardEvent.Place
        /// In the format of server-sent events.
        var text: ByteBuffer
    }

    init(_ jobs: JobService, log: Logger) { (self.jobs, self.log) = (jobs, log) }

    // MARK: Reading the board

    func run() async throws {
        await cancelWhenGracefulShutdown {
            await withTaskGroup { group in
                group.addTask { await self.read() }
                group.addTask {
                    while (try? await Task.sleep(for: EventHub.pulse)) != nil { await self.wakeAll() }
                }
            }
        }
    }

    private func read() async {
        var place = BoardEvent.Place.start
        while !Task.isCancelled {
            let feed = jobs.events(after: place)
            do throws(ReelFailure) {
                let now = try await jobs.now()
                var end: BoardEvent.Place? = isCurrent && !isLost ? nil : now
                while !Task.isCancelled {
                    let events = try await feed.wait(atMost: end == nil ? .seconds(60) : .milliseconds(1))
                    if isLost {
                        log.info("Redis answers again")
                        isLost = false
                        // It may have lost its last second.
                        add(Item(job: nil, place: now, text: EventHub.text("resync", now, nil)))
                    }
                    for event in events { add(Item(event)) }
                    if let last = events.last { place = last.place }
                    if let reached = end, events.isEmpty || place > reached {
                        end = nil
                        isCurrent = true
                    }
                    if !events.isEmpty || end == nil { wakeAll() }
                }
            } catch {
                if !isLost { log.error("\(error.words)", metadata: ["code": "\(error.reason.code)"]) }
                isLost = true
                for listener in listeners.values { listener.finish() }
                try? await Task.sleep(for: .milliseconds(500))
            }
        }
    }

    private func add(_ item: Item) {
        items.append(item)
        guard items.count >= 2 * EventHub.mostItems else { return }
        items.removeFirst(EventHub.mostItems)
        dropped += EventHub.mostItems
    }

    private func wakeAll() { for listener in listeners.values { listener.yield() } }

    // MARK: Listening

    /// It is woken when there may be items, and at each sign of life.
    struct Listener: Sendable {
        fileprivate let number: Int
        let wakes: AsyncStream<Void>
        fileprivate let continuation: AsyncStream<Void>.Continuation
        /// How many items it has seen; nil until the hub has read the board's stream.
        var seen: Int?
        /// The place after which it goes on; nil for now.
        let place: BoardEvent.Place?
        fileprivate let began = ContinuousClock.now

        func end() { continuation.finish() }
    }

    /// Throws a problem of status 503 if too many listen, or if there are no events now.
    func check() throws {
        guard !isLost else {
            throw Problem(
                .serviceUnavailable, "events-lost", "There are no events now",
                detail: "Redis cannot be reached.", retryAfter: 2)
        }
        guard listeners.count < EventHub.mostListeners else {
            throw Problem(
                .serviceUnavailable, "too-many-streams", "Too many streams of events are open",
                detail: "This server has \(listeners.count) open.", retryAfter: 30)
        }
    }

    func listen(after place: BoardEvent.Place?) -> Listener {
        let (wakes, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        lastListener += 1
        listeners[lastListener] = continuation
        if isCurrent { continuation.yield() }
        let seen = isCurrent && place == nil ? dropped + items.count : nil
        return Listener(number: lastListener, wakes: wakes, continuation: continuation, seen: seen, place: place)
    }

    func leave(_ listener: Listener) { listeners[listener.number] = nil }

    /// The items that a listener has not seen yet. If some of them are gone, it is told to read everything anew.
    func next(for listener: inout Listener) -> [Item] {
        guard isCurrent else { return [] }
        let end = dropped + items.count
        guard let seen = listener.seen else {
            if let place = listener.place, items.last.map({ $0.place < place }) ?? true,
                ContinuousClock.now - listener.began < EventHub.headStart
            {
                return []
            }
            listener.seen = end
            guard let place = listener.place else { return [] }
            guard let first = items.first, first.place <= place, let last = items.last, place <= last.place else {
                return [resync]
            }
            return Array(items[(items.firstIndex { $0.place > place } ?? items.endIndex)...])
        }
        listener.seen = end
        guard seen >= dropped else { return [resync] }
        return Array(items[(seen - dropped)...])
    }

    private var resync: Item {
        let place = items.last?.place ?? .start
        return Item(job: nil, place: place, text: EventHub.text("resync", place, nil))
    }

    // MARK: Text

    private struct EventView: Encodable {
        var job: String
        var index: Int?
        var worker: String?
    }

    fileprivate static func text(_ kind: String, _ place: BoardEvent.Place, _ event: BoardEvent?) -> ByteBuffer {
        let view = event.map {
            EventView(job: $0.job.text, index: $0.happening.index, worker: $0.happening.worker?.text)
        }
        let data = view.flatMap { try? CanonicalJSON.text(of: $0) } ?? "{}"
        // The kind may come from Redis, written by a newer release.
        let kind = kind.filter { $0.isLetter || $0.isNumber || $0 == "-" }
        return ByteBuffer(string: "id: \(place)\nevent: \(kind)\ndata: \(data)\n\n")
    }
}

extension EventHub.Item {
    fileprivate init(_ event: BoardEvent) {
        self.init(job: event.job, place: event.place, text: EventHub.text(event.happening.name, event.place, event))
    }
}
