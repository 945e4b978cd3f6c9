internal import Foundation
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
    /// The job's state.
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

/// The answer of a beat about one pass that the worker holds.
package enum LeaseAnswer: String, Sendable {
    /// The worker still holds the pass, and its lease was extended.
    case ok
    /// The worker no longer holds the pass, and another may: it kills the engine and discards the work.
    case lost
    /// The job has ended: the worker kills the engine.
    case cancel
}

/// The answer of `Board.beat`.
package struct BeatReply: Sendable {
    /// For each held pass, by token, whether the worker still holds it.
    package var answers: [String: LeaseAnswer]
    /// What of the worker a user has drained, so that it is given nothing; nil if nothing.
    package var drained: DrainScope?

    package init(answers: [String: LeaseAnswer], drained: DrainScope?) {
        self.answers = answers
        self.drained = drained
    }
}

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

/// Jobs of the board, with the unreadable ones apart.
package struct JobList: Hashable, Sendable {
    /// The jobs that can be read.
    package var jobs: [JobStatus] = []
    /// The failure of each job that cannot be read, by id. None of their passes is given out; the jobs can be
    /// cancelled and removed.
    package var unreadable: [JobID: ReelFailure] = [:]

    package init(jobs: [JobStatus] = [], unreadable: [JobID: ReelFailure] = [:]) {
        self.jobs = jobs
        self.unreadable = unreadable
    }
}

/// The outcome of an audit of the board.
package struct Audit: Hashable, Sendable {
    /// Jobs that were audited, the unreadable ones included.
    package var jobs = 0
    /// Contradictions that were repaired.
    package var repairs = 0
    /// Jobs that have passes and nothing else: Redis came up without the rest of its log.
    package var lost: [JobID] = []
    /// Jobs that could not be audited, since something that the board holds of them cannot be read.
    package var unreadable: [JobID] = []

    package init(jobs: Int = 0, repairs: Int = 0, lost: [JobID] = [], unreadable: [JobID] = []) {
        self.jobs = jobs
        self.repairs = repairs
        self.lost = lost
        self.unreadable = unreadable
    }
}

/// The time by Redis's clock and by this machine's, in seconds since 1970. Either may be wrong.
package struct Clocks: Hashable, Sendable {
    /// Redis's clock.
    package var board: Double
    /// This machine's clock.
    package var host: Double

    package init(board: Double, host: Double) {
        self.board = board
        self.host = host
    }

    /// The earlier of the two. A time before it has passed by both clocks.
    package var earlier: Double { min(board, host) }

    /// The later of the two. Retention counts from it, so that nothing is removed too early if one clock is wrong.
    package var later: Double { max(board, host) }
}

extension Board {
    /// The later of both clocks' times, in seconds since 1970; this machine's if the board is out of reach.
    package func endOfNow() async -> Double { (try? await clocks().later) ?? Date().timeIntervalSince1970 }
}
