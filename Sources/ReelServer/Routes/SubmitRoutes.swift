internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import ReelCore
internal import ReelJobs
internal import ReelStore

/// Making jobs.
struct SubmitRoutes {
    let server: Server
    let uploads: UploadRoutes
    let limits: TokenLimits

    var routes: [Route] {
        [
            .change(.post, "jobs", .operator, "submit", makesFiles: true, submit),
            // It changes nothing, but reads the source with an engine.
            Route(method: .post, path: "plan", role: .operator, action: nil, limit: nil, handler: plan),
        ]
    }

    /// How long a plan may take; then the caller is told to ask again.
    private static let planLimit = Duration.seconds(60)

    private func job(_ request: Request, _ context: ServerContext) async throws -> JobRequest {
        let body = try await JSONBody.read(request, .job)
        let submitter = "\(TokenLimits.name(context.caller.name))@\(ProcessInfo.processInfo.hostName)"
        let sources = RequestSources(folders: server.settings.sources, roots: server.sourceRoots) { id in
            try uploads.upload(id, context)
        }
        return try JobRequest(body, sources: sources, submitter: submitter, webhooks: server.settings.webhooks)
    }

    @Sendable private func submit(_ request: Request, _ context: ServerContext) async throws -> Response {
        let job = try await job(request, context)
        let folder = server.store.job(job.record.id)
        if !folder.exists {
            try await limits.admitJob(of: context.caller.name)
            try await limits.admitBytes(0, of: context.caller.name)
        }
        let posted = try await server.jobs.post(job.record) { () throws(ReelFailure) in
            for (name, upload) in job.uploads { try upload.give(to: folder, as: name) }
        }
        var response = try JSONAnswer.response(
            try await server.jobs.view(posted.id), posted.isNew ? .created : .ok)
        response.headers[.location] = "\(server.settings.basePath)/api/v1/jobs/\(posted.id)"
        return response
    }

    @Sendable private func plan(_ request: Request, _ context: ServerContext) async throws -> Response {
        var record = try await job(request, context).record
        // The file is read where it lies.
        for place in record.sources.indices { record.sources[place].staged = nil }
        let prepared = try await Responder.within(SubmitRoutes.planLimit) { [server, record] in
            try await JobService.prepare(record, engine: server.engine, quotas: server.settings.quotas)
        }
        return try JSONAnswer.response(prepared.view)
    }
}
