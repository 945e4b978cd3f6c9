internal import Foundation
internal import HTTPTypes
internal import Hummingbird
package import Logging
package import ReelCore
package import ReelEngine
internal import ReelHTTP
internal import ReelHost
package import ReelJobs
package import ReelStore
internal import ReelWords
internal import ServiceLifecycle

/// Jobs over HTTP: the API, the pages, and the events. It has no state of its own but what can be made again: any number of servers may serve the
/// same board and store, beside any number of command lines.
package struct Server: Service {
    let settings: ServerSettings
    let jobs: JobService
    let store: any JobStore
    let uploads: Uploads
    let engine: any EngineRunner
    /// The pictures that are being made for people.
    private let pictureQueue: PictureQueue
    let previews: SourcePreviews
    let log: Logger
    private let listening: @Sendable (Int) -> Void

    /// - Parameters:
    ///   - jobs: a service with this store.
    ///   - uploads: the uploads of the store.
    ///   - engine: makes plans and pictures.
    ///   - listening: gets the port, as soon as the server listens.
    package init(
        _ settings: ServerSettings, jobs: JobService, store: any JobStore, uploads: Uploads,
        engine: any EngineRunner, log: Logger, listening: @escaping @Sendable (Int) -> Void = { _ in }
    ) {
        (self.settings, self.jobs, self.store, self.uploads) = (settings, jobs, store, uploads)
        (self.engine, self.log, self.listening) = (engine, log, listening)
        pictureQueue = PictureQueue()
        previews = SourcePreviews(engine: engine, queue: pictureQueue)
    }

    /// Serves until it is shut down gracefully, or cancelled. Open streams of events get a last event.
    ///
    /// Throws `.addressUnusable` if the address cannot be listened at, and what reading the tokens throws.
    package func run() async throws {
        let gate = try Gate(settings.tokens)
        let hub = EventHub(jobs, log: log)
        let access = StoreAccess(to: store, first: await StoreAccess.Reading(of: store), log: log)
        let responder = Responder(settings: settings, gate: gate, jobs: jobs, store: store, access: access, log: log)
        let routes = Server.routes(self, gate: gate, hub: hub, access: access)
        let listener = Listener(host: settings.host, port: settings.port, log: log)
        let sweeper = Sweeper(store: store, uploads: uploads, previews: previews, log: log)
        let services: [any Service] = [access, hub, sweeper] + webhookSenders(access)
        try await withThrowingTaskGroup(of: Void.self) { [listening] group in
            group.addTask {
                try await listener.serve(responder.router(routes), services: services, listening: listening)
            }
            group.addTask {
                try? await gracefulShutdown()
                // Requests that go on for longer are cut.
                try? await Task.sleep(for: .seconds(10))
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    /// The service that sends webhooks; empty if they are off, or if the server is read-only.
    private func webhookSenders(_ access: StoreAccess) -> [any Service] {
        settings.isReadOnly ? [] : settings.webhooks.map { [WebhookSender(jobs, $0, access: access, log: log)] } ?? []
    }

    /// The folders of sources, and the folder of uploads.
    var sourceRoots: SourceRoots {
        let uploads = URL(fileURLWithPath: self.uploads.folder).standardizedFileURL.path
        return SourceRoots((settings.sources?.folders ?? []) + [uploads])
    }

    /// A method of a place, and the least role that may use it; nil for any caller.
    package struct Entry: Hashable, Sendable {
        package var method: String
        package var path: String
        package var role: Role?

        package init(method: String, path: String, role: Role?) {
            (self.method, self.path, self.role) = (method, path, role)
        }
    }

    /// All methods of all places.
    package func table() throws(ReelFailure) -> [Entry] {
        let access = StoreAccess(to: store, first: StoreAccess.Reading(isThere: false, freeBytes: nil), log: log)
        return Server.routes(self, gate: try Gate(nil), hub: EventHub(jobs, log: log), access: access).map {
            Entry(method: $0.method.rawValue, path: $0.path, role: $0.role)
        }
    }

    static func routes(_ server: Server, gate: Gate, hub: EventHub, access: StoreAccess) -> [Route] {
        let api = "api/v1/"
        let limits = TokenLimits(
            server.settings, jobs: server.jobs, store: server.store, uploads: server.uploads, access: access)
        let uploads = UploadRoutes(uploads: server.uploads, settings: server.settings, limits: limits, access: access)
        let farm = FarmRoutes(jobs: server.jobs, store: server.store, access: access)
        let pictures = JobPictures(store: server.store, engine: server.engine, queue: server.pictureQueue)
        let proxies = JobProxies(store: server.store, engine: server.engine, queue: server.pictureQueue)
        let ofAPI =
            SessionRoutes(server: server, gate: gate).routes + farm.routes
            + JobRoutes(jobs: server.jobs, access: access, limits: limits).routes
            + SubmitRoutes(server: server, uploads: uploads, limits: limits, access: access).routes + uploads.routes
            + PreviewRoutes(server: server, uploads: uploads, previews: server.previews).routes
            + FileRoutes(jobs: server.jobs, pictures: pictures, proxies: proxies, sources: server.sourceRoots).routes
            + EventRoutes(jobs: server.jobs, hub: hub, access: access).routes
        return ofAPI.map { $0.below(api) } + [farm.metrics] + PageRoutes(basePath: server.settings.basePath).routes
    }
}

package struct ServerSettings: Sendable {
    /// The host's name or address at which it listens.
    package var host: String
    /// 0 for any that is free.
    package var port: Int
    /// The start of all its paths: empty, or with a slash at its start but not at its end.
    package var basePath = ""
    /// Nil if every caller may do everything.
    package var tokens: TokenFile?
    /// Whether a server without tokens answers to any host name.
    package var isInsecure = false
    package var isReadOnly = false
    /// The folders whose files can be submitted; nil for none.
    package var sources: SourceRoots?
    /// The web servers and buckets whose files can be submitted; nil for none.
    package var remote: (any RemoteSources)?
    /// The most that a job may ask for.
    package var quotas = Quotas()
    /// The most bytes of all uploads together.
    package var uploadQuota: Int64 = 100 << 30
    /// How long an upload is kept after its last change, in seconds.
    package var uploadExpiry: Double = 24 * 3600
    /// The most jobs of a token that have not ended; nil for any number.
    package var jobsPerToken: Int?
    /// The most bytes in the store of a token's uploads and results; nil for any number.
    package var bytesPerToken: Int64?
    /// Nil if webhooks are neither taken nor sent. A read-only server does not send any.
    package var webhooks: WebhookPolicy?
    /// The sites whose pages may use the API from a browser, as https://app.example.
    package var origins: Set<String> = []

    package init(host: String, port: Int) { (self.host, self.port) = (host, port) }
}

/// Once a minute removes uploads that have expired and previews that nobody looks at, and returns memory: requests for large jobs take hundreds of MiB
/// for a few seconds.
struct Sweeper: Service {
    let store: any JobStore
    let uploads: Uploads
    let previews: SourcePreviews
    let log: Logger

    func run() async throws {
        await cancelWhenGracefulShutdown {
            repeat {
                do {
                    try await StoreExecutor.shared.run { [store, uploads] in
                        try await store.check()
                        try uploads.removeExpired(now: Date().timeIntervalSince1970)
                    }
                } catch is CancellationError {
                    return
                } catch {
                    let failure = ReelFailure.of(error)
                    log.error("\(failure.words)", metadata: ["code": "\(failure.reason.code)"])
                }
                await previews.removeUnused()
                OwnProcess.returnFreeMemory()
            } while (try? await Task.sleep(for: .seconds(60))) != nil
        }
    }
}
