internal import ReelCore

/// Whether a slot's engines still do what they should. A bad job crashes on every machine, a bad machine in every job: a
/// slot whose engines crash in several jobs in a row, with nothing finished between, may be of a bad machine and must not
/// eat the queue. It claims nothing until an engine has done a clip of the worker's own.
struct SlotHealth {
    static let jobsInARow = 3

    private var crashed: Set<JobID> = []
    /// Jobs in which engines crashed before the slot proved itself: it was they.
    private var blamed: Set<JobID> = []
    /// How often it had to prove itself since a pass was last finished.
    private var trials = 0

    /// How long to wait before the slot is tried; nil where it need not be. Nothing at first, since most that crashes is
    /// a bad job; then a minute, and twice as long each time, up to half an hour.
    var pauseBeforeTrial: Duration? {
        guard crashed.count >= SlotHealth.jobsInARow else { return nil }
        return trials == 0 ? .zero : .seconds(min(60 << min(trials - 1, 5), 1800))
    }

    mutating func passFinished() {
        crashed = []
        trials = 0
    }

    /// An engine crashed in a job of which no other host is known to crash at the same place.
    mutating func engineCrashed(in job: JobID) {
        if !blamed.contains(job) { crashed.insert(job) }
    }

    /// An engine was given the worker's own clip, and did it or not.
    mutating func tried(succeeded: Bool) {
        trials += 1
        guard succeeded else { return }
        blamed = blamed.count < 1000 ? blamed.union(crashed) : crashed
        crashed = []
    }
}
