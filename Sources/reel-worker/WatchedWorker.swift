internal import Hummingbird
internal import Logging
internal import ReelCore
internal import ReelHTTP
internal import ReelQueue
internal import ReelTerminal
internal import ReelWork
internal import ServiceLifecycle

/// A worker that reports its state over HTTP, from before it looks for Redis until it has ended. Answers contain no
/// places and no names, so they need no token.
struct WatchedWorker: Service {
    let worker: Worker
    let address: Address
    let log: Logger

    /// Works until shut down. Throws `.addressUnusable` if the address cannot be listened at, and what the worker
    /// throws.
    func run() async throws {
        let listener = Listener(host: address.host, port: address.port, connections: 32, log: log)
        let (ports, port) = AsyncStream<Int>.makeStream()
        // A task without a parent answers until the process ends, since the worker goes on for a while after the
        // shutdown begins.
        let answering = Task.detached {
            defer { port.finish() }
            try await listener.serve(router) { port.yield($0) }
        }
        guard let bound = await ports.first(where: { _ in true }) else {
            answering.cancel()
            return try await answering.value
        }
        log.info("answers at \(address.url(port: bound)): /healthz, /readyz and /metrics")
        try await worker.run()
    }

    private var router: Router<BasicRequestContext> {
        let router = Router(options: .autoGenerateHeadEndpoints)
        router.get("healthz") { [worker] _, _ in
            worker.health.isAlive ? WatchedWorker.answer("ok") : WatchedWorker.answer("hangs", .serviceUnavailable)
        }
        router.get("readyz") { [worker] _, _ in
            let obstacles = worker.health.obstacles.map(\.rawValue)
            return obstacles.isEmpty
                ? WatchedWorker.answer("ok")
                : WatchedWorker.answer(obstacles.joined(separator: "\n"), .serviceUnavailable)
        }
        router.get("metrics") { [worker] _, _ in PrometheusText(worker.health).response }
        return router
    }

    private static func answer(_ text: String, _ status: HTTPResponse.Status = .ok) -> Response {
        Response(
            status: status, headers: [.contentType: "text/plain; charset=utf-8", .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text + "\n")))
    }
}

extension PrometheusText {
    /// The figures of a worker. Their names differ from those of a server's figures of the whole farm.
    fileprivate init(_ health: WorkerHealth) {
        self.init()
        let slots = health.slots
        add("reel_build_info", .gauge, "The release of this worker.", [([("version", Release.version)], 1)])
        add("reel_redis_up", .gauge, "Whether Redis answers.", health.isRedisUp ? 1 : 0)
        add("reel_store_up", .gauge, "Whether the store is at its place.", health.isStoreUp ? 1 : 0)
        if let free = health.storeFreeBytes { add("reel_store_free_bytes", .gauge, "Room in the store.", Double(free)) }
        add("reel_worker_ready", .gauge, "Whether the worker takes work.", health.obstacles.isEmpty ? 1 : 0)
        add(
            "reel_worker_draining", .gauge, "Whether the worker ends, or is drained.",
            health.obstacles.contains { $0 == .ending || $0 == .drained } ? 1 : 0)
        add(
            "reel_worker_slots", .gauge, "Slots of this worker.",
            [("busy", slots.busy), ("drained", slots.drained), ("free", slots.free), ("out", slots.out)].map {
                ([("state", $0)], Double($1))
            })
        add(
            "reel_worker_memory_limit_bytes", .gauge, "Memory that all passes together may take.",
            Double(health.memoryTotal))
        add(
            "reel_worker_pass_attempts_total", .counter, "Attempts at passes that ended since the worker started.",
            health.attempts.map { ([("outcome", $0.outcome), ("cause", $0.cause?.rawValue ?? "")], Double($1)) }
                .sorted { $0.labels.map(\.1).lexicographicallyPrecedes($1.labels.map(\.1)) })
    }
}
