internal import Hummingbird
internal import ReelCore
internal import ReelJobs
internal import ReelStore

/// Whether the server lives, and whether it can serve.
struct HealthRoutes {
    let jobs: JobService
    let store: any JobStore

    var routes: [Route] {
        [
            .get("health", nil) { _, _ in try JSONAnswer.response(["status": "ok"]) },
            .get("ready", nil, limit: .seconds(10)) { _, context in
                do throws(ReelFailure) {
                    try await store.check()
                    try await jobs.reach()
                    try await jobs.join()
                } catch {
                    if case .storeMissing = error.reason { throw Problem.storeAway(error) }
                    // Where Redis and the store are is nothing for strangers.
                    guard context.caller.role == nil else { throw error }
                    throw Problem(
                        .serviceUnavailable, error.reason.code, "The server is not ready",
                        detail: "Redis or the store cannot be reached.", retryAfter: 5)
                }
                return try JSONAnswer.response(["status": "ok"])
            }.usingStore(),
        ]
    }
}
