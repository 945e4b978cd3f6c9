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
    package func begin(_ job: BoardJob, holder: WorkerID) throws(ReelFailure) -> Begun {
        try job.check()
        let (job, token) = (job.withoutPlan, RedisBoard.makeToken())
        let reply = try transition(
            "begin",
            [
                job.id.text, try JSON.text(job), String(job.need), String(job.protocolVersion), String(job.share),
                timing.retentionText, timing.leaseText, token, holder.text,
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
            "attend", [job.text, waiter, claim?.token ?? "", timing.leaseText, timing.retentionText])
        if reply == .none { return nil }
        var parts = try ReplyReader(reply)
        let attendance = Attendance(
            state: try parts.value(), holds: try parts.integer() == 1, isFree: try parts.integer() == 1)
        try parts.end()
        return attendance
    }

    package func leave(_ job: JobID, waiter: String, claim: Claim?, abandoning: Bool) throws(ReelFailure) -> Departure {
        let reply = try transition(
            "leave",
            [job.text, waiter, claim?.token ?? "", abandoning ? "1" : "0", timing.leaseText, timing.retentionText])
        return switch try reply.text() {
        case "stays": .stays
        case "remove": .remove(Removal(holder: waiter))
        default: throw reply.surprise
        }
    }
}
