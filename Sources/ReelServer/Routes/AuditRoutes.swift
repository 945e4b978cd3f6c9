internal import Hummingbird
internal import ReelCore
internal import ReelJobs
internal import ReelQueue

/// The audit log: who had a server change what.
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
        /// Seconds since 1970.
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
        let place = try request.query("cursor").map { text in
            guard let place = BoardEvent.Place(text) else {
                throw Problem.parameter("cursor", "It is none that this server gave.")
            }
            return place
        }
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
