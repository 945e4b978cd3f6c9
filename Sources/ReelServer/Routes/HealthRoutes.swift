internal import Hummingbird
internal import ReelJobs

/// Whether the server lives, and whether it can serve.
struct HealthRoutes {
    let jobs: JobService

    var routes: [Route] {
        [
            .get("health", nil) { _, _ in try JSONAnswer.response(["status": "ok"]) },
            .get("ready", nil, limit: .seconds(10)) { _, _ in
                try await jobs.reach()
                try await jobs.join()
                return try JSONAnswer.response(["status": "ok"])
            },
        ]
    }
}
