public import ReelCore

/// A job on the board as it is now.
public struct JobStatus: Hashable, Sendable {
    /// The job as begun or published, with the weight that it has now.
    public var job: BoardJob
    /// The job's state.
    public var state: JobState
    /// Whether a user paused the job, so that none of its passes is given out.
    public var isPaused: Bool
    /// Its passes, counted by condition.
    public var passes: PassCounts
    /// The number of frames encoded by finished passes and, as last reported, by passes that are held.
    public var framesEncoded: Int
    /// The number of frames decoded, counted likewise.
    public var framesDecoded: Int
    /// The speed over the last minute, or since the job could be worked on if that is less.
    public var pace: Pace
    /// The greatest peak of resident memory among the engines that finished a pass, in bytes.
    public var peakRSS: Int64
    /// Seconds of CPU time that the engines of finished passes took.
    public var cpuSeconds: Double
    /// Seconds since the first pass was given out; nil before. If the job has run again, since then.
    public var elapsed: Double?
    /// When the job was begun, in seconds since 1970 by Redis's clock.
    public var created: Double
    /// When the job ended, in seconds since 1970 by Redis's clock; nil if it has not.
    public var finished: Double?
    /// Seconds since the pass that has waited longest became ready; nil if no pass is ready.
    public var oldestWait: Double?
    /// Seconds until the first retry is due, if no pass is held or ready; else nil.
    public var nextRetry: Double?
    /// The number of passes with failed attempts.
    public var failureCount: Int
    /// Some of these passes, by index: a page, with the one that failed the job.
    public var failures: [PassFailure]
    /// The host on which the job waits for room on a disk; nil if it does not wait.
    public var spaceNote: SpaceNote?
    /// The workers that the job excludes, by name.
    public var excluded: [String: Exclusion]
    /// Why the job failed; nil if it has not.
    public var failure: ReelFailure?
    /// Whether the job failed while probing, so that there is no plan.
    public var isRefused: Bool
    /// What the submitter says of the job, as `Board.describe` got it; nil if nothing.
    public var submission: String?

    /// The host of a worker that a job excludes, and the reason.
    public struct Exclusion: Hashable, Sendable {
        /// The worker's host.
        public var host: String
        /// Why the worker cannot take the job.
        public var reason: ReelFailure

        package init(host: String, reason: ReelFailure) {
            self.host = host
            self.reason = reason
        }
    }

    /// A host whose disk was full, and what failed there.
    public struct SpaceNote: Hashable, Sendable {
        /// The host.
        public var host: String
        /// The failure for lack of room.
        public var reason: ReelFailure

        package init(host: String, reason: ReelFailure) {
            self.host = host
            self.reason = reason
        }
    }

    /// Counts of a job's passes. Each pass without the assembly counts in `done`, `live`, `ready` or `retrying`, and
    /// one that failed the job in `exhausted`, too.
    public struct PassCounts: Hashable, Sendable {
        /// Finished passes.
        public var done = 0
        /// Passes that a worker holds, assembly or planning included.
        public var live = 0
        /// Passes that a worker can claim.
        public var ready = 0
        /// Passes that failed and wait until their retry is due.
        public var retrying = 0
        /// 1 if the job failed because a pass has no attempt left, else 0.
        public var exhausted = 0

        package init(done: Int = 0, live: Int = 0, ready: Int = 0, retrying: Int = 0, exhausted: Int = 0) {
            self.done = done
            self.live = live
            self.ready = ready
            self.retrying = retrying
            self.exhausted = exhausted
        }
    }

    package init(
        job: BoardJob, state: JobState, isPaused: Bool = false, passes: PassCounts = PassCounts(),
        framesEncoded: Int = 0, framesDecoded: Int = 0, pace: Pace = .none, peakRSS: Int64 = 0,
        cpuSeconds: Double = 0, elapsed: Double? = nil, created: Double, finished: Double? = nil,
        oldestWait: Double? = nil, nextRetry: Double? = nil, failureCount: Int = 0,
        failures: [PassFailure] = [], spaceNote: SpaceNote? = nil, excluded: [String: Exclusion] = [:],
        failure: ReelFailure? = nil, isRefused: Bool = false, submission: String? = nil
    ) {
        self.job = job
        self.state = state
        self.isPaused = isPaused
        self.passes = passes
        self.framesEncoded = framesEncoded
        self.framesDecoded = framesDecoded
        self.pace = pace
        self.peakRSS = peakRSS
        self.cpuSeconds = cpuSeconds
        self.elapsed = elapsed
        self.created = created
        self.finished = finished
        self.oldestWait = oldestWait
        self.nextRetry = nextRetry
        self.failureCount = failureCount
        self.failures = failures
        self.spaceNote = spaceNote
        self.excluded = excluded
        self.failure = failure
        self.isRefused = isRefused
        self.submission = submission
    }
}

/// The speed of work.
public struct Pace: Hashable, Sendable {
    /// Frames encoded per second.
    public var framesPerSecond: Double
    /// Passes finished per second.
    public var passesPerSecond: Double

    package init(framesPerSecond: Double, passesPerSecond: Double) {
        self.framesPerSecond = framesPerSecond
        self.passesPerSecond = passesPerSecond
    }

    /// The speed if no work is done.
    public static let none = Pace(framesPerSecond: 0, passesPerSecond: 0)
}

/// The failed attempts at one pass.
public struct PassFailure: Hashable, Sendable {
    /// The pass's index; `BoardJob.planningIndex` for planning.
    public var index: Int
    /// The number of failed attempts by cause, a raw value of `FailureCause`.
    public var attempts: [String: Int]
    /// The last five attempts, the oldest first.
    public var recent: [Attempt]

    /// A failed attempt.
    public struct Attempt: Hashable, Sendable {
        /// The cause, a raw value of `FailureCause`.
        public var cause: String
        /// Why the attempt failed.
        public var reason: ReelFailure
        /// The worker's name.
        public var worker: String
        /// The worker's host.
        public var host: String
        /// The token of the attempt, which names the file in the store with the engine's last lines.
        public var token: String
        /// When it failed, in seconds since 1970 by Redis's clock.
        public var time: Double

        package init(cause: String, reason: ReelFailure, worker: String, host: String, token: String, time: Double) {
            self.cause = cause
            self.reason = reason
            self.worker = worker
            self.host = host
            self.token = token
            self.time = time
        }
    }

    package init(index: Int, attempts: [String: Int], recent: [Attempt]) {
        self.index = index
        self.attempts = attempts
        self.recent = recent
    }
}

/// One of a job's passes, as it is now.
public struct PassLook: Hashable, Sendable {
    /// As it was published; nil if the job is over and does not need it any more.
    public var pass: Pass?
    /// Whether its result is recorded.
    public var isFinished: Bool
    /// The worker that holds it; nil if none does.
    public var worker: WorkerID?
    /// The frames that this worker has encoded.
    public var framesEncoded: Int?
    /// Failed attempts by cause.
    public var attempts: [String: Int]
    /// Whether it failed and waits for a retry.
    public var isWaiting: Bool
    /// Whether it failed the job.
    public var isExhausted: Bool
}

/// A job's passes in cells of about equal size, in the order in which they are given out.
public struct PassStrip: Hashable, Sendable {
    /// The cells.
    public var cells: [Cell]

    /// Counts of the passes of one cell. Passes that are not counted as done, live or failed wait to be given out.
    public struct Cell: Hashable, Sendable {
        /// All passes of the cell.
        public var passes: Int
        /// Finished passes.
        public var done = 0
        /// Passes that a worker holds.
        public var live = 0
        /// Passes that failed and wait for a retry, and the one that failed the job.
        public var failed = 0

        package init(passes: Int, done: Int = 0, live: Int = 0, failed: Int = 0) {
            self.passes = passes
            self.done = done
            self.live = live
            self.failed = failed
        }
    }

    package init(cells: [Cell]) { self.cells = cells }
}

/// A worker on the board as it is now.
public struct WorkerStatus: Hashable, Sendable {
    /// The worker's report with its last beat.
    public var report: WorkerReport
    /// Seconds since its last beat, by Redis's clock.
    public var beatAge: Double
    /// Whether the last beat is longer ago than a lease. Such a worker is listed for an hour.
    public var isGone: Bool
    /// What of it a user has drained: the worker itself or its host; nil if neither.
    public var drained: DrainScope?
    /// The passes that it holds, by token.
    public var holds: [String: Hold]

    /// Work that a worker holds.
    public struct Hold: Hashable, Sendable {
        /// Seconds since it was claimed.
        public var seconds: Double
        /// What was claimed.
        public var work: Work

        package init(seconds: Double, work: Work) {
            self.seconds = seconds
            self.work = work
        }
    }

    package init(
        report: WorkerReport, beatAge: Double, isGone: Bool = false, drained: DrainScope? = nil,
        holds: [String: Hold] = [:]
    ) {
        self.report = report
        self.beatAge = beatAge
        self.isGone = isGone
        self.drained = drained
        self.holds = holds
    }
}
