package import ReelCore
package import ReelQueue

/// A board without Redis: every answer is the model's, which the conformance tests compare with Redis.
///
/// Time passes when the test says so: leases lapse and retries fall due by a call, and `waitForWork` returns when a call
/// has made work. A test can break the connection, and can have replies lost of calls that were carried out.
package actor ModelBoard: Board {
    package private(set) var model = BoardModel()
    /// What every call throws while the connection is broken.
    private var outage: ReelFailure?
    private var repliesToLose = 0
    private var tokens = 0
    /// Hints at work that no call of `waitForWork` has taken yet.
    private var hints = 0
    private var waiting: [CheckedContinuation<Void, Never>] = []
    private var isClosed = false
    private var time: Clocks
    /// Jobs that a restarted server has lost; nil if there was no restart since the last audit.
    private var lost: [JobID]?
    /// What other processes do when a job has just been forgotten.
    private var afterForgetting: (@Sendable () async -> Void)?
    /// What they do when a process is about to have a job run again.
    private var beforeRetrying: (@Sendable () async -> Void)?
    /// For each kind of call how often it was made, by the function's base name.
    package private(set) var calls: [String: Int] = [:]
    /// How often a result was recorded for each pass, by "job/index".
    package private(set) var recorded: [String: Int] = [:]

    /// - Parameter time: seconds since 1970 by both clocks.
    package init(time: Double = 2_000_000_000) { self.time = Clocks(board: time, host: time) }

    package static let unreachable = ReelFailure(
        .redisUnreachable(address: "model", said: "the test broke the connection", passes: true))

    /// Carries a call out, unless the connection is broken.
    private func act<Answer>(
        hints isHint: Bool = false, _ call: String = #function,
        _ operation: (inout BoardModel) throws(ReelFailure) -> Answer
    ) throws(ReelFailure) -> Answer {
        calls[String(call.prefix { $0 != "(" }), default: 0] += 1
        if let outage { throw outage }
        model.tick()
        let answer = try operation(&model)
        if isHint { hint() }
        guard repliesToLose == 0 else {
            repliesToLose -= 1
            throw ModelBoard.unreachable
        }
        return answer
    }

    private func hint() {
        hints += 1
        for continuation in waiting { continuation.resume() }
        waiting = []
    }

    private func makeToken() -> String {
        tokens += 1
        let digits = String(tokens, radix: 16)
        return String(repeating: "0", count: 32 - digits.count) + digits
    }
}

// MARK: What tests do to it

extension ModelBoard {
    /// From now on every call throws; nil mends the connection.
    package func setOutage(_ failure: ReelFailure?) {
        outage = failure
        hint()
    }

    /// The next calls are carried out, and throw all the same.
    package func loseReplies(_ count: Int) { repliesToLose = count }

    package func set(_ clocks: Clocks) { time = clocks }

    /// The server was started anew, and has lost all but the passes of these jobs.
    package func restart(losing jobs: [JobID] = []) { lost = jobs }

    /// The next call that forgets a job answers only after this has been done.
    package func afterForgetting(_ step: @escaping @Sendable () async -> Void) { afterForgetting = step }

    /// The next call that has a job run again does so only after this has been done.
    package func beforeRetrying(_ step: @escaping @Sendable () async -> Void) { beforeRetrying = step }

    /// Every lease on passes of a job lapses: nothing changes until a call reaps.
    package func lapse(_ job: JobID) {
        for lease in model.leases where lease.holding.job == job.text { _ = model.lapse(lease.holding) }
    }

    package func fallDue(_ job: JobID) {
        model.tick()
        model.fallDue(job.text, longSince: false)
        hint()
    }

    /// A worker's host says that it is there, so that the worker counts among the live ones.
    package func register(_ worker: WorkerID, host: String, memory: Int64) throws(ReelFailure) {
        _ = try beat(
            WorkerReport(
                worker: worker, host: host, slots: 1, memoryTotal: memory, encoders: [], protocolVersion: 1, held: []))
    }

    /// Releases the calls that wait for work, for good: the test is over.
    package func close() {
        isClosed = true
        hint()
    }
}

// MARK: What the board answers

extension ModelBoard {
    package func store(expecting id: StoreID?) throws(ReelFailure) -> StoreID? { try act { $0.adopt(id) } }

    package func ping() throws(ReelFailure) { try act { _ in } }

    package func prepare() throws(ReelFailure) -> Bool { try act { _ in false } }

    package func diagnostics() throws(ReelFailure) -> [Diagnostic] { try act { _ in [] } }

    package func clocks() throws(ReelFailure) -> Clocks {
        let time = time
        return try act { _ in time }
    }

    package func audit() throws(ReelFailure) -> Audit { try act { $0.audit() } }

    package func auditAfterRestart() throws(ReelFailure) -> Audit? {
        let lost = lost
        let audit = try act { model in
            lost.map { lost in
                var audit = model.audit()
                audit.lost = lost
                return audit
            }
        }
        self.lost = nil
        return audit
    }

    package func isEmpty() throws(ReelFailure) -> Bool { try act { $0.jobs.isEmpty } }

    package func begin(_ job: BoardJob, holder: WorkerID, submission: String?) throws(ReelFailure) -> Begun {
        let token = makeToken()
        return try act { $0.begin(job, holder: holder.text, token: token, submission: submission) }
    }

    package func publish(
        _ job: BoardJob, finished: [Int: RecordedResult], claim: Claim, paused: Bool
    ) throws(ReelFailure) -> Published {
        try act(hints: true) { $0.publish(job, finished: finished, claim: claim, paused: paused) }
    }

    package func attend(_ job: JobID, waiter: String, claim: Claim?) throws(ReelFailure) -> Attendance? {
        try act { $0.attend(job.text, waiter: waiter, claim: claim) }
    }

    package func leave(_ job: JobID, waiter: String, claim: Claim?, abandoning: Bool) throws(ReelFailure) -> Departure {
        try act(hints: true) {
            $0.leave(job.text, waiter: waiter, claim: claim, abandoning: abandoning)
                ? .remove(Removal(holder: waiter)) : .stays
        }
    }

    package func cancel(_ job: JobID) throws(ReelFailure) -> Bool { try act { $0.cancel(job.text) } }

    package func pause(_ job: JobID) throws(ReelFailure) -> JobState? { try act { $0.pause(job.text) } }

    package func resume(_ job: JobID) throws(ReelFailure) -> JobState? { try act(hints: true) { $0.resume(job.text) } }

    package func weigh(_ job: JobID, _ weight: Double) throws(ReelFailure) -> JobState? {
        try act { $0.weigh(job.text, weight) }
    }

    package func describe(_ job: JobID, _ submission: String) throws(ReelFailure) -> Bool {
        try act { $0.describe(job.text, submission) }
    }

    package func retry(_ job: JobID, run: Int?) async throws(ReelFailure) -> JobState? {
        let step = beforeRetrying
        beforeRetrying = nil
        await step?()
        return try act(hints: true) { $0.retry(job.text, run: run) }
    }

    package func forget(_ job: JobID, removal: Removal?) async throws(ReelFailure) {
        try act { model throws(ReelFailure) in try model.forget(job.text, removal: removal?.holder) }
        let step = afterForgetting
        afterForgetting = nil
        await step?()
    }

    package func claim(_ offer: WorkerOffer) throws(ReelFailure) -> Claim? {
        let token = makeToken()
        return try act { $0.claim(offer, token: token) }
    }

    /// Returns when a call has made work since the last hint was taken.
    package func waitForWork(seconds: Int) async throws(ReelFailure) {
        try act { _ in }
        if hints == 0, !isClosed { await withCheckedContinuation { waiting.append($0) } }
        hints = max(hints - 1, 0)
    }

    package func complete(_ claim: Claim, worker: WorkerID, result: PassResult) throws(ReelFailure) -> CompleteAnswer {
        try act(hints: true) { model throws(ReelFailure) in
            let answer = try model.complete(claim, result: result)
            if answer == .ok { recorded["\(claim.job)/\(claim.index)", default: 0] += 1 }
            return answer
        }
    }

    package func fail(
        _ claim: Claim, worker: WorkerID, failure: ReelFailure, as cause: FailureCause?
    ) throws(ReelFailure) -> FailAnswer {
        try act(hints: true) { $0.fail(claim, worker: worker.text, failure: failure, as: cause) }
    }

    package func release(_ claim: Claim) throws(ReelFailure) { try act(hints: true) { $0.release(claim) } }

    package func disprove(_ claim: Claim, worker: WorkerID, job: BoardJob) throws(ReelFailure) -> Bool {
        try act(hints: true) { $0.disprove(claim, job: job) }
    }

    package func invalidate(
        _ job: JobID, passes: [(index: Int, token: String)], plan: Int, by worker: WorkerID, reason: ReelFailure
    ) throws(ReelFailure) -> Int {
        try act(hints: true) {
            $0.invalidate(job.text, passes: passes, plan: plan, worker: worker.text, reason: reason)
        }
    }

    package func readmit(_ worker: WorkerID, to jobs: [JobID]) throws(ReelFailure) -> Int {
        try act(hints: true) { $0.readmit(worker.text, to: jobs.map(\.text)) }
    }

    package func beat(_ report: WorkerReport) throws(ReelFailure) -> BeatReply { try act { $0.beat(report) } }

    package func drain(_ scope: DrainScope, _ name: String) throws(ReelFailure) -> Bool {
        try act { $0.drain(scope, name) }
    }

    package func undrain(_ scope: DrainScope, _ name: String) throws(ReelFailure) -> Bool {
        try act { $0.undrain(scope, name) }
    }

    package func drainedHosts() throws(ReelFailure) -> [String] { try act { $0.drainedHosts.sorted() } }

    package func depart(_ worker: WorkerID) throws(ReelFailure) { try act { $0.depart(worker.text) } }

    package func reap() throws(ReelFailure) -> Int {
        let requeued = try act { $0.reap(sinceStartOfRedis: false) }
        if requeued > 0 { hint() }
        return requeued
    }

    package func checkWorker() throws(ReelFailure) { try act { _ in } }

    package func status(_ job: JobID) throws(ReelFailure) -> JobStatus? { try act { $0.status(job.text) } }

    package func state(of job: JobID) throws(ReelFailure) -> JobState? { try act { $0.jobs[job.text]?.state } }

    package func live(_ job: JobID) throws(ReelFailure) -> [Int: WorkerID] { try act { $0.live(job.text) } }

    package func retries(_ job: JobID) throws(ReelFailure) -> Int { try act { $0.retries(job.text) } }

    package func trim(_ job: JobID) throws(ReelFailure) { try act { $0.trim(job.text) } }

    package func recordedResults(_ job: JobID) throws(ReelFailure) -> [Int: RecordedResult] {
        try act { $0.recordedResults(job.text) }
    }

    package func results(_ job: JobID, at indices: [Int]) throws(ReelFailure) -> [Int: PassResult] {
        try act { $0.results(job.text, at: indices) }
    }

    package func workers() throws(ReelFailure) -> [WorkerStatus] { try act { $0.registered } }

    package func queue(count: Int) throws(ReelFailure) -> ListedJobs {
        try act { model in
            ListedJobs(jobs: (model.active.prefix(count) + model.failed.prefix(count)).compactMap { model.status($0) })
        }
    }

    package func figures() throws(ReelFailure) -> BoardFigures { try act { $0.figures } }

    package func jobs() throws(ReelFailure) -> [JobID] { try act { $0.jobs.keys.sorted().map { JobID($0) } } }

    package func jobCounts() throws(ReelFailure) -> (active: Int, failed: Int, all: Int) {
        try act { ($0.active.count, $0.failed.count, $0.jobs.count) }
    }
}

// MARK: What no role of a worker asks for

extension ModelBoard {
    package func passDiagnostics(_ job: JobID) -> [Diagnostic] { trap() }

    package func list(_ jobs: [JobID]) -> ListedJobs { trap() }

    package func latestJobs(ended: Int) -> ListedJobs { trap() }

    package func pace() -> Pace { trap() }

    package func memory() -> (used: Int64, limit: Int64?) { trap() }

    package func rates() -> [MinuteRate] { trap() }

    package func jobs(before place: JobPlace?, count: Int, unfinished: Bool) -> [JobPlace] { trap() }

    package func note(_ action: JournalAction) { trap() }

    package func journal(before place: BoardEvent.Place?, count: Int) -> [JournalEntry] { trap() }

    package func hook(_ job: JobID, _ url: String) -> HookAnswer? { trap() }

    package func dispatch() -> DueWebhook? { trap() }

    package func dispatched(_ webhook: DueWebhook, _ outcome: DueWebhook.Outcome) -> DueWebhook.Answer { trap() }

    package func strip(_ job: JobID, cells: Int) -> PassStrip? { trap() }

    package func passes(_ job: JobID, in range: Range<Int>) -> [PassLook]? { trap() }

    package func jobs(of submitter: String) -> Int { trap() }

    package func placeOfNow() -> BoardEvent.Place { trap() }

    package func events(after place: BoardEvent.Place, atMost duration: Duration) -> [BoardEvent] { trap() }

    private func trap(_ call: String = #function) -> Never {
        preconditionFailure("the model has no \(call): only programs that show jobs to people ask for it")
    }
}
