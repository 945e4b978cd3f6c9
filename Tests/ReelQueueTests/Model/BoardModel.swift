import ReelCore
import ReelQueue

/// What `docs/board.md` says of the board, as a value: no clock, no connection, each operation a method that answers
/// what the board's answers. It is written from that page, not from the scripts, so that it can disagree with them.
///
/// Time is a count of operations, and every wait of the board is longer than all of them together. What only time does
/// is an operation too: a lease lapses, a retry becomes due, a worker falls silent, a pass lags.
struct BoardModel {
    /// Grows with every operation.
    private(set) var now = 0
    var jobs: [String: Job] = [:]
    /// Jobs in line, by their virtual time.
    var run: [String: Double] = [:]
    /// Jobs whose work is all to come, by when.
    var timer: [String: Int] = [:]
    /// The virtual time that claims have come to.
    var virtual = 0.0
    var workers: [String: Worker] = [:]
    /// Every lease there is, the oldest first; of a job that was forgotten they stay until they lapse.
    var leases: [Lease] = []
    private(set) var lapses = 0

    /// Longer than any sequence of operations.
    static let lease = 1_000_000
    static let longSince = -1_000_000_000

    struct Worker {
        var host: String
        var memory: Int64
        var isSilent = false
        var isDraining = false
    }

    struct Holding: Hashable {
        var job: String
        var index: Int
        var token: String
    }

    struct Lease {
        var holding: Holding
        /// The how manieth lapse of all it was, nil where it has not lapsed.
        var lapsed: Int?
        /// Its job was forgotten.
        var isLeftOver = false
    }

    struct Holder {
        var token: String
        var worker: String
        var decoded = 0
        var encoded = 0
        /// It began so long ago that it lags behind every other.
        var lags = false
    }

    /// Each pass is in exactly one.
    enum Condition {
        /// Never given out since the job began to run; of the assembly: not released.
        case waiting
        case held(Holder, copy: Holder?)
        case retry(due: Int)
        case done(token: String, encoded: Int, peak: Int64)
    }

    struct Failures {
        var attempts: [String: Int] = [:]
        var crashedOn: Set<String> = []
        /// By cause, where it failed so.
        var hosts: [String: Set<String>] = [:]
        var wholeChunks = 0
        var recent: [PassFailure.Attempt] = []
    }

    struct Job {
        /// As it was begun, or published.
        var published: PublishedJob
        var passes: [Pass] = []
        var state = JobState.probing
        var isPaused = false
        var probe = Condition.waiting
        /// The assembly's is the last.
        var conditions: [Condition] = [.waiting]
        var failures: [Int: Failures] = [:]
        var excluded: [String: JobStatus.Exclusion] = [:]
        /// The last token that handed a pass back.
        var returned: [Int: String] = [:]
        /// The virtual time that it had come to when it left the line.
        var virtual = 0.0
        var copies = 0
        var spaceNote: JobStatus.SpaceNote?
        var notedPass: Int?
        var failure: ReelFailure?
        var exhausted: Int?
        /// It failed while probing.
        var isRefused = false
        /// The token that published it.
        var publisher: String?
        /// Whether each is still heard of.
        var waiters: [String: Bool] = [:]
        /// Who removes it, and whether that lease is valid.
        var removal: (waiter: String, isValid: Bool)?
        let created: Int
        var failed = 0

        init(_ published: PublishedJob, created: Int) {
            self.published = published
            self.created = created
        }

        /// The condition of a pass, or of the probe; of what the plan does not have it is `waiting`.
        subscript(index: Int) -> Condition {
            get { index < 0 ? probe : index < conditions.count ? conditions[index] : .waiting }
            set { if index < 0 { probe = newValue } else { conditions[index] = newValue } }
        }

        /// Whether a pass can be worked on: the probe while the job is probing, the others after that.
        func isOpen(_ index: Int) -> Bool { index < 0 ? state == .probing : canBeWorkedOn }
    }

    /// Time goes on, by less than any wait.
    mutating func tick() { now += 1 }
}

// What people do to jobs.
extension BoardModel {
    mutating func cancel(_ id: String) -> Bool {
        guard let job = jobs[id], !job.state.isTerminal else { return false }
        end(id, .cancelled)
        return true
    }

    mutating func pause(_ id: String) -> JobState? {
        guard let job = jobs[id], !job.state.isTerminal else { return jobs[id]?.state }
        jobs[id]?.isPaused = true
        leaveLine(id)
        timer[id] = nil
        return job.state
    }

    mutating func resume(_ id: String) -> JobState? {
        guard let job = jobs[id], !job.state.isTerminal else { return jobs[id]?.state }
        jobs[id]?.isPaused = false
        join(id)
        settle(id)
        return job.state
    }

    mutating func retry(_ id: String) -> JobState? {
        guard let job = jobs[id], job.state == .failed else { return jobs[id]?.state }
        if job.removal?.isValid == true { return nil }
        runAgain(id)
        jobs[id]?.isPaused = false
        if job.isRefused { jobs[id]?.probe = .retry(due: now) }
        jobs[id]?.state = job.isRefused ? .probing : .running
        offer(id, at: now)
        settle(id)
        return .failed
    }

    /// - Parameter removal: who removes it by `leave`.
    mutating func forget(_ id: String, removal: String? = nil) throws(ReelFailure) {
        guard let job = jobs[id] else { return }
        if let removal, !job.state.isTerminal || job.removal?.isValid != true || job.removal?.waiter != removal {
            return
        }
        guard job.state.isTerminal else { throw ReelFailure(.jobNotEnded(job: JobID(id), state: job.state)) }
        jobs[id] = nil
        leaveLeases(id)
    }

    /// What is held of a job that is gone stays leased until it lapses.
    mutating func leaveLeases(_ id: String) {
        for place in leases.indices where leases[place].holding.job == id { leases[place].isLeftOver = true }
    }

    /// A job that ended runs again: failures and excluded hosts are forgotten, what is held or finished stays so.
    private mutating func runAgain(_ id: String) {
        guard var job = jobs[id] else { return }
        for index in job.conditions.indices {
            if case .retry = job.conditions[index] { job.conditions[index] = .waiting }
        }
        if case .retry = job.probe { job.probe = .waiting }
        (job.failures, job.excluded, job.copies) = ([:], [:], 0)
        (job.spaceNote, job.notedPass, job.failure, job.exhausted) = (nil, nil, nil, nil)
        jobs[id] = job
    }
}

// Being in line.
extension BoardModel {
    /// One that joins owes nothing, nor is owed.
    mutating func join(_ id: String) {
        guard run[id] == nil, let job = jobs[id] else { return }
        run[id] = max(job.virtual, virtual)
    }

    mutating func leaveLine(_ id: String) {
        guard let time = run.removeValue(forKey: id) else { return }
        jobs[id]?.virtual = time
    }

    /// There is work of a job from then on.
    mutating func offer(_ id: String, at due: Int) {
        guard let job = jobs[id], !job.isPaused else { return }
        if due > now { timer[id] = min(due, timer[id] ?? due) } else { join(id) }
    }

    mutating func end(_ id: String, _ state: JobState) {
        leaveLine(id)
        timer[id] = nil
        jobs[id]?.state = state
    }

    mutating func fail(_ id: String, _ failure: ReelFailure, exhausted: Int?) {
        let isRefused = jobs[id]?.state == .probing
        jobs[id]?.isRefused = isRefused
        end(id, .failed)
        jobs[id]?.failure = failure
        jobs[id]?.exhausted = exhausted
        jobs[id]?.failed = now
    }

    /// What follows from the passes that are finished. Asked again it does nothing new, but for an assembly that has
    /// become due: its job is in line at once.
    mutating func settle(_ id: String) {
        guard var job = jobs[id] else { return }
        let assembly = job.published.passCount
        guard job.canBeWorkedOn else { return }
        if case .done = job.conditions[assembly] { return end(id, .done) }
        guard job.finished == assembly else { return }
        job.state = .assembling
        if case .waiting = job.conditions[assembly] { job.conditions[assembly] = .retry(due: now) }
        jobs[id] = job
        if case .retry(let due) = job.conditions[assembly] { offer(id, at: due) }
    }
}

extension BoardModel.Job {
    /// Finished passes without the assembly.
    var finished: Int {
        conditions.dropLast().count {
            if case .done = $0 { true } else { false }
        }
    }

    /// Every pass is finished or held.
    var hasNothingToGive: Bool {
        conditions.dropLast().allSatisfy {
            switch $0 {
            case .waiting, .retry: false
            case .held, .done: true
            }
        }
    }

    var canBeWorkedOn: Bool { state == .running || state == .assembling }
}

// What time does.
extension BoardModel {
    /// Gives the score that the lease has then, if it had not lapsed before.
    mutating func lapse(_ holding: Holding) -> Int? {
        guard let place = leases.firstIndex(where: { $0.holding == holding }), leases[place].lapsed == nil else {
            return nil
        }
        lapses += 1
        leases[place].lapsed = lapses
        return lapses
    }

    /// Every retry of a job becomes due: now, or longer ago than a lease lasts.
    mutating func fallDue(_ id: String, longSince: Bool) {
        let due = longSince ? BoardModel.longSince : now
        for index in -1..<(jobs[id]?.conditions.count ?? -1) {
            guard case .retry(let before) = jobs[id]?[index], longSince || before > now else { continue }
            jobs[id]?[index] = .retry(due: due)
        }
        if timer[id] != nil { timer[id] = due }
    }

    /// Whether a pass has no attempt left after so many that failed for this cause.
    func isLast(_ count: Int, _ cause: FailureCause) -> Bool { count >= BoardPolicy.attempts[cause] ?? .max }

    /// A worker is no longer heard of.
    mutating func silence(_ worker: String) { workers[worker]?.isSilent = true }

    /// A pass turns out to have begun long ago. Gives its holder.
    mutating func lag(_ id: String, _ index: Int) -> Holder? {
        guard let job = jobs[id], index < job.conditions.count,
            case .held(var holder, let copy) = job.conditions[index]
        else { return nil }
        holder.lags = true
        jobs[id]?.conditions[index] = .held(holder, copy: copy)
        return holder
    }
}
