package import ReelCore
package import ReelQueue
internal import ReelWords

/// The queue as `--json` shows it: all jobs together, and each. Names only ever get added; docs/json.md explains them.
package struct QueueView: Codable, Hashable, Sendable {
    package var active: Int
    package var failed: Int
    package var ready: Int
    package var inFlight: Int
    package var retrying: Int
    package var exhausted: Int
    package var oldestWait: Double?
    package var framesPerSecond: Double
    package var passesPerSecond: Double
    package var eta: Double?
    package var workers: Int
    /// Slots of live workers that claim passes, or that hold one though their worker is drained.
    package var slots: Int
    package var slotsBusy: Int
    package var jobs: [JobView]
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

/// What the board has counted, and its jobs, passes and slots by state, as `BoardFigures` explains them. Names only ever
/// get added.
package struct MetricsView: Codable, Hashable, Sendable {
    package var jobs: [String: Int]
    package var jobsEnded: [String: Int]
    package var passes: [String: Int]
    package var passAttempts: [AttemptsView]
    package var passDuration: HistogramView
    package var passWait: HistogramView
    package var framesDecoded: Int
    package var framesEncoded: Int
    package var outputBytes: Int
    package var leasesLost: Int
    package var webhooks: [String: Int]
    package var oldestReadySeconds: Double?
    package var slots: [String: Int]
    package var workers: Int
    package var redisMemoryBytes: Int64
    package var redisMemoryLimitBytes: Int64?

    package struct AttemptsView: Codable, Hashable, Sendable {
        package var outcome: String
        package var cause: String?
        package var count: Int
    }

    package struct HistogramView: Codable, Hashable, Sendable {
        /// The buckets with a bound, the least bound first.
        package var buckets: [Bucket]
        /// In seconds.
        package var sum: Double
        /// The number of all times, including those above the last bound.
        package var count: Int

        /// How many times are not above a bound.
        package struct Bucket: Codable, Hashable, Sendable {
            /// The bound in seconds, inclusive.
            package var le: Double
            package var count: Int
        }
    }
}

extension MetricsView {
    package init(_ figures: BoardFigures, memory: (used: Int64, limit: Int64?)) {
        let (jobs, ended, passes) = (figures.jobs, figures.jobsEnded, figures.passes)
        let (webhooks, slots) = (figures.webhooks, figures.slots)
        self.init(
            jobs: [
                "probing": jobs.probing, "running": jobs.running, "assembling": jobs.assembling,
                "paused": jobs.paused, "done": jobs.done, "failed": jobs.failed, "cancelled": jobs.cancelled,
                "unreadable": jobs.unreadable,
            ], jobsEnded: ["done": ended.done, "failed": ended.failed, "cancelled": ended.cancelled],
            passes: [
                "ready": passes.ready, "live": passes.live, "retrying": passes.retrying, "paused": passes.paused,
                "done": passes.done,
            ],
            passAttempts: BoardFigures.Attempt.allCases.map {
                AttemptsView(outcome: $0.outcome, cause: $0.cause?.rawValue, count: figures.attempts[$0] ?? 0)
            }, passDuration: HistogramView(figures.passDuration), passWait: HistogramView(figures.passWait),
            framesDecoded: figures.framesDecoded, framesEncoded: figures.framesEncoded,
            outputBytes: figures.outputBytes, leasesLost: figures.leasesLost,
            webhooks: ["sent": webhooks.sent, "retried": webhooks.retried, "given-up": webhooks.givenUp],
            oldestReadySeconds: figures.oldestReady,
            slots: ["busy": slots.busy, "free": slots.free, "out": slots.out, "drained": slots.drained],
            workers: figures.workers, redisMemoryBytes: memory.used, redisMemoryLimitBytes: memory.limit)
    }
}

extension MetricsView.HistogramView {
    fileprivate init(_ histogram: BoardFigures.Histogram) {
        var sum = 0
        buckets = zip(BoardFigures.Histogram.bounds, histogram.counts).map { bound, count in
            sum += count
            return Bucket(le: bound, count: sum)
        }
        self.sum = histogram.sum
        count = histogram.count
    }
}

/// How much work there is for how many slots, for programs that start and stop workers. Names only ever get added.
package struct DemandView: Codable, Hashable, Sendable {
    package var demand: Demand

    package struct Demand: Codable, Hashable, Sendable {
        /// Slots that could work now: the slots that hold a pass, and one for each pass that can be claimed.
        package var slotsWanted: Int
        package var slotsBusy: Int
        package var passesReady: Int
        package var passesInFlight: Int
        /// Seconds for which the pass that waits longest has been ready; missing if none is.
        package var oldestReadySeconds: Double?
    }

    package init(_ figures: BoardFigures) {
        demand = Demand(
            slotsWanted: figures.slotsWanted, slotsBusy: figures.slots.busy, passesReady: figures.passes.ready,
            passesInFlight: figures.passes.live, oldestReadySeconds: figures.oldestReady)
    }
}

/// The speed of all jobs in each minute of the last hour. Names only ever get added.
package struct RatesView: Codable, Hashable, Sendable {
    /// The last 60 whole minutes, the oldest first.
    package var minutes: [MinuteView]

    package struct MinuteView: Codable, Hashable, Sendable {
        package var time: Int
        package var framesPerSecond: Double
        package var passesPerSecond: Double
    }

    package init(_ rates: [MinuteRate]) {
        minutes = rates.map {
            MinuteView(
                time: $0.time, framesPerSecond: $0.pace.framesPerSecond, passesPerSecond: $0.pace.passesPerSecond)
        }
    }
}

/// A worker as `--json` shows it. Names only ever get added; docs/json.md explains them.
package struct WorkerView: Codable, Hashable, Sendable {
    package var id: String
    package var host: String
    package var slots: Int
    package var slotsOut: Int
    package var memoryTotal: Int64
    package var version: String?
    package var store: String?
    package var uptime: Double?
    package var beatAge: Double
    package var gone: Bool
    package var draining: Bool
    package var drained: DrainScope?
    package var sandbox: SandboxState?
    package var sourceRoots: [String]?
    package var notes: [String]
    package var diagnostics: [DiagnosticView]
    package var passes: [HoldView]

    package struct HoldView: Codable, Hashable, Sendable {
        package var job: String
        package var pass: Int
        package var framesDecoded: Int
        package var framesEncoded: Int
        package var assembled: Double?
        package var frames: Int?
        package var kind: String?
        package var seconds: Double?
        /// Missing, too, if some chunks were whole when it was claimed.
        package var framesPerSecond: Double?

        init(_ held: WorkerReport.Held, _ hold: WorkerStatus.Hold?) {
            (job, pass) = (held.job.text, held.index)
            let isAssembly = hold?.work == .assembly
            (framesDecoded, framesEncoded) = (isAssembly ? 0 : held.decoded, held.encoded)
            assembled = isAssembly ? Double(min(held.decoded, 1000)) / 1000 : nil
            seconds = hold?.seconds
            kind = hold?.work.rawValue
            guard hold?.work == .video else { return }
            frames = held.frames
            if let seconds, seconds > 0, held.encoded > 0, held.wholeChunks == 0 {
                framesPerSecond = Double(held.encoded) / seconds
            }
        }
    }
}

extension WorkerView {
    package init(_ status: WorkerStatus) {
        let (report, diagnostics) = (status.report, status.report.notes.map(DiagnosticView.init))
        self.init(
            id: report.worker.text, host: report.host, slots: report.slots, slotsOut: report.slotsOut,
            memoryTotal: report.memoryTotal, version: report.version, store: report.store, uptime: report.uptime,
            beatAge: status.beatAge, gone: status.isGone, draining: status.drained != nil, drained: status.drained,
            sandbox: report.sandbox, sourceRoots: report.sourceRoots?.folders, notes: diagnostics.map(\.message),
            diagnostics: diagnostics,
            passes: report.held.sorted { ($0.job.text, $0.index) < ($1.job.text, $1.index) }
                .map { HoldView($0, status.holds[$0.token]) })
    }
}
