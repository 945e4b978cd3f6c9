package import ReelCore
package import ReelQueue

/// What `docs/board.md` says of the board, as a value: no clock, no connection, each operation a method that answers
/// what the board's answers. It is written from that page, not from the scripts, so that it can disagree with them.
///
/// Time is a count of operations, and every wait of the board is longer than all of them together. What only time does
/// is an operation too: a lease lapses, a retry becomes due, a worker falls silent, a pass lags.
package struct BoardModel {
    package init() {}

    /// Grows with every operation.
    package private(set) var now = 0
    package var jobs: [String: Job] = [:]
    /// Jobs that are begun and in line, by their virtual time.
    package var run: [String: Double] = [:]
    /// Jobs in line that are not begun, by their place.
    package var queue: [String: QueuePlace] = [:]
    /// Jobs that are begun and have not ended, by their weight.
    package var begun: [String: Double] = [:]
    /// Of each weight, the turn that the jobs begun have come to, and the last that each owner has.
    package var turns: [Double: Turns] = [:]
    /// How many of an owner's jobs are begun.
    package var begunOf: [String: Int] = [:]
    /// Jobs whose work is all to come, by when.
    package var timer: [String: Int] = [:]
    /// The virtual time that claims have come to.
    package var virtual = 0.0
    package var workers: [String: Worker] = [:]
    /// Hosts whose workers are given nothing.
    package var drainedHosts: Set<String> = []
    /// The store that the board belongs to.
    package var store: StoreID?
    /// Every lease there is, the oldest first; of a job that was forgotten they stay until they lapse.
    package var leases: [Lease] = []
    package private(set) var lapses = 0
    /// What the board has counted, by the names that it has there; frames have names of their own, and of a histogram there
    /// is only how many times it has.
    package var counters: [String: Int] = [:]
    /// Frames and passes of all jobs that got done.
    package var work = (frames: 0, passes: 0)

    /// Jobs' webhooks that are to be sent, by when: at the earliest, or when the lease on them lapses.
    package var due: [Hook: Int] = [:]

    /// Longer than any sequence of operations.
    package static let lease = 1_000_000
    package static let longSince = -1_000_000_000

    /// The first is the heaviest; of equal ones, that of the earliest turn.
    package struct QueuePlace: Comparable {
        package var weight: Double
        package var turn: Int

        package static func < (one: QueuePlace, other: QueuePlace) -> Bool {
            (-one.weight, one.turn) < (-other.weight, other.turn)
        }
    }

    package struct Turns {
        package var now = 0
        package var last: [String: Int] = [:]
    }

    package struct Worker {
        /// What it told with its last beat.
        package var report: WorkerReport
        package var isSilent = false
        package var isDrained = false

        package var host: String { report.host }
        /// Bytes that its passes may take together.
        package var memory: Int64 { report.memoryTotal }
    }

    package struct Holding: Hashable {
        package var job: String
        package var index: Int
        package var token: String

        package init(job: String, index: Int, token: String) {
            self.job = job
            self.index = index
            self.token = token
        }
    }

    package struct Lease {
        package var holding: Holding
        /// The number of this lapse among all lapses, from 1; nil while the lease is valid.
        package var lapsed: Int?
        /// Its job was forgotten.
        package var isLeftOver = false
    }

    package struct Holder {
        package var token: String
        package var worker: String
        package var decoded = 0
        package var encoded = 0
        /// It began so long ago that it lags behind every other.
        package var lags = false
    }

    /// Each pass is in exactly one.
    package enum Condition {
        /// Never given out since the job began to run; of the assembly: not released.
        case waiting
        case held(Holder, copy: Holder?)
        case retry(due: Int)
        case done(RecordedResult)
    }

    package struct Failures {
        package var attempts: [String: Int] = [:]
        package var crashedOn: Set<String> = []
        /// By cause, where it failed so.
        package var hosts: [String: Set<String>] = [:]
        package var wholeChunks = 0
        package var recent: [PassFailure.Attempt] = []
    }

    package struct Job {
        /// As it was begun, or published.
        package var published: BoardJob
        package var state = JobState.probing
        package var isPaused = false
        package var probe = Condition.waiting
        /// The assembly's is the last.
        package var conditions: [Condition] = [.waiting]
        package var failures: [Int: Failures] = [:]
        package var excluded: [String: JobStatus.HostFailure] = [:]
        /// The last token that handed a pass back.
        package var returned: [Int: String] = [:]
        /// The virtual time that it had come to when it left the line.
        package var virtual = 0.0
        /// Backup attempts that were started.
        package var backups = 0
        package var spaceNote: JobStatus.HostFailure?
        package var notedPass: Int?
        package var failure: ReelFailure?
        package var exhausted: Int?
        /// It failed while probing.
        package var isRefused = false
        /// The token that published it.
        package var publisher: String?
        /// Whether its results were forgotten after its end.
        package var isTrimmed = false
        /// The weight that a user gave it after it was submitted.
        package var weight: Double?
        package var submission: String?
        /// As `BoardJob.run`.
        var run: Int?
        /// Its submitter when it came into the queue.
        package var owner = ""
        /// By their URLs.
        package var webhooks: [String: Webhook] = [:]
        /// Whether each is still heard of.
        package var waiters: [String: Bool] = [:]
        /// The process that removes it, and whether its lease is valid.
        package var removal: (waiter: String, isValid: Bool)?
        package let created: Int
        package var failed = 0

        package init(_ published: BoardJob, created: Int) {
            self.published = published
            self.created = created
        }

        /// The condition of a pass, or of the probe; of what the plan does not have it is `waiting`.
        package subscript(index: Int) -> Condition {
            get { index < 0 ? probe : index < conditions.count ? conditions[index] : .waiting }
            set { if index < 0 { probe = newValue } else { conditions[index] = newValue } }
        }

        /// Whether a pass can be worked on: the probe while the job is probing, the others after that.
        package func isOpen(_ index: Int) -> Bool { index < 0 ? state == .probing : canBeWorkedOn }
    }

    /// Time goes on, by less than any wait.
    package mutating func tick() { now += 1 }
}

// What people do to jobs.
extension BoardModel {
    package mutating func cancel(_ id: String) -> Bool {
        guard let job = jobs[id], !job.state.isTerminal else { return false }
        end(id, .cancelled)
        return true
    }

    package mutating func pause(_ id: String) -> JobState? {
        guard let job = jobs[id], !job.state.isTerminal else { return jobs[id]?.state }
        jobs[id]?.isPaused = true
        leaveLine(id)
        timer[id] = nil
        return job.state
    }

    package mutating func resume(_ id: String) -> JobState? {
        guard let job = jobs[id], !job.state.isTerminal else { return jobs[id]?.state }
        jobs[id]?.isPaused = false
        join(id)
        settle(id)
        return job.state
    }

    package mutating func weigh(_ id: String, _ weight: Double) -> JobState? {
        guard let job = jobs[id], !job.state.isTerminal else { return jobs[id]?.state }
        jobs[id]?.weight = weight
        jobs[id]?.published.weight = weight
        if queue[id] != nil { enqueue(id) }
        if begun[id] != nil { begun[id] = weight }
        return job.state
    }

    package mutating func trim(_ id: String) {
        if jobs[id]?.state == .done { jobs[id]?.isTrimmed = true }
    }

    package mutating func describe(_ id: String, _ submission: String) -> Bool {
        guard jobs[id] != nil else { return false }
        jobs[id]?.submission = submission
        return true
    }

    package mutating func retry(_ id: String, run: Int? = nil) -> JobState? {
        guard let job = jobs[id], job.state == .failed else { return jobs[id]?.state }
        if job.removal?.isValid == true { return nil }
        runAgain(id)
        if let run {
            jobs[id]?.run = run
            jobs[id]?.published.run = run
        }
        jobs[id]?.isPaused = false
        if job.isRefused { jobs[id]?.probe = .retry(due: now) }
        jobs[id]?.state = job.isRefused ? .probing : .running
        offer(id, at: now)
        settle(id)
        return .failed
    }

    /// - Parameter removal: the process that removes it by `leave`.
    package mutating func forget(_ id: String, removal: String? = nil) throws(ReelFailure) {
        guard let job = jobs[id] else { return }
        if let removal, !job.state.isTerminal || job.removal?.isValid != true || job.removal?.waiter != removal {
            return
        }
        guard job.state.isTerminal else { throw ReelFailure(.jobNotEnded(job: JobID(id), state: job.state)) }
        withholdWebhooks(id)
        jobs[id] = nil
        leaveLeases(id)
    }

    /// What is held of a job that is gone stays leased until it lapses.
    package mutating func leaveLeases(_ id: String) {
        for place in leases.indices where leases[place].holding.job == id { leases[place].isLeftOver = true }
    }

    /// A job that ended runs again: failures and excluded hosts are forgotten; held and finished passes stay so.
    private mutating func runAgain(_ id: String) {
        guard var job = jobs[id] else { return }
        for index in job.conditions.indices {
            if case .retry = job.conditions[index] { job.conditions[index] = .waiting }
        }
        if case .retry = job.probe { job.probe = .waiting }
        (job.failures, job.excluded, job.backups) = ([:], [:], 0)
        (job.spaceNote, job.notedPass, job.failure, job.exhausted) = (nil, nil, nil, nil)
        jobs[id] = job
    }
}

// Coming to an end.
extension BoardModel {
    package mutating func end(_ id: String, _ state: JobState) {
        leaveLine(id)
        if begun.removeValue(forKey: id) != nil, let owner = jobs[id]?.owner { begunOf[owner, default: 1] -= 1 }
        timer[id] = nil
        jobs[id]?.state = state
        for url in jobs[id]?.webhooks.keys.sorted() ?? [] { makeDue(id, url) }
        count("jobs:\(state.rawValue)")
    }

    package mutating func count(_ counter: String, _ amount: Int = 1) { counters[counter, default: 0] += amount }

    package mutating func count(_ attempt: BoardFigures.Attempt) { count(attempt.counter) }

    package mutating func fail(_ id: String, _ failure: ReelFailure, exhausted: Int?) {
        let isRefused = jobs[id]?.state == .probing
        jobs[id]?.isRefused = isRefused
        end(id, .failed)
        jobs[id]?.failure = failure
        jobs[id]?.exhausted = exhausted
        jobs[id]?.failed = now
    }

    /// What follows from the passes that are finished. Asked again it does nothing new, but for an assembly that has
    /// become due: its job is in line at once.
    package mutating func settle(_ id: String) {
        guard var job = jobs[id] else { return }
        let assembly = job.published.passCount
        guard job.canBeWorkedOn else { return }
        if case .done = job.conditions[assembly] { return end(id, .done) }
        guard job.finished == assembly else { return }
        let isReleased = job.state == .running
        job.state = .assembling
        if case .waiting = job.conditions[assembly] { job.conditions[assembly] = .retry(due: now) }
        jobs[id] = job
        if case .retry(let due) = job.conditions[assembly] {
            offer(id, at: due)
            // What ends a job goes first.
            if isReleased, run[id] != nil { run[id] = 0 }
        }
    }
}

extension BoardModel.Job {
    /// Finished passes without the assembly.
    package var finished: Int {
        conditions.dropLast().count {
            if case .done = $0 { true } else { false }
        }
    }

    /// Every pass is finished or held.
    package var hasNothingToGive: Bool {
        conditions.dropLast().allSatisfy {
            switch $0 {
            case .waiting, .retry: false
            case .held, .done: true
            }
        }
    }

    package var canBeWorkedOn: Bool { state == .running || state == .assembling }
}

// What time does.
extension BoardModel {
    /// Gives the score that the lease has then, if it had not lapsed before.
    package mutating func lapse(_ holding: Holding) -> Int? {
        guard let place = leases.firstIndex(where: { $0.holding == holding }), leases[place].lapsed == nil else {
            return nil
        }
        lapses += 1
        leases[place].lapsed = lapses
        return lapses
    }

    /// Every retry of a job becomes due: now, or longer ago than a lease lasts.
    package mutating func fallDue(_ id: String, longSince: Bool) {
        let due = longSince ? BoardModel.longSince : now
        for index in -1..<(jobs[id]?.conditions.count ?? -1) {
            guard case .retry(let before) = jobs[id]?[index], longSince || before > now else { continue }
            jobs[id]?[index] = .retry(due: due)
        }
        if timer[id] != nil { timer[id] = due }
    }

    /// Whether a pass has no attempt left after this many that failed for this cause.
    package func isLast(_ count: Int, _ cause: FailureCause) -> Bool { count >= BoardPolicy.attempts[cause] ?? .max }

    package mutating func silence(_ worker: String) { workers[worker]?.isSilent = true }

    /// A pass turns out to have begun long ago. Gives its holder.
    package mutating func lag(_ id: String, _ index: Int) -> Holder? {
        guard let job = jobs[id], index < job.conditions.count,
            case .held(var holder, let copy) = job.conditions[index]
        else { return nil }
        holder.lags = true
        jobs[id]?.conditions[index] = .held(holder, copy: copy)
        return holder
    }
}
