internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import ReelCore
internal import ReelJobs

/// Making jobs.
struct SubmitRoutes {
    let server: Server

    var routes: [Route] {
        [
            .change(.post, "jobs", .operator, "submit", submit),
            // It changes nothing, but reads the source with an engine.
            Route(method: .post, path: "plan", role: .operator, action: nil, limit: nil, handler: plan),
        ]
    }

    /// How long a plan may take; then the caller is told to ask again.
    private static let planLimit = Duration.seconds(60)

    private func job(_ request: Request, _ context: ServerContext) async throws -> JobRequest {
        let body = try await JSONBody.read(request, most: JobRequest.mostBytes)
        let submitter = "\(context.caller.name ?? "reel-server")@\(ProcessInfo.processInfo.hostName)"
        return try JobRequest(body, sources: server.settings.sources, submitter: submitter)
    }

    @Sendable private func submit(_ request: Request, _ context: ServerContext) async throws -> Response {
        let job = try await job(request, context)
        let posted = try await server.jobs.post(job.record)
        var response = try JSONAnswer.response(
            try await server.jobs.view(posted.id), posted.isNew ? .created : .ok)
        response.headers[.location] = "\(server.settings.basePath)/api/v1/jobs/\(posted.id)"
        return response
    }

    @Sendable private func plan(_ request: Request, _ context: ServerContext) async throws -> Response {
        let job = try await job(request, context)
        let prepared = try await Responder.within(SubmitRoutes.planLimit) { [server] in
            try await JobService.prepare(job.record, engine: server.engine, quotas: server.settings.quotas)
        }
        return try JSONAnswer.response(prepared.view)
    }
}
