package import ReelCore

/// The place where coordinators and workers meet: the jobs, their passes, and which worker holds which pass.
///
/// A board has these guarantees, on which coordinators and workers rely:
///
/// - **Each call is one step.** Every call that changes the board does so at once for all its users, or in parts of
///   which each prefix is safe: if a caller dies within a call, leases and repetition repair the rest.
/// - **A pass has one result.** However many workers work at a pass, one result is recorded, and the call that records
///   the last one releases the assembly.
/// - **A lease decides which worker holds a pass.** It is named by a random token, lasts for a fixed time, and is
///   extended by `beat`. A token that has lost its pass cannot fail it, hand it back, or disprove its plan.
/// - **Calls of one board are carried out one after another.** A call that waits (`waitForWork`, `events`) delays
///   the others, so a role that must not be delayed has a board of its own: see ``BoardConnections``.
/// - **A call that fails may have been carried out.** Every call throws `.unreachable` with cause `.transient` if the
///   board is out of reach; it may have been carried out all the same. Calls can be repeated: the second answer says
///   what the first one did. A call that is refused for good has cause `.permanent`.
///
/// Times of leases and retries are those of the board's own clock. A call that reads a job throws `.boardUnreadable` if
/// something that the board holds of it cannot be read.
///
/// ``RedisBoard`` is the board of programs. The tests' `ModelBoard` answers as `docs/board.md` says, without Redis.
package protocol Board: Sendable {
    /// The executor that carries out the calls. An actor that shares it makes its calls without a detour over the
    /// threads that the process's other tasks use.
    var unownedExecutor: UnownedSerialExecutor { get }

    // MARK: The board itself

    /// Returns the store that the board belongs to. A board that belongs to none is given `id`, which is the answer
    /// then; without an id it stays as it is, and the answer is nil.
    ///
    /// Throws `.boardOfOtherVersion`.
    func store(expecting id: StoreID?) async throws(ReelFailure) -> StoreID?

    /// Throws if the board is out of reach.
    func ping() async throws(ReelFailure)

    /// Prepares the board's server, so that users that may not do so can work with the board. Returns whether there was
    /// anything to do.
    ///
    /// Throws `.boardUnprepared` if this user may not, either, and `.boardOfNewerRelease` if the server was prepared by
    /// a newer release that does not serve this one.
    func prepare() async throws(ReelFailure) -> Bool

    /// Returns what makes the board's server unfit to keep a queue.
    func diagnostics() async throws(ReelFailure) -> [Diagnostic]

    /// Returns what time it is by the board's clock and by this machine's.
    func clocks() async throws(ReelFailure) -> Clocks

    /// Checks the invariants of every job that has not ended, and of what else is in line, and repairs them.
    func audit() async throws(ReelFailure) -> Audit

    /// Audits the board if its server has been started since the last audit. One caller does so for each start; the
    /// others get nil.
    func auditAfterRestart() async throws(ReelFailure) -> Audit?

    /// Returns whether the board knows no job at all, not even one that has ended.
    func isEmpty() async throws(ReelFailure) -> Bool

    // MARK: Submitting a job

    /// Makes a job in state `probing` and leases its planning to the caller, or leases the caller planning that has no
    /// holder; else says what is there. A job that has ended is made anew, and nothing of the old one is left.
    ///
    /// If this throws, the planning may have been leased all the same; that lease lapses.
    ///
    /// - Parameters:
    ///   - job: only the id, title, bytes that the planning takes, protocol version, weight and run matter.
    ///   - submission: what the submitter says of a job that this call makes, as `describe` takes it; nil for nothing.
    /// - Throws: `.usage` if the job contradicts itself.
    func begin(_ job: BoardJob, holder: WorkerID, submission: String?) async throws(ReelFailure) -> Begun

    /// Gives a job its plan, and makes its passes claimable in the plan's order. The passes themselves stay in the
    /// store. Repeat the call until it is answered.
    ///
    /// - Parameters:
    ///   - job: complete, with the number, hash and counts of its plan.
    ///   - finished: results that the store has already, by index. The job is never seen with a plan and without them.
    ///     With that of the assembly, which needs all others, it is done.
    ///   - claim: holds the job's planning, which ends.
    ///   - paused: whether nothing of the job is given out until `resume`. A job that was paused while probing stays
    ///     paused.
    /// - Throws: `.usage` if the job contradicts itself.
    func publish(
        _ job: BoardJob, finished: [Int: RecordedResult], claim: Claim, paused: Bool
    ) async throws(ReelFailure) -> Published

    /// Says that a process waits for a job; it counts as waiting for one lease. Nil if there is no such job.
    ///
    /// - Parameters:
    ///   - waiter: a name that no other process has.
    ///   - claim: the planning, if the process holds it: its lease is extended.
    func attend(_ job: JobID, waiter: String, claim: Claim?) async throws(ReelFailure) -> Attendance?

    /// Says that a process waits for a job no longer. Planning that `claim` holds is handed back uncharged.
    ///
    /// - Parameter abandoning: whether the job is of no use to the caller. If it is still probing, no other process
    ///   waits for it, and no other plans it, it is cancelled, to be removed. A job that failed while probing is
    ///   removed by the last process that leaves it, in any case.
    func leave(_ job: JobID, waiter: String, claim: Claim?, abandoning: Bool) async throws(ReelFailure) -> Departure

    // MARK: Controlling a job

    /// Ends a job that has not ended; its workers learn of it with their next beat. False if there is no such job or it
    /// has ended.
    func cancel(_ job: JobID) async throws(ReelFailure) -> Bool

    /// Pauses a job: no more of its passes are given out, and held passes go on. Returns the job's state, nil
    /// if there is no such job; a job that has ended does not change.
    func pause(_ job: JobID) async throws(ReelFailure) -> JobState?

    /// Lets a paused job go on; answers like `pause`.
    func resume(_ job: JobID) async throws(ReelFailure) -> JobState?

    /// Gives a job another weight, from the next claim on. Returns the job's state, nil if there is no such job; a job
    /// that has ended does not change. Throws `.jobContradictory` for a weight that is not above 0.
    func weigh(_ job: JobID, _ weight: Double) async throws(ReelFailure) -> JobState?

    /// Records what a submitter says of a job, as text that the board does not read; it is in the job's status until
    /// the job is begun anew. False if there is no such job.
    @discardableResult
    func describe(_ job: JobID, _ submission: String) async throws(ReelFailure) -> Bool

    /// Has a failed job run again. Finished passes stay finished, and a job that failed while probing is planned again.
    /// Returns the state before, which is `.failed` if the job runs again; nil if there is no such job or it is being
    /// removed.
    ///
    /// - Parameter run: as `BoardJob.run`.
    func retry(_ job: JobID, run: Int?) async throws(ReelFailure) -> JobState?

    /// Removes everything that the board has of an ended job. Throws `.usage` if the job has not ended; if there is no
    /// such job, nothing happens.
    ///
    /// - Parameter removal: what `leave` answered. If another process removes the job by now, or the job began again,
    ///   nothing happens.
    func forget(_ job: JobID, removal: Removal?) async throws(ReelFailure)

    // MARK: Webhooks

    /// Adds a webhook to a job: a URL that is told of each of its ends, or at once if the job has ended. A job keeps
    /// its webhooks until it is begun anew or forgotten. Nil if there is no such job.
    func hook(_ job: JobID, _ url: String) async throws(ReelFailure) -> HookAnswer?

    /// Leases the webhook that has been due longest to the caller, which sends it; nil if none is due. If `dispatched`
    /// is not called before the lease lapses, another caller gets it.
    func dispatch() async throws(ReelFailure) -> DueWebhook?

    /// Records how an attempt to send a webhook ended. After a failure it is due again, until a day has passed.
    @discardableResult
    func dispatched(_ webhook: DueWebhook, _ outcome: DueWebhook.Outcome) async throws(ReelFailure) -> DueWebhook.Answer

    // MARK: Working at passes

    /// Leases a pass to a worker; nil if there is none for it now. A worker beats once before it claims, so that its
    /// host is known.
    ///
    /// If this throws, a pass may have been leased all the same; that lease lapses.
    func claim(_ offer: WorkerOffer) async throws(ReelFailure) -> Claim?

    /// Returns when there may be work, or after the time-out at the latest; an implementation may return earlier. The
    /// end of a retry's wait gives no hint, so wait a few seconds at most.
    func waitForWork(seconds: Int) async throws(ReelFailure)

    /// Records the result of a pass. Repeat the call until it is answered: once recorded, the answer is `.duplicate`.
    func complete(_ claim: Claim, worker: WorkerID, result: PassResult) async throws(ReelFailure) -> CompleteAnswer

    /// Gives back a pass that could not be done. The failure's cause decides what follows; see `docs/board.md`.
    ///
    /// - Parameter cause: replaces the failure's own.
    func fail(
        _ claim: Claim, worker: WorkerID, failure: ReelFailure, as cause: FailureCause?
    ) async throws(ReelFailure) -> FailAnswer

    /// Hands a pass back without charging an attempt. If the token does not hold the pass any more, nothing happens.
    func release(_ claim: Claim) async throws(ReelFailure)

    /// Says that a job's plan has proved wrong in this pass: the job is planned again, for another plan. Nothing of the
    /// old plan counts any more; the next publisher names the finished passes.
    ///
    /// - Parameter job: the job as it was begun.
    /// - Returns: whether this call has the job planned again; false if the token does not hold the pass any more.
    func disprove(_ claim: Claim, worker: WorkerID, job: BoardJob) async throws(ReelFailure) -> Bool

    /// Takes back results that have proved wrong: their segments are missing, or differ from their records. The passes
    /// are done again; a job that was assembling runs again, and its assembly is given out when all passes are
    /// finished. Each pass is charged as after a transient failure, and the job fails if one has no attempt left. If
    /// the job has failed, its results are forgotten and nothing else changes.
    ///
    /// - Parameters:
    ///   - passes: index and token of each wrong result; one that another token has recorded by now stays.
    ///   - plan: the number of the plan that they belong to.
    ///   - worker: the worker that found it.
    /// - Returns: how many results were taken back.
    @discardableResult
    func invalidate(
        _ job: JobID, passes: [(index: Int, token: String)], plan: Int, by worker: WorkerID, reason: ReelFailure
    ) async throws(ReelFailure) -> Int

    /// Lets a worker work again at jobs that exclude it, since its host is in order again.
    ///
    /// - Returns: how many of them excluded it.
    @discardableResult
    func readmit(_ worker: WorkerID, to jobs: [JobID]) async throws(ReelFailure) -> Int

    // MARK: Workers

    /// A worker's sign of life: registers it, extends the leases of its passes, and stores their progress.
    func beat(_ report: WorkerReport) async throws(ReelFailure) -> BeatReply

    /// Gives a worker, or all workers of a host, nothing more: they work on what they hold. They learn of it with their
    /// next beat. A worker is drained until it leaves the registry, a host until `undrain`. False if no worker of that
    /// name is registered; any host can be drained.
    func drain(_ scope: DrainScope, _ name: String) async throws(ReelFailure) -> Bool

    /// Takes a drain back. False if there was none.
    func undrain(_ scope: DrainScope, _ name: String) async throws(ReelFailure) -> Bool

    /// Returns the names of the hosts that are drained, sorted, whether they have workers or not.
    func drainedHosts() async throws(ReelFailure) -> [String]

    /// Takes a worker that ends out of the registry. The passes that it still holds are not handed back: release them
    /// first.
    func depart(_ worker: WorkerID) async throws(ReelFailure)

    /// Requeues the passes whose leases have lapsed and returns how many. Does nothing for one lease after the board's
    /// server started, after its clock was set, or if no process has reaped for that long.
    func reap() async throws(ReelFailure) -> Int

    /// Throws at once if the user may not make a worker's calls.
    func checkWorker() async throws(ReelFailure)

    // MARK: Looking

    /// Returns a job as it is now; nil if the board does not know it.
    func status(_ job: JobID) async throws(ReelFailure) -> JobStatus?

    /// Returns the state of a job, even if more than that cannot be read; `.running` if not even the state can. Nil if
    /// there is no such job.
    func state(of job: JobID) async throws(ReelFailure) -> JobState?

    /// Returns the worker of each pass of a job that is held now, by the pass's index.
    func live(_ job: JobID) async throws(ReelFailure) -> [Int: WorkerID]

    /// Returns how many passes of a job wait for another attempt, whether that may begin now or later.
    func retries(_ job: JobID) async throws(ReelFailure) -> Int

    /// Forgets the results of a finished job's passes, which no reader needs. Keeps the job's totals and each pass's
    /// token. Does nothing to a job in another state than done.
    func trim(_ job: JobID) async throws(ReelFailure)

    /// Returns the results of a job's finished passes, the assembly's among them, with the tokens that recorded them,
    /// by index; none that were trimmed.
    func recordedResults(_ job: JobID) async throws(ReelFailure) -> [Int: RecordedResult]

    /// Returns the results of those of the passes that are finished.
    func results(_ job: JobID, at indices: [Int]) async throws(ReelFailure) -> [Int: PassResult]

    /// Returns the diagnostics of a job's finished passes, each once, in the order of the passes; 100 at most.
    func passDiagnostics(_ job: JobID) async throws(ReelFailure) -> [Diagnostic]

    /// Returns the workers that have beaten within the last hour, by name; those whose report cannot be read are left
    /// out.
    func workers() async throws(ReelFailure) -> [WorkerStatus]

    // MARK: Showing to people

    /// Returns the jobs that have not ended, the oldest first, and after them the failed ones, the latest first;
    /// `count` of each at most.
    func queue(count: Int) async throws(ReelFailure) -> ListedJobs

    /// Returns the jobs of these ids, without jobs that the board does not know, and every job that was set aside since
    /// it cannot be read.
    func list(_ jobs: [JobID]) async throws(ReelFailure) -> ListedJobs

    /// Returns the ids of all jobs, the one that was submitted first first.
    func jobs() async throws(ReelFailure) -> [JobID]

    /// Returns how many jobs have not ended, how many failed and are still on the board, and how many it has in all.
    func jobCounts() async throws(ReelFailure) -> (active: Int, failed: Int, all: Int)

    /// Returns the jobs that have not ended, and of the others the `ended` that were submitted last; the oldest first.
    func latestJobs(ended: Int) async throws(ReelFailure) -> ListedJobs

    /// Returns how fast the work of all jobs got done over the last minute.
    func pace() async throws(ReelFailure) -> Pace

    /// Returns how fast the work of all jobs got done in each of the last 60 whole minutes, the oldest first.
    func rates() async throws(ReelFailure) -> [MinuteRate]

    /// Returns what the board has counted since it was made, and its jobs, passes and slots by state. The cost grows
    /// with the workers, not with jobs or passes.
    func figures() async throws(ReelFailure) -> BoardFigures

    /// Returns the memory that Redis uses and the limit that it has, both in bytes. Without a limit the second is nil.
    func memory() async throws(ReelFailure) -> (used: Int64, limit: Int64?)

    /// Returns places of jobs in the order of their submission, the one that was submitted last first, `count` at most.
    /// Pass the last place to get the next page.
    ///
    /// Jobs that come or go meanwhile move no other job to another page; one that is begun anew has another place.
    ///
    /// - Parameters:
    ///   - place: the jobs after this place, which need not be there any more; nil for the latest jobs.
    ///   - unfinished: whether only jobs that have not ended are wanted.
    func jobs(before place: JobPlace?, count: Int, unfinished: Bool) async throws(ReelFailure) -> [JobPlace]

    /// Returns the passes of a job in a range of the plan's order, one by one; nil if the board does not know it. The
    /// cost grows with the range alone.
    func passes(_ job: JobID, in range: Range<Int>) async throws(ReelFailure) -> [PassLook]?

    /// Returns how many jobs of a submitter, whose name is given without its host, have not ended.
    func jobs(of submitter: String) async throws(ReelFailure) -> Int

    /// Returns a job's passes in `cells` cells at most; nil if the board does not know it or it has no plan. The cost
    /// does not grow with their number.
    func strip(_ job: JobID, cells: Int) async throws(ReelFailure) -> PassStrip?

    /// Returns the place in the stream of events before everything that happens from now on.
    func placeOfNow() async throws(ReelFailure) -> BoardEvent.Place

    /// Returns the events after a place, the oldest first, 1000 at most. If there are none, waits for one, until the
    /// time-out at the latest; then the answer is empty. The board keeps about 10,000 events, so a reader that falls
    /// behind by more misses some.
    func events(after place: BoardEvent.Place, atMost duration: Duration) async throws(ReelFailure) -> [BoardEvent]

    /// Adds an entry to the journal, with the board's time. The journal keeps about the last 10,000 entries.
    func note(_ action: JournalAction) async throws(ReelFailure)

    /// Returns entries of the journal, the latest first, `count` at most.
    ///
    /// - Parameter place: the entries before this one; nil for the latest.
    func journal(before place: BoardEvent.Place?, count: Int) async throws(ReelFailure) -> [JournalEntry]
}

// What callers may leave out.
extension Board {
    /// Begins a job without saying who submitted it.
    package func begin(_ job: BoardJob, holder: WorkerID) async throws(ReelFailure) -> Begun {
        try await begin(job, holder: holder, submission: nil)
    }

    /// Has a failed job run again that had not begun again before.
    package func retry(_ job: JobID) async throws(ReelFailure) -> JobState? { try await retry(job, run: nil) }

    /// Publishes a job that is not paused, by default without finished passes.
    package func publish(
        _ job: BoardJob, finished: [Int: RecordedResult] = [:], claim: Claim
    ) async throws(ReelFailure) -> Published { try await publish(job, finished: finished, claim: claim, paused: false) }

    /// Says that a process waits for a job whose planning it does not hold.
    package func attend(_ job: JobID, waiter: String) async throws(ReelFailure) -> Attendance? {
        try await attend(job, waiter: waiter, claim: nil)
    }

    /// Says that a process waits for a job no longer, and that the job is to go on.
    package func leave(_ job: JobID, waiter: String, claim: Claim? = nil) async throws(ReelFailure) -> Departure {
        try await leave(job, waiter: waiter, claim: claim, abandoning: false)
    }

    /// Returns places of jobs, whether they have ended or not.
    package func jobs(before place: JobPlace?, count: Int) async throws(ReelFailure) -> [JobPlace] {
        try await jobs(before: place, count: count, unfinished: false)
    }

    /// Removes everything that the board has of an ended job, whichever process was to remove it.
    package func forget(_ job: JobID) async throws(ReelFailure) { try await forget(job, removal: nil) }

    /// Gives back a pass that could not be done; the failure's own cause decides what follows.
    package func fail(_ claim: Claim, worker: WorkerID, failure: ReelFailure) async throws(ReelFailure) -> FailAnswer {
        try await fail(claim, worker: worker, failure: failure, as: nil)
    }

    /// Returns the results of a job's finished passes, the assembly's among them, by index.
    package func results(_ job: JobID) async throws(ReelFailure) -> [Int: PassResult] {
        try await recordedResults(job).mapValues(\.result)
    }
}
