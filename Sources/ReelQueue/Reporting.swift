package import ReelCore

/// The answer of `Board.complete`.
package enum CompleteAnswer: String, Sendable {
    /// The result was recorded.
    case ok
    /// The same call was applied before, and its reply was lost.
    case duplicate
    /// The result does not count, for instance because another worker's was recorded first. Its segments can be
    /// removed.
    case late
    /// The job has ended without this pass.
    case cancelled
}

/// The answer of `Board.fail`.
package enum FailAnswer: String, Sendable {
    /// The pass will be tried again.
    case retry
    /// The pass will be tried again, but it has crashed on two hosts by now: the job is at fault and not the worker.
    case jobAtFault = "job-at-fault"
    /// The job failed with this attempt.
    case jobFailed = "job-failed"
    /// The claim no longer held the pass.
    case late

    /// Whether the job is known to be at fault and not the worker. The crash then says nothing about the worker's slot.
    package var blamesJob: Bool { self == .jobAtFault || self == .jobFailed }
}

extension RedisBoard {
    package func complete(_ claim: Claim, worker: WorkerID, result: PassResult) throws(ReelFailure) -> CompleteAnswer {
        let statistics = result.statistics
        return try transition(
            "complete",
            [
                claim.job.text, String(claim.index), claim.token, worker.text, String(claim.plan),
                try JSON.text(result), try JSON.lines(result.diagnostics), String(statistics.framesDecoded),
                String(statistics.framesEncoded), String(statistics.peakRSS), timing.leaseText, timing.retentionText,
                String(Int(statistics.cpuSeconds * 1000)), String(statistics.outputBytes ?? 0),
            ]
        ).value()
    }

    package func fail(
        _ claim: Claim, worker: WorkerID, failure: ReelFailure, as cause: FailureCause?
    ) throws(ReelFailure) -> FailAnswer {
        try transition(
            "fail",
            [
                claim.job.text, String(claim.index), claim.token, worker.text, String(claim.plan),
                (cause ?? failure.cause).rawValue, try JSON.text(failure), timing.leaseText,
                String(timing.backoff.milliseconds), timing.retentionText,
            ]
        ).value()
    }

    package func disprove(_ claim: Claim, worker: WorkerID, job: BoardJob) throws(ReelFailure) -> Bool {
        let job = job.withoutPlan
        let reply = try transition(
            "disprove",
            [
                claim.job.text, String(claim.index), claim.token, worker.text, String(claim.plan),
                try JSON.text(job), String(job.need), String(job.share),
            ])
        return switch try reply.text() {
        case "probing": true
        case "late": false
        default: throw reply.surprise
        }
    }

    @discardableResult
    package func invalidate(
        _ job: JobID, passes: [(index: Int, token: String)], plan: Int, by worker: WorkerID, reason: ReelFailure
    ) throws(ReelFailure) -> Int {
        var taken = 0
        for start in stride(from: 0, to: passes.count, by: 200) {
            let part = passes[start..<min(start + 200, passes.count)]
            taken += try transition(
                "invalidate",
                [job.text, String(plan), worker.text, try JSON.text(reason), timing.retentionText]
                    + part.flatMap { [String($0.index), $0.token] }
            ).count()
        }
        // Without this, readers would add up all results until the next audit.
        if taken > 0 { try tally(job) }
        return taken
    }

    @discardableResult
    package func readmit(_ worker: WorkerID, to jobs: [JobID]) throws(ReelFailure) -> Int {
        try transition("readmit", [worker.text] + jobs.map(\.text)).count()
    }
}
