package import ReelCore
package import ReelQueue
internal import ReelWords

/// The queue as `--json` shows it: all jobs together, and each. Documented in docs/json.md; names only ever get added.
package struct QueueView: Codable, Hashable, Sendable {
    package var active: Int
    /// Jobs that failed and are still on the board.
    package var failed: Int
    package var ready: Int
    package var inFlight: Int
    package var retrying: Int
    /// Passes, of the listed jobs, that ran out of attempts.
    package var exhausted: Int
    /// Seconds for which the pass that waits longest has been ready; missing if none is. Like the passes above it
    /// counts all jobs that have not ended, or with a filter the listed jobs.
    package var oldestWait: Double?
    /// Frames of all jobs encoded in a second, over the last minute.
    package var framesPerSecond: Double
    /// Passes of all jobs finished in a second, over the last minute.
    package var passesPerSecond: Double
    /// Seconds until the frames of all listed jobs that are not paused are there; missing if the speed tells nothing.
    package var eta: Double?
    /// Workers whose last beat is not older than a lease.
    package var workers: Int
    /// Slots of these workers that claim passes, or that hold one though their worker is drained.
    package var slots: Int
    /// Slots of these workers that hold a pass.
    package var slotsBusy: Int
    /// Jobs that have not ended, the oldest first, then the failed ones, the latest first; a page of each.
    package var jobs: [JobView]
    /// Jobs of which the board holds something that cannot be read: none of their passes can be claimed.
    package var unreadable: [UnreadableView]

    package struct UnreadableView: Codable, Hashable, Sendable {
        package var id: String
        package var reason: String
        package var code: String
    }

    /// - Parameter figures: the sums over all jobs; nil if only the listed jobs are to count.
    package init(
        jobs: [JobView], counts: (active: Int, failed: Int), figures: BoardFigures? = nil, pace: Pace,
        workers: [WorkerStatus], unreadable: [JobID: ReelFailure] = [:]
    ) {
        (active, failed) = counts
        if let figures {
            (ready, inFlight, retrying) = (figures.passes.ready, figures.passes.live, figures.passes.retrying)
            oldestWait = figures.oldestReady
        } else {
            ready = jobs.reduce(0) { $0 + $1.passesReady }
            inFlight = jobs.reduce(0) { $0 + $1.passesLive }
            retrying = jobs.reduce(0) { $0 + $1.passesRetrying }
            oldestWait = jobs.compactMap(\.oldestWait).max()
        }
        exhausted = jobs.reduce(0) { $0 + $1.passesExhausted }
        framesPerSecond = pace.framesPerSecond
        passesPerSecond = pace.passesPerSecond
        let going = jobs.filter { !$0.state.isTerminal && !$0.paused }
        let left = going.reduce(0) { $0 + max($1.frames - $1.framesEncoded, 0) }
        // Each job's own speed leaves out the time before it could be worked on; the speed of all jobs does not.
        let speed = going.reduce(0) { $0 + $1.framesPerSecond }
        eta = left > 0 && speed > 0 ? Double(left) / speed : nil
        let alive = workers.filter { !$0.isGone }
        self.workers = alive.count
        slots = alive.reduce(0) { sum, worker in
            let report = worker.report
            return sum + (worker.drained == nil ? report.slots - report.slotsOut : report.held.count)
        }
        slotsBusy = alive.reduce(0) { $0 + $1.report.held.count }
        self.jobs = jobs
        self.unreadable = UnreadableView.all(unreadable)
    }
}

extension QueueView.UnreadableView {
    /// Those of a list, by id.
    package static func all(_ unreadable: [JobID: ReelFailure]) -> [QueueView.UnreadableView] {
        unreadable.sorted { $0.key.text < $1.key.text }.map {
            QueueView.UnreadableView(id: $0.key.text, reason: $0.value.words, code: $0.value.reason.code)
        }
    }
}
