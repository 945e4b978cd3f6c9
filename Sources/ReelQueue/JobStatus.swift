package import ReelCore

/// A job on the board as it is now.
package struct JobStatus: Hashable, Sendable {
    /// The job as begun or published, with the weight that it has now.
    package var job: BoardJob
    package var state: JobState
    /// Whether a user paused the job, so that none of its passes is given out.
    package var isPaused: Bool
    package var passes: PassCounts
    /// The number of frames encoded by finished passes and, as last reported, by passes that are held.
    package var framesEncoded: Int
    /// The number of frames decoded, counted likewise.
    package var framesDecoded: Int
    /// How much of the assembly is done, 0 to 1, as last reported; nil while no worker holds it.
    package var assembled: Double?
    /// The speed over the last minute, or since the job could be worked on if that is less.
    package var pace: Pace
    /// The greatest peak of resident memory among the engines that finished a pass, in bytes.
    package var peakRSS: Int64
    /// Seconds of CPU time that the engines of finished passes took.
    package var cpuSeconds: Double
    /// Seconds since the first pass was given out; nil before. If the job has run again, since then.
    package var elapsed: Double?
    /// When the job was begun, in seconds since 1970 by Redis's clock.
    package var created: Double
    /// When the job ended, in seconds since 1970 by Redis's clock; nil if it has not.
    package var finished: Double?
    /// Seconds since the pass that has waited longest became ready; nil if no pass is ready.
    package var oldestWait: Double?
    /// Seconds until the first retry is due, if no pass is held or ready; else nil.
    package var nextRetry: Double?
    /// The number of passes with failed attempts.
    package var failureCount: Int
    /// Some of these passes, by index: a page, with the one that failed the job.
    package var failures: [PassFailure]
    /// The host on which the job waits for room on a disk, and what failed there; nil if it does not wait.
    package var spaceNote: HostFailure?
    /// The workers that the job excludes, by name: the host of each, and why it cannot take the job.
    package var excluded: [String: HostFailure]
    package var failure: ReelFailure?
    /// Whether the job failed while probing, so that there is no plan.
    package var isRefused: Bool
    /// What the submitter says of the job, as `Board.describe` got it; nil if nothing.
    package var submission: String?

    /// What failed on a host.
    package struct HostFailure: Hashable, Sendable {
        package var host: String
        package var reason: ReelFailure

        package init(host: String, reason: ReelFailure) {
            self.host = host
            self.reason = reason
        }
    }

    /// Counts of a job's passes. Each pass without the assembly counts in `done`, `live`, `ready` or `retrying`, and
    /// one that failed the job in `exhausted`, too.
    package struct PassCounts: Hashable, Sendable {
        package var done = 0
        /// Passes that a worker holds, assembly or planning included.
        package var live = 0
        /// Passes that a worker can claim.
        package var ready = 0
        /// Passes that failed and wait until their retry is due.
        package var retrying = 0
        /// 1 if the job failed because a pass has no attempt left, else 0.
        package var exhausted = 0

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
        framesEncoded: Int = 0, framesDecoded: Int = 0, assembled: Double? = nil, pace: Pace = .none,
        peakRSS: Int64 = 0,
        cpuSeconds: Double = 0, elapsed: Double? = nil, created: Double, finished: Double? = nil,
        oldestWait: Double? = nil, nextRetry: Double? = nil, failureCount: Int = 0,
        failures: [PassFailure] = [], spaceNote: HostFailure? = nil, excluded: [String: HostFailure] = [:],
        failure: ReelFailure? = nil, isRefused: Bool = false, submission: String? = nil
    ) {
        self.job = job
        self.state = state
        self.isPaused = isPaused
        self.passes = passes
        self.framesEncoded = framesEncoded
        self.framesDecoded = framesDecoded
        self.assembled = assembled
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

/// The failed attempts at one pass.
package struct PassFailure: Hashable, Sendable {
    /// The pass's index; `BoardJob.planningIndex` for planning.
    package var index: Int
    /// The number of failed attempts by cause, a raw value of `FailureCause`.
    package var attempts: [String: Int]
    /// The last five attempts, the oldest first.
    package var recent: [Attempt]

    package struct Attempt: Hashable, Sendable {
        /// The cause, a raw value of `FailureCause`.
        package var cause: String
        package var reason: ReelFailure
        package var worker: String
        package var host: String
        /// The token of the attempt, which names the file in the store with the engine's last lines.
        package var token: String
        /// When it failed, in seconds since 1970 by Redis's clock.
        package var time: Double

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
