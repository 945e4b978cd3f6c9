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
    /// The token of the claim that made the result.
    package var token: String
    /// The pass's result.
    package var result: PassResult

    package init(token: String, result: PassResult) {
        self.token = token
        self.result = result
    }
}

extension RedisBoard {
    package func publish(
        _ job: BoardJob, passes: [Pass], finished: [Int: RecordedResult], claim: Claim, paused: Bool
    ) throws(ReelFailure) -> Published {
        guard passes.count == job.passCount else {
            throw ReelFailure(.jobContradictory(job: job.id, fault: .passCount))
        }
        guard job.plan > 0, job.id == claim.job else {
            throw ReelFailure(.jobContradictory(job: job.id, fault: .plan))
        }
        try job.check()
        // A claim that no longer holds the planning asks all the same: it may have published, and the answer was lost.
        if try upload(passes, of: claim), try restore(finished, of: claim), !finished.isEmpty { _ = try tally(job.id) }
        let reply = try transition(
            "publish",
            [
                job.id.text, claim.token, try JSON.text(job), String(job.plan), String(job.passCount),
                String(job.need), String(job.protocolVersion), job.encoders.joined(separator: "\n"),
                String(job.share), timing.retentionText, String(job.frames), String(job.encodingEffort),
                paused ? "1" : "0",
            ])
        guard reply != .string("incomplete") else { throw ReelFailure(.passesVanished(job: job.id)) }
        return try reply.value()
    }

    /// Returns false if the claim does not hold the planning.
    private func upload(_ passes: [Pass], of claim: Claim) throws(ReelFailure) -> Bool {
        let batch = 500
        // Without passes one call is made all the same: it removes what an earlier publisher left.
        for start in stride(from: 0, to: max(passes.count, 1), by: batch) {
            var arguments = [claim.job.text, claim.token, timing.leaseText, start == 0 ? "1" : "0"]
            for index in start..<min(start + batch, passes.count) {
                arguments += [String(index), WorkKind(passes[index]).rawValue, try JSON.text(passes[index])]
            }
            guard try transition("upload", arguments).flag() else { return false }
        }
        return true
    }

    /// Returns false if the claim does not hold the planning.
    private func restore(_ finished: [Int: RecordedResult], of claim: Claim) throws(ReelFailure) -> Bool {
        let batch = 200
        let entries = finished.sorted { $0.key < $1.key }
        for start in stride(from: 0, to: entries.count, by: batch) {
            var arguments = [claim.job.text, claim.token, timing.leaseText]
            for (index, recorded) in entries[start..<min(start + batch, entries.count)] {
                arguments += [
                    String(index), "\(recorded.token) \(try JSON.text(recorded.result))",
                    try JSON.lines(recorded.result.diagnostics),
                ]
            }
            guard try transition("restore", arguments).flag() else { return false }
        }
        return true
    }
}
