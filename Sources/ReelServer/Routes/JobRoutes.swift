internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import ReelCore
internal import ReelJobs
internal import ReelQueue
internal import ReelStore

struct JobRoutes {
    let jobs: JobService
    let access: StoreAccess
    let limits: TokenLimits

    /// The most jobs, passes or failures of an answer.
    static let mostItems = 500

    var routes: [Route] {
        // The board knows most of a job without the store.
        let ofBoardAlone = JobRoutes(jobs: jobs.withoutStore, access: access, limits: limits).looking
        return zip(looking, ofBoardAlone).map { $0.usingStore(orElse: $1.handler) }
            + changing.map { $0.usingStore() } + [.change(.patch, "jobs/{id}", .operator, "change", patch)]
    }

    private var looking: [Route] {
        [
            .get("jobs", .viewer, list),
            .get("jobs/{id}") { _, context in try JSONAnswer.response(try await jobs.view(context.job(jobs))) },
            .get("jobs/{id}/strip", .viewer, strip),
            .get("jobs/{id}/passes", .viewer, passes),
            .get("jobs/{id}/failures", .viewer, failures),
        ]
    }

    private var changing: [Route] {
        [
            .change(.post, "jobs/{id}/cancel", .operator, "cancel") { _, context in
                try await changed(context) { job throws(ReelFailure) in
                    if case .hadEnded(let state) = try await jobs.cancel(job), state != .cancelled {
                        throw ReelFailure(.jobEnded(job: job, state: state))
                    }
                }
            },
            .change(.post, "jobs/{id}/retry", .operator, "retry", makesFiles: true) { _, context in
                // The job counts for its submitter's token, whichever token retries it.
                let submitter = await jobs.submitter(of: try context.job(jobs))
                return try await limits.beginningJob(
                    of: submitter.map(TokenLimits.name(ofSubmitter:)) ?? context.caller.name
                ) {
                    try await changed(context) { job throws(ReelFailure) in _ = try await jobs.retry(job) }
                }
            },
            .change(.post, "jobs/{id}/pause", .operator, "pause") { _, context in
                try await changed(context) { job throws(ReelFailure) in _ = try await jobs.pause(job) }
            },
            .change(.post, "jobs/{id}/resume", .operator, "resume") { _, context in
                try await changed(context) { job throws(ReelFailure) in _ = try await jobs.resume(job) }
            },
            .change(.delete, "jobs/{id}", .admin, "remove") { _, context in
                _ = try await jobs.remove(context.job(jobs))
                return Response(status: .noContent)
            },
        ]
    }

    // MARK: Looking

    private struct JobsView: Encodable {
        /// The latest first.
        var jobs: [JobView]
        /// Where the next page begins; missing if there are no more.
        var next: String?
        var unreadable: [QueueView.UnreadableView]
    }

    @Sendable private func list(_ request: Request, _ context: ServerContext) async throws -> Response {
        try request.refuseParameters(except: "state", "label", "q", "limit", "cursor")
        let states: [JobFilter.State] = try request.query(all: "state").map { try request.value($0, of: "state") }
        let labels: [String: String]
        do { labels = try Submission.labels(request.query(all: "label")) } catch {
            throw Problem.parameter("label", "It takes NAME=VALUE, as project=trailer, each name once.")
        }
        let place = try request.cursor { JobPlace($0) }
        let page = try await jobs.page(
            JobFilter(states: Set(states), labels: labels), matching: request.query("q"), before: place,
            count: request.query("limit", 1...JobRoutes.mostItems) ?? 50)
        return try JSONAnswer.response(
            JobsView(
                jobs: page.jobs, next: page.next?.description,
                unreadable: QueueView.UnreadableView.all(page.unreadable)))
    }

    @Sendable private func strip(_ request: Request, _ context: ServerContext) async throws -> Response {
        try request.refuseParameters(except: "cells")
        let job = try await context.job(jobs)
        let cells = try request.query("cells", 1...1000) ?? 100
        let strip = try await jobs.strip(job, cells: cells)
        let views = (strip?.cells ?? []).map { cell in
            ["passes": cell.passes, "done": cell.done, "live": cell.live, "failed": cell.failed]
        }
        return try JSONAnswer.response(["cells": views])
    }

    @Sendable private func passes(_ request: Request, _ context: ServerContext) async throws -> Response {
        try request.refuseParameters(except: "state", "cursor", "limit")
        let state: JobPass.State? = try request.query("state").map { try request.value($0, of: "state") }
        let first = try request.query("cursor", 0...Int(Int32.max)) ?? 0
        let limit = try request.query("limit", 1...JobRoutes.mostItems) ?? 100
        return try JSONAnswer.response(
            try await jobs.passes(of: context.job(jobs), in: state, from: first, limit: limit))
    }

    private struct FailuresView: Encodable {
        var failures: [FailureView]
        var next: String?
    }

    @Sendable private func failures(_ request: Request, _ context: ServerContext) async throws -> Response {
        try request.refuseParameters(except: "cursor", "limit")
        let first = try request.query("cursor", 0...Int(Int32.max)) ?? 0
        let limit = try request.query("limit", 1...JobRoutes.mostItems) ?? 100
        let all = try await jobs.view(context.job(jobs)).failures
        let page = all.dropFirst(first).prefix(limit)
        return try JSONAnswer.response(
            FailuresView(
                failures: Array(page), next: first + page.count < all.count ? String(first + page.count) : nil))
    }

    // MARK: Changing

    /// Changes a job, and answers with the job as it is then.
    private func changed(
        _ context: ServerContext, _ change: (JobID) async throws(ReelFailure) -> Void
    ) async throws -> Response {
        let job = try await context.job(jobs)
        try await change(job)
        return try JSONAnswer.response(try await jobs.view(job))
    }

    @Sendable private func patch(_ request: Request, _ context: ServerContext) async throws -> Response {
        let body = try await JSONBody.read(request, .few).place.object(knows: ["weight", "labels", "name"])
        let weight = try body.known("weight").map(JobRequest.weight)
        let name = try body["name"].map { place in
            if case .null = place.value { nil as String? } else { try JobRequest.name(place) }
        }
        let labels = try body.known("labels").map(JobRequest.labels)
        let isLarge = try await access.use { try await jobs.isLarge(context.job(jobs)) }
        return try await access.use(isLarge: isLarge) {
            try await changed(context) { job throws(ReelFailure) in
                if let weight { _ = try await jobs.weigh(job, weight) }
                if name != nil || labels != nil { try await jobs.describe(job, name: name, labels: labels) }
            }
        }
    }
}
