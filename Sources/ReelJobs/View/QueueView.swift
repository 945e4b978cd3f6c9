public import ReelCore
public import ReelQueue
internal import ReelWords

/// The queue as `--json` shows it: all jobs together, and each. Documented in docs/json.md; names only ever get added.
public struct QueueView: Codable, Hashable, Sendable {
    /// Jobs that have not ended, and those that failed and are still on the board.
    public var active: Int
    public var failed: Int
    /// Passes of the jobs that are listed.
    public var ready: Int
    public var inFlight: Int
    public var retrying: Int
    public var exhausted: Int
    /// Seconds for which the pass that waits longest has been ready; missing where none is.
    public var oldestWait: Double?
    /// Of all jobs over the last minute.
    public var framesPerSecond: Double
    public var passesPerSecond: Double
    /// Seconds until the frames of all jobs that are listed are there, those excepted that are paused; missing where
    /// the speed tells nothing.
    public var eta: Double?
    /// Workers that beat, their slots, and the slots that work.
    public var workers: Int
    public var slots: Int
    public var slotsBusy: Int
    /// Those that have not ended, the oldest first, then those that failed, the latest first; a page of each.
    public var jobs: [JobView]
    /// Jobs of which the board holds something that cannot be read: nothing of them is given out.
    public var unreadable: [UnreadableView]

    public struct UnreadableView: Codable, Hashable, Sendable {
        public var id: String
        public var reason: String
        public var code: String
    }

    public init(
        jobs: [JobView], counts: (active: Int, failed: Int), pace: Pace, workers: [WorkerStatus],
        unreadable: [JobID: ReelFailure] = [:]
    ) {
        (active, failed) = counts
        ready = jobs.reduce(0) { $0 + $1.passesReady }
        inFlight = jobs.reduce(0) { $0 + $1.passesLive }
        retrying = jobs.reduce(0) { $0 + $1.passesRetrying }
        exhausted = jobs.reduce(0) { $0 + $1.passesExhausted }
        oldestWait = jobs.compactMap(\.oldestWait).max()
        framesPerSecond = pace.framesPerSecond
        passesPerSecond = pace.passesPerSecond
        let going = jobs.filter { !$0.state.isTerminal && !$0.paused }
        let left = going.reduce(0) { $0 + max($1.frames - $1.framesEncoded, 0) }
        // By their own speeds, which do not count the time before there was work.
        let speed = going.reduce(0) { $0 + $1.framesPerSecond }
        eta = left > 0 && speed > 0 ? Double(left) / speed : nil
        let alive = workers.filter { !$0.isGone }
        self.workers = alive.count
        slots = alive.reduce(0) { $0 + $1.report.slots - $1.report.slotsOut }
        slotsBusy = alive.reduce(0) { $0 + $1.report.held.count }
        self.jobs = jobs
        self.unreadable = unreadable.sorted { $0.key.text < $1.key.text }.map {
            UnreadableView(id: $0.key.text, reason: $0.value.words, code: $0.value.reason.code)
        }
    }
}
