public import ReelCore

/// A job as the board knows it now.
public struct JobStatus: Hashable, Sendable {
    public var job: PublishedJob
    public var state: JobState
    /// Nothing of it is given out.
    public var isPaused: Bool
    public var passes: PassCounts
    /// Frames encoded by finished passes and, as last reported, by those in flight.
    public var framesEncoded: Int
    public var framesDecoded: Int
    /// Over the last minute, or since it could be worked on where that is less.
    public var pace: Pace
    /// Bytes, the greatest of any engine that finished a pass.
    public var peakRSS: Int64
    /// Seconds since 1970 by Redis's clock.
    public var created: Double
    public var finished: Double?
    /// Seconds for which the pass that waits longest has been ready; nil where none is.
    public var oldestWait: Double?
    /// Seconds until the first retry is due, where all that is left waits for that; nil else.
    public var nextRetry: Double?
    /// How many passes there are of which attempts failed.
    public var failureCount: Int
    /// A page of them, by index.
    public var failures: [PassFailure]
    /// Where room on a disk is waited for, and what for.
    public var spaceNote: SpaceNote?
    /// Workers that get nothing of this job, by name.
    public var excluded: [String: Exclusion]
    /// The job's own failure, where it failed.
    public var failure: ReelFailure?
    /// It failed while probing: there is no plan.
    public var isRefused: Bool

    /// Where a worker is that gets nothing of a job, and why it does not.
    public struct Exclusion: Hashable, Sendable {
        public var host: String
        public var reason: ReelFailure

        public init(host: String, reason: ReelFailure) {
            self.host = host
            self.reason = reason
        }
    }

    /// A host whose disk was full, and what was wanted there.
    public struct SpaceNote: Hashable, Sendable {
        public var host: String
        public var reason: ReelFailure

        public init(host: String, reason: ReelFailure) {
            self.host = host
            self.reason = reason
        }
    }

    /// Of the passes without the assembly, each counts in one of these, the exhausted one in `ready`, too.
    public struct PassCounts: Hashable, Sendable {
        public var done = 0
        /// Held by a worker, the assembly or the probe included.
        public var live = 0
        /// Nobody has them, and any worker may.
        public var ready = 0
        /// Failed before, and wait until they are due.
        public var retrying = 0
        /// Out of attempts: the job failed for it.
        public var exhausted = 0

        public init(done: Int = 0, live: Int = 0, ready: Int = 0, retrying: Int = 0, exhausted: Int = 0) {
            self.done = done
            self.live = live
            self.ready = ready
            self.retrying = retrying
            self.exhausted = exhausted
        }
    }

    public init(
        job: PublishedJob, state: JobState, isPaused: Bool = false, passes: PassCounts = PassCounts(),
        framesEncoded: Int = 0, framesDecoded: Int = 0, pace: Pace = .none, peakRSS: Int64 = 0, created: Double,
        finished: Double? = nil, oldestWait: Double? = nil, nextRetry: Double? = nil, failureCount: Int = 0,
        failures: [PassFailure] = [], spaceNote: SpaceNote? = nil, excluded: [String: Exclusion] = [:],
        failure: ReelFailure? = nil, isRefused: Bool = false
    ) {
        self.job = job
        self.state = state
        self.isPaused = isPaused
        self.passes = passes
        self.framesEncoded = framesEncoded
        self.framesDecoded = framesDecoded
        self.pace = pace
        self.peakRSS = peakRSS
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
    }
}

/// How fast work gets done.
public struct Pace: Hashable, Sendable {
    public var framesPerSecond: Double
    public var passesPerSecond: Double

    public init(framesPerSecond: Double, passesPerSecond: Double) {
        self.framesPerSecond = framesPerSecond
        self.passesPerSecond = passesPerSecond
    }

    public static let none = Pace(framesPerSecond: 0, passesPerSecond: 0)
}

/// Attempts that failed at one pass.
public struct PassFailure: Hashable, Sendable {
    /// `PublishedJob.probeIndex` for the probe.
    public var index: Int
    /// Attempts by cause, by `FailureCause.rawValue`.
    public var attempts: [String: Int]
    /// The last five, the oldest first.
    public var recent: [Attempt]

    public struct Attempt: Hashable, Sendable {
        public var cause: String
        public var reason: ReelFailure
        public var worker: String
        public var host: String
        /// Names the file in the store in which the engine's last words are.
        public var token: String
        /// Seconds since 1970 by Redis's clock.
        public var time: Double

        public init(cause: String, reason: ReelFailure, worker: String, host: String, token: String, time: Double) {
            self.cause = cause
            self.reason = reason
            self.worker = worker
            self.host = host
            self.token = token
            self.time = time
        }
    }

    public init(index: Int, attempts: [String: Int], recent: [Attempt]) {
        self.index = index
        self.attempts = attempts
        self.recent = recent
    }
}

/// A job's passes in cells of equal size, from the first to be given out to the last.
public struct PassStrip: Hashable, Sendable {
    public var cells: [Cell]

    /// How many passes of the cell are in which condition; the rest waits to be given out.
    public struct Cell: Hashable, Sendable {
        public var passes: Int
        public var done = 0
        public var live = 0
        /// Failed at least once, and wait.
        public var failed = 0

        public init(passes: Int, done: Int = 0, live: Int = 0, failed: Int = 0) {
            self.passes = passes
            self.done = done
            self.live = live
            self.failed = failed
        }
    }

    public init(cells: [Cell]) { self.cells = cells }
}

/// A worker as the board knows it.
public struct WorkerStatus: Codable, Hashable, Sendable {
    public var report: WorkerReport
    /// Seconds since its last beat, by Redis's clock.
    public var beatAge: Double
    /// Its beats have stopped for longer than a lease; it may be listed for a while.
    public var isGone: Bool
    public var draining: Bool
    /// What the board knows of the passes that it holds, by token.
    public var holds: [String: Hold]

    public struct Hold: Codable, Hashable, Sendable {
        /// Since it was claimed.
        public var seconds: Double
        public var pass: Pass

        public init(seconds: Double, pass: Pass) {
            self.seconds = seconds
            self.pass = pass
        }
    }

    public init(
        report: WorkerReport, beatAge: Double, isGone: Bool = false, draining: Bool, holds: [String: Hold] = [:]
    ) {
        self.report = report
        self.beatAge = beatAge
        self.isGone = isGone
        self.draining = draining
        self.holds = holds
    }
}
