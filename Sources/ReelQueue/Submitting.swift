package import ReelCore

/// The answer of `Board.begin`.
package enum Begun: Hashable, Sendable {
    /// The job is on the board, and the caller holds its planning: it makes index and plan, then publishes.
    case begun(Claim)
    /// Another process holds the planning, or a user paused the job.
    case probing
    /// The job has a plan, and is running or assembling.
    case running
    /// The job is being removed: ask again.
    case busy
}

/// A job's state for a process that waits for it.
package struct Attendance: Hashable, Sendable {
    package var state: JobState
    /// Whether the caller's claim still holds the planning.
    package var holds: Bool
    /// Whether `begin` would get the planning: it has no holder and waits for no retry, and the job is not paused.
    package var isFree: Bool

    package init(state: JobState, holds: Bool, isFree: Bool) {
        self.state = state
        self.holds = holds
        self.isFree = isFree
    }
}

/// The answer of `Board.leave`.
package enum Departure: Hashable, Sendable {
    /// The job stays on the board.
    case stays
    /// The job has ended, and no other process waits for it. It cannot begin again until a lease has passed: the caller
    /// removes it from the store, then calls `Board.forget` with this removal.
    case remove(Removal)
}

/// Names the process that removes a job.
package struct Removal: Hashable, Sendable {
    package let holder: String

    package init(holder: String) { self.holder = holder }
}

extension RedisBoard {
    package func begin(_ job: BoardJob, holder: WorkerID, submission: String?) throws(ReelFailure) -> Begun {
        try job.check()
        let (job, token) = (job.withoutPlan, RedisBoard.makeToken())
        let reply = try transition([
            "begin", job.id.text, try JSON.text(job), String(job.need), String(job.protocolVersion),
            String(job.share), timing.retentionText, timing.leaseText, token, holder.text,
            job.run.map(String.init) ?? "", submission ?? "",
        ])
        return switch reply {
        case .integer(let need):
            .begun(
                Claim(
                    job: job.id, index: BoardJob.planningIndex, work: .planning, token: token, need: Int64(need),
                    plan: 0))
        case .string("probing"): .probing
        case .string("running"): .running
        case .string("busy"): .busy
        default: throw reply.surprise
        }
    }

    package func attend(_ job: JobID, waiter: String, claim: Claim?) throws(ReelFailure) -> Attendance? {
        let reply = try transition(
            ["attend", job.text, waiter, claim?.token ?? "", timing.leaseText, timing.retentionText])
        if reply == .none { return nil }
        var parts = try ReplyReader(reply)
        let attendance = Attendance(
            state: try parts.value(), holds: try parts.integer() == 1, isFree: try parts.integer() == 1)
        try parts.end()
        return attendance
    }

    package func leave(_ job: JobID, waiter: String, claim: Claim?, abandoning: Bool) throws(ReelFailure) -> Departure {
        let reply = try transition([
            "leave", job.text, waiter, claim?.token ?? "", abandoning ? "1" : "0", timing.leaseText,
            timing.retentionText,
        ])
        return switch try reply.text() {
        case "stays": .stays
        case "remove": .remove(Removal(holder: waiter))
        default: throw reply.surprise
        }
    }
}

/// The answer of `Board.publish`.
package enum Published: String, Sendable {
    /// The job runs, or is done, and the planning has ended; also if this claim had published the job before.
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
            (0...job.passCount).contains(audioPasses), finished.keys.allSatisfy((0...job.passCount).contains),
            finished[job.passCount] == nil || finished.count == job.passCount + 1
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
        let outputBytes = finished[job.passCount]?.result.statistics.outputBytes ?? 0
        let register = totals.numbers(of: finished.count).joined(separator: " ")
        return try transition(
            [
                "publish", job.id.text, claim.token, try JSON.text(job), String(job.plan), String(job.passCount),
                String(job.need), String(job.protocolVersion), job.encoders.joined(separator: "\n"),
                String(job.share), timing.retentionText, String(job.frames), String(job.encodingEffort),
                paused ? "1" : "0", String(audioPasses), hash, register, String(outputBytes), String(finished.count),
            ] + results + diagnostics
        ).value()
    }

    package func cancel(_ job: JobID) throws(ReelFailure) -> Bool {
        try transition(["cancel", job.text, timing.retentionText]).flag()
    }

    package func pause(_ job: JobID) throws(ReelFailure) -> JobState? { try setPause(job, "1") }

    package func resume(_ job: JobID) throws(ReelFailure) -> JobState? { try setPause(job, "0") }

    private func setPause(_ job: JobID, _ pauses: String) throws(ReelFailure) -> JobState? {
        try transition(["pause", job.text, pauses, timing.retentionText]).present?.value()
    }

    package func weigh(_ job: JobID, _ weight: Double) throws(ReelFailure) -> JobState? {
        try BoardJob.check(weight, of: job)
        return try transition(["weigh", job.text, String(weight)]).present?.value()
    }

    @discardableResult
    package func describe(_ job: JobID, _ submission: String) throws(ReelFailure) -> Bool {
        try transition(["describe", job.text, submission]).flag()
    }

    package func retry(_ job: JobID, run: Int?) throws(ReelFailure) -> JobState? {
        let reply = try transition(["retry", job.text, timing.retentionText, run.map(String.init) ?? ""])
        return try reply == .string("ok") ? .failed : reply.present?.value()
    }

    package func forget(_ job: JobID, removal: Removal?) throws(ReelFailure) {
        let reply = try transition(["forget", job.text, removal?.holder ?? ""])
        if reply != .string("ok") { throw ReelFailure(.jobNotEnded(job: job, state: try reply.value())) }
    }
}
