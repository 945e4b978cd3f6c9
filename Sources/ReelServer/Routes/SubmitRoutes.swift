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
    let access: StoreAccess

    var routes: [Route] {
        [
            // A long body may take longer than the work on it, and has a limit of its own.
            .change(.post, "jobs", .operator, "submit", limit: nil, makesFiles: true, submit),
            // It changes nothing, but needs a role since an engine reads the source.
            Route(method: .post, path: "plan", role: .operator, action: nil, limit: nil, handler: plan),
        ]
    }

    /// How long a plan may take before the caller is told to ask again.
    private static let planLimit = Duration.seconds(60)

    private func job(_ body: JSONPlace, _ context: ServerContext) throws -> JobRequest {
        let submitter = "\(TokenLimits.name(context.caller.name))@\(ProcessInfo.processInfo.hostName)"
        let sources = RequestSources(folders: server.settings.sources, roots: server.sourceRoots) { id in
            try uploads.upload(id, context)
        }
        return try JobRequest(body, sources: sources, submitter: submitter, webhooks: server.settings.webhooks)
    }

    @Sendable private func submit(_ request: Request, _ context: ServerContext) async throws -> Response {
        let body = try await JSONBody.read(request, .job)
        return try await access.use(atMost: .seconds(60), isLarge: SubmitRoutes.makesLargeJob(request)) {
            try await post(job(body, context), context)
        }
    }

    /// Whether the job may be a large one; a body of unknown length may be.
    private static func makesLargeJob(_ request: Request) -> Bool {
        request.headers[.contentLength].flatMap { Int($0) } ?? .max > JobFolder.largeBytes
    }

    private func post(_ job: JobRequest, _ context: ServerContext) async throws -> Response {
        let posted = try await limits.beginningJob(of: context.caller.name, unless: { await isGoing(job.record.id) }) {
            try await server.jobs.post(job.record) { () throws(ReelFailure) in
                for (name, upload) in job.uploads { try server.uploads.give(upload, to: job.record.id, as: name) }
            }
        }
        var response = try JSONAnswer.response(try await server.jobs.view(posted.id), posted.isNew ? .created : .ok)
        response.headers[.location] = "\(server.settings.basePath)/api/v1/jobs/\(posted.id)"
        return response
    }

    /// Whether the job exists and would not begin anew if it were submitted again.
    private func isGoing(_ id: JobID) async -> Bool {
        guard let state = try? await server.jobs.view(id).state else { return false }
        return !state.isTerminal || state == .done
    }

    @Sendable private func plan(_ request: Request, _ context: ServerContext) async throws -> Response {
        let body = try await JSONBody.read(request, .job)
        return try await access.use(atMost: SubmitRoutes.planLimit, isLarge: SubmitRoutes.makesLargeJob(request)) {
            var record = try job(body, context).record
            // A plan reads the file at its place.
            for place in record.sources.indices { record.sources[place].staged = nil }
            let prepared = try await JobService.prepare(record, engine: server.engine, quotas: server.settings.quotas)
            return try JSONAnswer.response(prepared.view)
        }
    }
}
