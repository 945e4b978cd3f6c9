internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import ReelCore
internal import ReelJobs
internal import ReelStore

struct FileRoutes {
    let jobs: JobService
    /// The folders whose files can be submitted, and that of uploads.
    let sources: SourceRoots
    private let compared = ComparedFiles()

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
        let answer = FileAnswer(
            file: try result.open(), name: name, sha256: result.recorded.sha256, compared: compared, isAttachment: true)
        return try answer.response(to: request)
    }

    @Sendable private func source(_ request: Request, _ context: ServerContext) async throws -> Response {
        let job = try await context.job(jobs)
        let source: (file: OpenFile, name: String)
        do throws(ReelFailure) {
            source = try await jobs.source(of: job, within: sources)
        } catch {
            guard error.kind == .input else { throw error }
            // It was moved, the upload has expired, or it lies outside this server's folders.
            throw Problem(
                .notFound, error.reason.code, "The source is not there", detail: "This server cannot send it any more.")
        }
        let answer = FileAnswer(file: source.file, name: source.name, sha256: nil, isAttachment: false)
        return try answer.response(to: request)
    }
}

/// Pictures of jobs for people: frames and filmstrips.
struct PictureRoutes {
    let jobs: JobService
    let pictures: JobPictures

    /// Pictures that take longer are made all the same, for the next request.
    private static let limit = Duration.seconds(20)

    var routes: [Route] {
        [
            .get("jobs/{id}/frames/{side}/{n}.jpg", .viewer, limit: PictureRoutes.limit) { request, context in
                let text = try context.parameters.require("n")
                guard let frame = Int(text), frame >= 0, String(frame) == text else {
                    throw PictureRoutes.missing("frame-unknown", "A frame is a number from 0 on; this is \(text).")
                }
                return try await answer(.frame(frame), request, context)
            }.usingStore(),
            .get("jobs/{id}/filmstrip/{side}.jpg", .viewer, limit: PictureRoutes.limit) { request, context in
                try await answer(.filmstrip, request, context)
            }.usingStore(),
        ]
    }

    private func answer(
        _ wanted: JobPictures.Wanted, _ request: Request, _ context: ServerContext
    ) async throws -> Response {
        let text = try context.parameters.require("side")
        guard let side = JobPictures.Side(rawValue: text) else {
            throw PictureRoutes.missing("side-unknown", "There are pictures of source and output; this is \(text).")
        }
        let job = try await context.job(jobs)
        do {
            let picture = try await pictures.picture(wanted, of: side, job)
            let answer = FileAnswer(file: picture, name: "\(text).jpg", sha256: nil, isAttachment: false)
            return try answer.response(to: request)
        } catch let absence as PictureAbsence {
            throw PictureRoutes.problem(absence)
        } catch let failure as ReelFailure where failure.kind == .input {
            // The source was moved or cannot be read, or its upload has expired.
            throw PictureRoutes.missing(failure.reason.code, "The file that it would show cannot be read any more.")
        }
    }

    private static func problem(_ absence: PictureAbsence) -> Problem {
        switch absence {
        case .notYet:
            Problem(
                .serviceUnavailable, "picture-not-yet", "The picture is not there yet",
                detail: "What it would show has not been read or made yet.", retryAfter: 5)
        case .busy:
            Problem(
                .serviceUnavailable, "pictures-busy", "Too many pictures are waited for",
                detail: "Ask for it again in a moment.", retryAfter: 5)
        case .beyond(let frames):
            missing("frame-unknown", "There are \(frames) frames, counted from 0.")
        case .none:
            missing("picture-missing", "The job ended without what it would show.")
        }
    }

    private static func missing(_ code: String, _ detail: String) -> Problem {
        Problem(.notFound, code, "There is no such picture", detail: detail)
    }
}
