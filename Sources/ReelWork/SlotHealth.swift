package import ReelCore

/// Whether a slot's engines still work. A bad job crashes engines on every machine, and a bad machine crashes engines of
/// every job. If a slot's engines crash in several jobs in a row, with no pass finished between, the machine may be bad,
/// and the slot must not use up the attempts of more jobs. It claims nothing until an engine has done a clip of the
/// worker's own.
package struct SlotHealth {
    /// Crashes in this many jobs in a row stop a slot.
    package static let jobsInARow = 3

    private var crashed: Set<JobID> = []
    /// Jobs in which engines crashed before the slot's engine did the clip: those jobs were at fault.
    private var blamed: Set<JobID> = []
    /// How often an engine was given the clip since a pass was last finished.
    private var trials = 0

    package init() {}

    /// How long to wait before an engine is given the clip; nil if the slot may claim. The first trial comes at once,
    /// since most crashes are a bad job's; the next after a minute, and then after twice as long each time, up to half an
    /// hour.
    package var pauseBeforeTrial: Duration? {
        guard crashed.count >= SlotHealth.jobsInARow else { return nil }
        return trials == 0 ? .zero : .seconds(min(60 << min(trials - 1, 5), 1800))
    }

    /// An engine of this slot has finished a pass.
    package mutating func passFinished() {
        crashed = []
        trials = 0
    }

    /// An engine crashed in a job, and no other host is known to crash at the same place.
    package mutating func engineCrashed(in job: JobID) {
        if !blamed.contains(job) { crashed.insert(job) }
    }

    /// An engine was given the worker's own clip, and did it or not.
    package mutating func tried(succeeded: Bool) {
        trials += 1
        guard succeeded else { return }
        blamed = blamed.count < 1000 ? blamed.union(crashed) : crashed
        crashed = []
    }
}
