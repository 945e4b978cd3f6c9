internal import HTTPTypes
internal import Hummingbird
internal import ReelCore
internal import ReelJobs
internal import ReelQueue

/// Workers, their hosts, and the queue.
struct WorkerRoutes {
    let jobs: JobService

    var routes: [Route] {
        [
            .get("workers") { _, _ in
                try JSONAnswer.response(
                    WorkersView(workers: try await jobs.workers(), drainedHosts: try await jobs.drainedHosts()))
            },
            .get("demand") { _, _ in try JSONAnswer.response(try await jobs.demand()) },
            .get("rates") { _, _ in try JSONAnswer.response(try await jobs.rates()) },
            .get("queue") { _, _ in try JSONAnswer.response(try await jobs.queue()) }
                .usingStore { _, _ in try JSONAnswer.response(try await jobs.withoutStore.queue()) },
            .change(.post, "workers/{name}/drain", .admin, "drain worker", drain),
            .change(.post, "workers/{name}/undrain", .admin, "undrain worker", undrain),
            .change(.post, "hosts/{name}/drain", .admin, "drain host", drain),
            .change(.post, "hosts/{name}/undrain", .admin, "undrain host", undrain),
        ]
    }

    private struct WorkersView: Encodable {
        var workers: [WorkerView]
        /// Some may have no worker now.
        var drainedHosts: [String]
    }

    /// What a drain, or taking it back, led to.
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
