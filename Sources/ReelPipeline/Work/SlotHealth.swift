internal import ReelCore

/// Whether a slot's engines still do what they should. A bad job crashes on every machine, a bad machine in every job:
/// a slot whose engines crash in several jobs in a row, with nothing finished between, is of a bad machine and must
/// not eat the queue.
struct SlotHealth {
    static let jobsInARow = 3

    private var crashed: Set<JobID> = []

    var isFit: Bool { crashed.count < SlotHealth.jobsInARow }

    mutating func passFinished() { crashed = [] }

    mutating func engineCrashed(in job: JobID) { crashed.insert(job) }
}
