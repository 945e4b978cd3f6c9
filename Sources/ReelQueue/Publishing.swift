package import ReelCore

/// The answer of `Board.publish`.
package enum Published: String, Sendable {
    /// The job runs, and the planning has ended; also if this claim had published the job before.
    case published
    /// The claim does not hold the planning any more: another process makes the plan.
    case lost
    /// A user cancelled the job meanwhile.
    case cancelled
}

/// The result of a finished pass, with the token that recorded it.
package struct RecordedResult: Hashable, Sendable {
    package var token: String
    package var result: PassResult

    package init(token: String, result: PassResult) {
        self.token = token
        self.result = result
    }
}

extension RedisBoard {
    package func publish(
        _ job: BoardJob, finished: [Int: RecordedResult], claim: Claim, paused: Bool
    ) throws(ReelFailure) -> Published {
        guard job.plan > 0, let hash = job.planHash, job.id == claim.job else {
            throw ReelFailure(.jobContradictory(job: job.id, fault: .plan))
        }
        guard BoardJob.passCounts.contains(job.passCount), let audioPasses = job.audioPasses,
            (0...job.passCount).contains(audioPasses), finished.keys.allSatisfy((0..<job.passCount).contains)
        else {
            throw ReelFailure(.jobContradictory(job: job.id, fault: .passCount))
        }
        try job.check()
        var totals = Totals()
        var (results, diagnostics): ([String], [String]) = ([], [])
        for (index, recorded) in finished.sorted(by: { $0.key < $1.key }) {
            totals.add(recorded.result.statistics)
            results += [String(index), "\(recorded.token) \(try JSON.text(recorded.result))"]
            if !recorded.result.diagnostics.isEmpty {
                diagnostics += [String(index), try JSON.lines(recorded.result.diagnostics)]
            }
        }
        let register = totals.numbers(of: finished.count).joined(separator: " ")
        return try transition(
            "publish",
            [
                job.id.text, claim.token, try JSON.text(job), String(job.plan), String(job.passCount),
                String(job.need), String(job.protocolVersion), job.encoders.joined(separator: "\n"),
                String(job.share), timing.retentionText, String(job.frames), String(job.encodingEffort),
                paused ? "1" : "0", String(audioPasses), hash, register, String(finished.count),
            ] + results + diagnostics
        ).value()
    }
}
