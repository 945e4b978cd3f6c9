internal import ReelCore
internal import ReelJobs
internal import ReelQueue

// The output of `--json` of commands that change something. Documented in docs/json.md; names only ever get added.

struct JobChangeView: Encodable {
    var id: String
    var outcome: String
    /// How the job had ended, if it was too late to cancel it.
    var state: JobState?
    /// Its new share of the work, if that was changed.
    var weight: Double?
    /// The finished passes of a job that was put back on the board.
    var passesDone: Int?

    init(_ job: JobID, _ change: JobService.ControlOutcome) {
        id = job.text
        switch change {
        case .cancelled: outcome = "cancelled"
        case .hadEnded(let end): (outcome, state) = ("had-ended", end)
        case .paused: outcome = "paused"
        case .resumed: outcome = "resumed"
        case .weighed(let weight): (outcome, self.weight) = ("weighed", weight)
        case .retried: outcome = "retried"
        case .removed: outcome = "removed"
        }
    }

    /// A job on the board, after a recovery.
    ///
    /// - Parameter passesDone: nil if the board had it.
    init(onBoard job: JobID, passesDone: Int?) {
        (id, outcome) = (job.text, passesDone == nil ? "known" : "recovered")
        self.passesDone = passesDone
    }
}

/// A host or worker that was drained, or whose drain was taken back.
struct WorkerChangeView: Encodable {
    var name: String
    /// "host" or "worker"; missing if the name is of neither.
    var scope: String?
    var outcome: String
    /// How many workers were told.
    var workers: Int?
    var host: String?

    init(_ change: JobService.DrainOutcome) {
        switch change {
        case .drained(let name, let scope, let count):
            (self.name, self.scope, outcome, workers) = (name, scope.rawValue, "drained", count)
        case .gone(let worker): (name, scope, outcome) = (worker.text, DrainScope.worker.rawValue, "gone")
        }
    }

    init(_ change: JobService.UndrainOutcome) {
        switch change {
        case .undrained(let name, let scope, _): (self.name, self.scope, outcome) = (name, scope.rawValue, "undrained")
        case .hostIsDrained(let worker, let host):
            (name, scope, outcome) = (worker.text, DrainScope.worker.rawValue, "host-drained")
            self.host = host
        case .wasNotDrained(let name): (self.name, outcome) = (name, "not-drained")
        }
    }
}

/// A video that a command was asked for and left out.
struct SkippedView: Encodable {
    var source: String
    var outcome = "skipped"
    var reason: Reason
    /// The output that is there.
    var output: String?

    enum Reason: String, Encodable {
        case exists
        case isOutput = "is-output"
        case namedTwice = "named-twice"
    }
}

/// A store that was made, or that existed.
struct StoreView: Encodable {
    var store: String
    var id: String
}

/// A board whose Redis has reel's functions.
struct BoardView: Encodable {
    var redis: String
    /// "loaded", or "present" if Redis had them.
    var outcome: String
}
