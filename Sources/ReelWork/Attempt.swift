internal import ReelCore
internal import ReelJobs
internal import ReelQueue

/// One attempt of this worker at what it has claimed.
struct Attempt: Sendable {
    let work: ClaimedWork
    private let begun = ContinuousClock.now

    init(_ work: ClaimedWork) { self.work = work }

    var claim: Claim { work.claim }

    var milliseconds: Int { Int((ContinuousClock.now - begun) / .milliseconds(1)) }

    /// Does a piece of the attempt's work. Cancels it and throws `.quotaExceeded` when the attempt's time is over.
    func timed<Result: Sendable>(
        _ allowance: PassAllowance, _ work: @escaping @Sendable () async throws -> Result
    ) async throws(ReelFailure) -> Result {
        guard let time = allowance.time else { return try await ReelFailure.unifying { try await work() } }
        return try await ReelFailure.limiting(until: begun + .seconds(time.seconds), orThrow: time.exceeded, work)
    }

    enum Outcome: Sendable {
        /// The result of a pass or an assembly, which the board does not know yet.
        case made(PassResult)
        /// Planning has put a plan with this number of passes on the board, or has done all of the job.
        case planned(passes: Int, isDone: Bool)
        case failed(ReelFailure)
    }
}

/// What follows from how an attempt ended.
enum Ending {
    /// The claim was lost: another worker may have it by now.
    case lost
    case cancelled
    /// The claim goes back to the board uncharged: this worker ends.
    case handedBack
    /// The board records the result.
    case made(PassResult)
    /// The board has the plan and its passes; with them it has taken the claim back. The job may be done with that.
    case planned(passes: Int, isDone: Bool)
    /// Results of passes are wrong: those are made again, and the assembly that has found it waits for them.
    case spoilt(ReelFailure)
    /// The job's plan is wrong: the job is planned anew. The context is that of the plan.
    case disproved(ReelFailure, JobContext)
    /// The board charges a failed attempt; the cause decides what follows.
    case failed(ReelFailure, as: FailureCause)

    /// The table of endings: the first row that fits counts.
    ///
    /// - Parameter reason: why the attempt had to stop; nil if it could have gone on.
    init(_ outcome: Attempt.Outcome, of work: ClaimedWork, stopped reason: StopReason?) {
        self =
            switch (outcome, reason, work.context) {
            // Publishing is the last step of planning. Whatever the attempt was to stop for has come after it.
            case (.planned(let passes, let isDone), _, _): .planned(passes: passes, isDone: isDone)
            case (_, .lost, _): .lost
            // The board says so when a plan is published, perhaps before a beat does.
            case (.failed(let failure), _, _) where failure.reason.isLostProbe: .lost
            case (_, .cancelled, _): .cancelled
            // Also if the worker ends: the work is done.
            case (.made(let result), _, _): .made(result)
            case (.failed, .drained, _): .handedBack
            case (.failed(let failure), nil, _) where failure.kind == .interrupted: .handedBack
            case (.failed(let failure), nil, _?) where failure.reason.passToRepeat != nil: .spoilt(failure)
            case (.failed(let failure), nil, let context?) where failure.reason.disprovesPlan:
                .disproved(failure, context)
            // The encoder took these settings when the job was planned, so another attempt may succeed.
            case (.failed(let failure), nil, _?) where failure.reason.isEncodersRefusal:
                .failed(failure, as: .transient)
            case (.failed(let failure), nil, _): .failed(failure, as: failure.cause)
            }
    }
}

extension FailureReason {
    fileprivate var isLostProbe: Bool { if case .probeLost = self { true } else { false } }
}
