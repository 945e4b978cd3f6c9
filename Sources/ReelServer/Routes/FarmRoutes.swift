internal import HTTPTypes
internal import Hummingbird
internal import ReelCore
internal import ReelHTTP
internal import ReelJobs
internal import ReelQueue
internal import ReelStore

/// Workers, their hosts and the queue; whether this server is alive and ready; and figures for monitoring.
struct FarmRoutes {
    let jobs: JobService
    let store: any JobStore
    let access: StoreAccess

    /// A scrape does not wait for the store: the figures have its last reading.
    var metrics: Route {
        .get("metrics", .viewer, limit: .seconds(10)) { _, _ in
            // A Redis that cannot be reached is a figure, too.
            let board = try? await jobs.metrics()
            let store = access.reading
            let isThere = store.isThere && !access.isHanging
            return PrometheusText(board, isStoreThere: isThere, freeBytes: store.freeBytes).response
        }
    }

    var routes: [Route] {
        [
            .get("health", nil) { _, _ in try JSONAnswer.response(["status": "ok"]) },
            .get("ready", nil, limit: .seconds(10), ready).usingStore(),
            .get("workers") { _, _ in
                try JSONAnswer.response(
                    WorkersView(workers: try await jobs.workers(), drainedHosts: try await jobs.drainedHosts()))
            },
            .get("demand") { _, _ in try JSONAnswer.response(try await jobs.demand()) },
            .get("counts") { _, _ in try JSONAnswer.response(CountsView(states: try await jobs.metrics().jobs)) },
            .get("rates") { _, _ in try JSONAnswer.response(try await jobs.rates()) },
            .get("queue") { _, _ in try JSONAnswer.response(try await jobs.queue()) }
                .usingStore { _, _ in try JSONAnswer.response(try await jobs.withoutStore.queue()) },
            .change(.post, "workers/{name}/drain", .admin, "drain worker", drain),
            .change(.post, "workers/{name}/undrain", .admin, "undrain worker", undrain),
            .change(.post, "hosts/{name}/drain", .admin, "drain host", drain),
            .change(.post, "hosts/{name}/undrain", .admin, "undrain host", undrain),
        ]
    }

    @Sendable private func ready(_ request: Request, _ context: ServerContext) async throws -> Response {
        do throws(ReelFailure) {
            try await store.check()
            try await jobs.reach()
            try await jobs.join()
        } catch {
            if case .storeMissing = error.reason { throw Problem.storeAway(error) }
            // Callers without a token need not know the places of Redis and the store.
            guard context.caller.role == nil else { throw error }
            throw Problem(
                .serviceUnavailable, error.reason.code, "The server is not ready",
                detail: "Redis or the store cannot be reached.", retryAfter: 5)
        }
        return try JSONAnswer.response(["status": "ok"])
    }

    private struct WorkersView: Encodable {
        var workers: [WorkerView]
        /// Some may have no worker now.
        var drainedHosts: [String]
    }

    private struct CountsView: Encodable {
        /// The jobs on the board, by their states.
        var states: [String: Int]
    }

    private struct DrainView: Encodable {
        var name: String
        var drained: Bool
        /// What is drained; missing if nothing is.
        var scope: DrainScope?
        /// Live workers that are told.
        var workers: Int?
    }

    @Sendable private func drain(_ request: Request, _ context: ServerContext) async throws -> Response {
        let name = try context.part("name")
        switch try await jobs.drain(name) {
        case .drained(let name, let scope, let workers):
            return try JSONAnswer.response(DrainView(name: name, drained: true, scope: scope, workers: workers))
        case .gone:
            throw Problem(
                .conflict, "worker-gone", "The worker is gone",
                detail: "\(name) has not beaten for longer than a lease: there is nothing to drain.")
        }
    }

    @Sendable private func undrain(_ request: Request, _ context: ServerContext) async throws -> Response {
        let name = try context.part("name")
        switch try await jobs.undrain(name) {
        case .undrained(let name, let scope, _):
            return try JSONAnswer.response(DrainView(name: name, drained: false, scope: scope))
        case .wasNotDrained(let name): return try JSONAnswer.response(DrainView(name: name, drained: false))
        case .hostIsDrained(let worker, let host):
            throw Problem(
                .conflict, "host-drained", "The worker's host is drained",
                detail: "\(worker.text) stays drained until its host \(host) is undrained.")
        }
    }
}

extension PrometheusText {
    /// The figures of a board and a store. The number of lines does not depend on jobs or passes.
    ///
    /// - Parameters:
    ///   - board: nil if Redis cannot be reached.
    ///   - isStoreThere: whether the store is at its place and answers.
    ///   - freeBytes: room in the store; nil if it is unknown.
    fileprivate init(_ board: MetricsView?, isStoreThere: Bool, freeBytes: Int64?) {
        self.init()
        add("reel_build_info", .gauge, "The release of this server.", [([("version", Release.version)], 1)])
        add("reel_redis_up", .gauge, "Whether Redis answers.", board == nil ? 0 : 1)
        add("reel_store_up", .gauge, "Whether the store is at its place and answers.", isStoreThere ? 1 : 0)
        if let freeBytes { add("reel_store_free_bytes", .gauge, "Room in the store.", Double(freeBytes)) }
        guard let board else { return }
        add("reel_redis_memory_bytes", .gauge, "Memory that Redis uses.", Double(board.redisMemoryBytes))
        if let limit = board.redisMemoryLimitBytes {
            add("reel_redis_memory_limit_bytes", .gauge, "Memory that Redis may use.", Double(limit))
        }
        add("reel_jobs", .gauge, "Jobs on the board.", labelled("state", board.jobs))
        add("reel_jobs_ended_total", .counter, "Jobs that ended.", labelled("outcome", board.jobsEnded))
        add("reel_passes", .gauge, "Passes of jobs that have not ended.", labelled("state", board.passes))
        add(
            "reel_pass_attempts_total", .counter, "Attempts at passes that ended.",
            board.passAttempts.map { ([("outcome", $0.outcome), ("cause", $0.cause ?? "")], Double($0.count)) })
        histogram("reel_pass_duration_seconds", "Time of passes from claim to result.", board.passDuration)
        histogram("reel_pass_wait_seconds", "Time for which passes waited until they were claimed.", board.passWait)
        add("reel_frames_decoded_total", .counter, "Frames that finished passes decoded.", Double(board.framesDecoded))
        add("reel_frames_encoded_total", .counter, "Frames that finished passes encoded.", Double(board.framesEncoded))
        add("reel_output_bytes_total", .counter, "Bytes of the outputs that were made.", Double(board.outputBytes))
        add("reel_leases_lost_total", .counter, "Leases that lapsed.", Double(board.leasesLost))
        add(
            "reel_webhooks_total", .counter, "Attempts to send webhooks, by what followed.",
            labelled("outcome", board.webhooks))
        add(
            "reel_oldest_ready_pass_seconds", .gauge,
            "How long the pass that waits longest has been ready; 0 if none is.", board.oldestReadySeconds ?? 0)
        add("reel_slots", .gauge, "Slots of live workers.", labelled("state", board.slots))
        add("reel_workers", .gauge, "Workers that have beaten within a lease.", Double(board.workers))
    }

    private func labelled(_ name: String, _ counts: [String: Int]) -> [Sample] {
        counts.sorted { $0.key < $1.key }.map { ([(name, $0.key)], Double($0.value)) }
    }

    private mutating func histogram(_ name: String, _ help: String, _ view: MetricsView.HistogramView) {
        addHistogram(name, help, buckets: view.buckets.map { ($0.le, $0.count) }, sum: view.sum, count: view.count)
    }
}
