internal import Foundation
internal import Hummingbird
internal import ReelCore
internal import ReelJobs
internal import ReelStore

/// Results and sources, byte for byte.
struct FileRoutes {
    let jobs: JobService
    /// The folders whose files can be submitted, and that of uploads.
    let sources: SourceRoots
    private let compared = ComparedFiles()

    init(jobs: JobService, sources: SourceRoots) { (self.jobs, self.sources) = (jobs, sources) }

    var routes: [Route] {
        [
            .get("jobs/{id}/output", .operator, limit: nil, output).usingStore(),
            .get("jobs/{id}/source", .operator, limit: nil, source).usingStore(),
        ]
    }

    @Sendable private func output(_ request: Request, _ context: ServerContext) async throws -> Response {
        let job = try await context.job(jobs)
        let results = try jobs.results()
        let result = try await results.result(of: job)
        let name = try await URL(fileURLWithPath: results.path(of: job, asked: nil)).lastPathComponent
        return try FileAnswer(
            try result.open(), name: name, sha256: result.recorded.sha256, compared: compared, isAttachment: true
        ).response(to: request)
    }

    @Sendable private func source(_ request: Request, _ context: ServerContext) async throws -> Response {
        let job = try await context.job(jobs)
        let source: (file: OpenFile, name: String)
        do throws(ReelFailure) {
            source = try await jobs.source(of: job, within: sources)
        } catch {
            guard error.kind == .input else { throw error }
            // It was moved, the upload has expired, or it lies where this server sends nothing from.
            throw Problem(
                .notFound, error.reason.code, "The source is not there", detail: "This server cannot send it any more.")
        }
        return try FileAnswer(source.file, name: source.name, sha256: nil, isAttachment: false).response(to: request)
    }
}
