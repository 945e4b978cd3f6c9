internal import ReelCore
internal import ReelQueue

/// One attempt of this worker at what it has claimed.
struct Attempt: Sendable {
    let work: ClaimedWork
    /// When it began.
    private let begun = ContinuousClock.now

    init(_ work: ClaimedWork) { self.work = work }

    var claim: Claim { work.claim }

    /// Since it began.
    var milliseconds: Int { Int((ContinuousClock.now - begun) / .milliseconds(1)) }

    /// Does a piece of the attempt's work, and cancels it when the attempt's time is over. Throws `.quotaExceeded` then, and
    /// what the work throws.
    func timed<Result: Sendable>(
        _ allowance: PassAllowance, _ work: @escaping @Sendable () async throws -> Result
    ) async throws(ReelFailure) -> Result {
        try await allowance.timed(since: begun, work)
    }

    /// How an attempt ended.
    enum Outcome: Sendable {
        /// The result of a pass or an assembly, which the board does not know yet.
        case made(PassResult)
        /// Planning has put a plan with this number of passes on the board.
        case planned(passes: Int)
        case failed(ReelFailure)
    }
}
