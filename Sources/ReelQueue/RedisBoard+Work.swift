package import ReelCore

extension RedisBoard {
    /// Leases a pass for a worker; nil if there is none for it now. A worker beats once before its first claim, so that
    /// its host is known.
    ///
    /// If this throws, Redis may have given out a pass nevertheless; its lease then lapses.
    package func claim(_ offer: WorkerOffer) throws(ReelFailure) -> Claim? {
        let token = RedisBoard.makeToken()
        var rank = 0
        while true {
            switch try call(Command.Claim(offer: offer, token: token, rank: rank)) {
            case .nothing: return nil
            case .from(let next): rank = next
            case .claimed(var claim, let kind, let stored):
                do throws(ReelFailure) {
                    claim.work = try kind.work(stored)
                } catch {
                    // Only that job is at fault, so the worker goes on with others.
                    guard (try? fail(claim, worker: offer.worker, failure: error, as: .permanent)) != nil else {
                        throw error
                    }
                    return nil
                }
                return claim
            }
        }
    }

    /// Throws if the user of this connection may not make a worker's calls.
    package func checkWorker() throws(ReelFailure) {
        // The one plain command that a worker repeats. If this takes a hint, another worker waits a second longer.
        try send(["BLPOP", keys[.wake], "0.001"])
    }

    /// Returns when there may be work, at the latest after `seconds`, or after half of `BoardTiming.answerTimeout` if
    /// that is shorter. Every other call on this board waits meanwhile. A retry that becomes due gives no hint, so wait
    /// for a few seconds only.
    package func waitForWork(seconds: Int) throws(ReelFailure) {
        let wait = blocking(.seconds(seconds))
        guard wait > 0 else { return }
        try send(["BLPOP", keys[.wake], String(Double(wait) / 1000)])
    }

    /// Records a pass's result. Repeat the call until it is answered: if the result was recorded before, the answer is
    /// `.duplicate`.
    package func complete(_ claim: Claim, worker: WorkerID, result: PassResult) throws(ReelFailure) -> CompleteAnswer {
        try call(Command.Complete(claim: claim, worker: worker, result: result))
    }

    /// Gives back a pass after a failed attempt. The failure's cause decides what follows; see `docs/board.md`.
    ///
    /// - Parameter cause: used instead of the failure's own cause, unless nil.
    package func fail(
        _ claim: Claim, worker: WorkerID, failure: ReelFailure, as cause: FailureCause?
    ) throws(ReelFailure) -> FailAnswer {
        try call(Command.Fail(claim: claim, worker: worker, failure: failure, cause: cause ?? failure.cause))
    }

    /// Has a job planned again, for another plan, after a pass has found that the plan does not match the source. The
    /// old plan's passes and results are removed; the next publisher says which segments can still be used.
    ///
    /// - Parameter job: the job as it was begun.
    /// - Returns: whether the job is probing again; false if the claim does not hold the pass any more.
    package func disprove(_ claim: Claim, worker: WorkerID, job: BoardJob) throws(ReelFailure) -> Bool {
        try call(Command.Disprove(claim: claim, worker: worker, job: job.withoutPlan))
    }

    /// Lets a worker work again at jobs that exclude it, once the cause on its host is gone.
    ///
    /// - Returns: the number of these jobs that excluded it.
    @discardableResult
    package func readmit(_ worker: WorkerID, to jobs: [JobID]) throws(ReelFailure) -> Int {
        try call(Command.Readmit(worker: worker, jobs: jobs))
    }

    /// Hands a pass back without charging an attempt. Does nothing if the claim no longer holds the pass.
    package func release(_ claim: Claim) throws(ReelFailure) {
        _ = try call(Command.Release(claim: claim))
    }

    /// Takes back results that have proved wrong: their segments are missing, or differ from their records. The passes
    /// are done again; a job that was assembling runs again, and its assembly is given out when all passes are
    /// finished. Each pass is charged with a transient failure, and the job fails if a pass has no attempt left. If the
    /// job has failed already, only the results are taken back, before `retry`.
    ///
    /// - Parameters:
    ///   - passes: index and token of each wrong result. A result of another token stays.
    ///   - plan: the number of the plan that the passes belong to.
    ///   - worker: the worker that found it.
    ///   - reason: why the results are wrong.
    /// - Returns: the number of results that were taken back.
    @discardableResult
    package func invalidate(
        _ job: JobID, passes: [(index: Int, token: String)], plan: Int, by worker: WorkerID, reason: ReelFailure
    ) throws(ReelFailure) -> Int {
        var taken = 0
        for start in stride(from: 0, to: passes.count, by: 200) {
            let part = Array(passes[start..<min(start + 200, passes.count)])
            taken += try call(
                Command.Invalidate(job: job, passes: part, plan: plan, worker: worker, reason: reason))
        }
        // Without this, readers would add up all results until the next audit.
        if taken > 0 { try tally(job) }
        return taken
    }

    /// Forgets the results of a finished job's passes, which no reader needs. Keeps the job's totals and each pass's token.
    /// Does nothing to a job in another state than done.
    package func trim(_ job: JobID) throws(ReelFailure) {
        _ = try tally(job)
        var cursor = "0"
        repeat { cursor = try call(Command.Trim(job: job, cursor: cursor)) } while cursor != "0"
    }

    /// 128 random bits in hexadecimal.
    static func makeToken() -> String {
        var generator = SystemRandomNumberGenerator()
        return (0..<2).map { _ in
            let digits = String(generator.next() as UInt64, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }
}
