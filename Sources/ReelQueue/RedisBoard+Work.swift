public import ReelCore

extension RedisBoard {
    /// Leases a pass for a worker, nil where there is none for it now. Workers beat once before they claim, so that
    /// their host is known.
    ///
    /// When this throws, Redis may have given out a pass all the same; its lease then lapses.
    public func claim(_ offer: WorkerOffer) throws(ReelFailure) -> Claim? {
        let token = RedisBoard.makeToken()
        var rank = 0
        while true {
            switch try call(Command.Claim(offer: offer, token: token, rank: rank)) {
            case .nothing: return nil
            case .from(let next): rank = next
            case .pass(var claim, let kind, let pass):
                do throws(ReelFailure) {
                    claim.pass = try kind.pass(pass)
                } catch {
                    // Only that job is at fault: work on the others goes on.
                    guard (try? fail(claim, worker: offer.worker, failure: error, as: .permanent)) != nil else {
                        throw error
                    }
                    return nil
                }
                return claim
            }
        }
    }

    /// Throws what a worker throws later whose user may not do what a worker does.
    public func checkWorker() throws(ReelFailure) {
        // The one command of its own that a worker repeats; a hint that this takes costs another worker a second.
        try send(["BLPOP", BoardKey.wake.name, "0.001"])
    }

    /// Returns when there may be work, or after the time-out, or after half the time that an answer may take,
    /// whichever comes first. Holds back every other call on this board meanwhile. A retry whose time comes gives no
    /// hint, so waiting should be a matter of seconds.
    public func waitForWork(seconds: Int) throws(ReelFailure) {
        let wait = blocking(.seconds(seconds))
        guard wait > 0 else { return }
        try send(["BLPOP", BoardKey.wake.name, String(Double(wait) / 1000)])
    }

    /// Records a pass's result. Repeat it until it is answered: once recorded, the answer is `.duplicate`.
    public func complete(_ claim: Claim, worker: WorkerID, result: PassResult) throws(ReelFailure) -> CompleteAnswer {
        try call(Command.Complete(claim: claim, worker: worker, result: result))
    }

    /// Gives a pass back that could not be done. The failure's cause decides what follows; see `docs/board.md`.
    ///
    /// - Parameter cause: instead of the failure's own.
    public func fail(
        _ claim: Claim, worker: WorkerID, failure: ReelFailure, as cause: FailureCause?
    ) throws(ReelFailure) -> FailAnswer {
        try call(Command.Fail(claim: claim, worker: worker, failure: failure, cause: cause ?? failure.cause))
    }

    /// The plan of a job has proved wrong in this pass: the job is probed again, for another plan. Nothing of the old one
    /// counts any more; of what was finished, the next publisher says what does.
    ///
    /// - Parameter job: the job as it was begun.
    /// - Returns: whether the job is probed again by this; false where the token does not hold the pass any more.
    public func disprove(_ claim: Claim, worker: WorkerID, job: PublishedJob) throws(ReelFailure) -> Bool {
        try call(Command.Disprove(claim: claim, worker: worker, job: job.withoutPlan))
    }

    /// Lets a worker work again at jobs that exclude it, since what was wrong with its host is over.
    ///
    /// - Returns: how many of them excluded it.
    @discardableResult
    public func readmit(_ worker: WorkerID, to jobs: [JobID]) throws(ReelFailure) -> Int {
        try call(Command.Readmit(worker: worker, jobs: jobs))
    }

    /// Hands a pass back without charging an attempt. A token that no longer holds it changes nothing.
    public func release(_ claim: Claim) throws(ReelFailure) {
        _ = try call(Command.Release(claim: claim))
    }

    /// Takes back results that have proved wrong: their segments are missing, or are not what was recorded. The passes
    /// are done again; a job that was assembling runs again, and its assembly is given out when all passes are finished.
    /// Each pass is charged as after a transient failure, and the job fails where one has no attempt left. Of a job that
    /// has failed the results alone are forgotten, for `retry`.
    ///
    /// - Parameters:
    ///   - passes: index and token of each result that is wrong; one that is another's by now stays.
    ///   - plan: the number of the plan that they are of.
    ///   - worker: who found it.
    /// - Returns: how many results were taken back.
    @discardableResult
    public func invalidate(
        _ job: JobID, passes: [(index: Int, token: String)], plan: Int, by worker: WorkerID, reason: ReelFailure
    ) throws(ReelFailure) -> Int {
        var taken = 0
        for start in stride(from: 0, to: passes.count, by: 200) {
            let part = Array(passes[start..<min(start + 200, passes.count)])
            taken += try call(
                Command.Invalidate(job: job, passes: part, plan: plan, worker: worker, reason: reason))
        }
        // Readers would add up all results until the next audit.
        if taken > 0 { try tally(job) }
        return taken
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
