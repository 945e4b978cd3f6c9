internal import HeapModule
internal import ReelQueue

/// What the simulation needs to know of a job. All are published at once, at time 0.
struct SimulatedJob {
    /// Work of each pass, in the order in which they are given out.
    var passes: [Double]
    /// Whether the first pass is the sound, which has no like and is never given out twice.
    var hasAudio: Bool
    /// Seconds for joining the segments once all are there, on any machine, since that waits for the store.
    var assembly: Double
}

/// Slots that claim the passes of jobs as reel's workers do, in simulated time.
struct Simulation {
    struct Outcome {
        /// When the last job was assembled (s).
        var makespan = 0.0
        /// Work that was done twice, as a share of what was needed.
        var extraWork = 0.0
    }

    private struct Attempt {
        var job: Int
        var pass: Int
        var start: Double
    }

    private struct JobProgress {
        var next = 0
        var finished: Set<Int> = []
        var virtualTime = 0.0
        var copied: Set<Int> = []
        /// When the board looks for a straggler next.
        var nextLook = 0.0
        /// How long the finished passes took, ascending.
        var times: [Double] = []
    }

    private enum Happening {
        case ask(slot: Int)
        case finish(slot: Int)
        /// The beat at which a worker learns that another was first.
        case kill(slot: Int, pass: Int)
    }

    private struct Event: Comparable {
        var time: Double
        var order: Int
        var what: Happening

        static func == (a: Event, b: Event) -> Bool { a.order == b.order }
        static func < (a: Event, b: Event) -> Bool { (a.time, a.order) < (b.time, b.order) }
    }

    /// How often an idle slot asks again (s).
    private static let askInterval = 1.0
    /// How often the board looks for a straggler of a job (s), however many ask.
    private static let lookInterval = Double(BoardPolicy.tailWait) / 1000

    private let slots: [SimulatedSlot]
    private let jobs: [SimulatedJob]
    private let rule: BackupRule?

    private var events = Heap<Event>()
    private var scheduled = 0
    private var progress: [JobProgress]
    private var attempts: [Attempt?]
    /// Seconds that each slot took for its recent passes.
    private var ownTimes: [Double?]
    private var wasted = 0.0
    private var makespan = 0.0

    init(slots: [SimulatedSlot], jobs: [SimulatedJob], rule: BackupRule?) {
        self.slots = slots
        self.jobs = jobs
        self.rule = rule
        progress = jobs.map { _ in JobProgress() }
        attempts = slots.map { _ in nil }
        ownTimes = attempts.map { _ in nil }
    }

    /// Simulates until all jobs have ended.
    mutating func run() -> Outcome {
        // Slots start in random order, shortly after one another.
        for slot in slots.indices { schedule(.ask(slot: slot), at: slots[slot].beatPhase / 100) }
        while let event = events.popMin() {
            switch event.what {
            case .ask(let slot): if attempts[slot] == nil { claim(slot, at: event.time) }
            case .finish(let slot): finish(slot, at: event.time)
            case .kill(let slot, let pass): kill(slot, pass: pass, at: event.time)
            }
        }
        let needed = jobs.reduce(0) { $0 + $1.passes.reduce(0, +) }
        return Outcome(makespan: makespan, extraWork: wasted / needed)
    }

    private mutating func schedule(_ what: Happening, at time: Double) {
        scheduled += 1
        events.insert(Event(time: time, order: scheduled, what: what))
    }

    // MARK: What happens

    private mutating func claim(_ slot: Int, at time: Double) {
        let ready = jobs.indices.filter { progress[$0].next < jobs[$0].passes.count }.min {
            progress[$0].virtualTime < progress[$1].virtualTime
        }
        if let job = ready {
            progress[job].virtualTime += 1
            begin(job, pass: progress[job].next, on: slot, at: time)
            progress[job].next += 1
        } else if let rule, let straggler = look(for: slot, by: rule, at: time) {
            progress[straggler.job].copied.insert(straggler.pass)
            begin(straggler.job, pass: straggler.pass, on: slot, at: time)
        } else if rule != nil, jobs.indices.contains(where: { progress[$0].finished.count < jobs[$0].passes.count }) {
            schedule(.ask(slot: slot), at: time + Simulation.askInterval)
        }
    }

    private mutating func begin(_ job: Int, pass: Int, on slot: Int, at time: Double) {
        attempts[slot] = Attempt(job: job, pass: pass, start: time)
        schedule(.finish(slot: slot), at: slots[slot].end(of: jobs[job].passes[pass], from: time))
    }

    private mutating func finish(_ slot: Int, at time: Double) {
        // The end of an attempt that was killed.
        guard let attempt = attempts[slot],
            time == slots[slot].end(of: jobs[attempt.job].passes[attempt.pass], from: attempt.start)
        else { return }
        let (job, pass) = (attempt.job, attempt.pass)
        attempts[slot] = nil
        if progress[job].finished.insert(pass).inserted {
            makespan = max(makespan, time + jobs[job].assembly)
            note(time - attempt.start, of: attempt, on: slot)
            for other in slots.indices where attempts[other].map({ $0.job == job && $0.pass == pass }) == true {
                schedule(.kill(slot: other, pass: pass), at: slots[other].beat(after: time))
            }
        } else {
            wasted += jobs[job].passes[pass]
        }
        claim(slot, at: time)
    }

    private mutating func kill(_ slot: Int, pass: Int, at time: Double) {
        guard let attempt = attempts[slot], attempt.pass == pass, progress[attempt.job].finished.contains(pass) else {
            return
        }
        wasted += slots[slot].work(from: attempt.start, to: time)
        attempts[slot] = nil
        claim(slot, at: time)
    }

    // MARK: What is known

    private mutating func note(_ seconds: Double, of attempt: Attempt, on slot: Int) {
        if jobs[attempt.job].hasAudio, attempt.pass == 0 { return }
        ownTimes[slot] = ownTimes[slot].map { ($0 + seconds) / 2 } ?? seconds
        var (low, high) = (0, progress[attempt.job].times.count)
        while low < high {
            let middle = (low + high) / 2
            if progress[attempt.job].times[middle] < seconds { low = middle + 1 } else { high = middle }
        }
        progress[attempt.job].times.insert(seconds, at: low)
    }

    private mutating func look(for slot: Int, by rule: BackupRule, at time: Double) -> Attempt? {
        let open = jobs.indices.filter { progress[$0].finished.count < jobs[$0].passes.count }
        guard open.allSatisfy({ progress[$0].nextLook <= time }) else { return nil }
        for job in open { progress[job].nextLook = time + Simulation.lookInterval }
        return straggler(for: slot, by: rule, at: time)
    }

    /// The attempt that the rule gives out again to an idle slot.
    private func straggler(for slot: Int, by rule: BackupRule, at time: Double) -> Attempt? {
        let running = slots.indices.compactMap { other in attempts[other].map { (other, $0) } }
            .filter { mayCopy($0.1) }
        // Passes of jobs that run together are alike here, so any of these jobs shows the usual time.
        guard let job = running.first?.1.job else { return nil }
        let times = progress[job].times
        let candidates = running.map { candidate($0, on: $1, for: slot, at: time) }
        let place = rule.choose(among: candidates, usual: ownTimes[slot] ?? times[times.count / 2])
        return place.map { running[$0].1 }
    }

    private func mayCopy(_ attempt: Attempt) -> Bool {
        let (job, now) = (jobs[attempt.job], progress[attempt.job])
        return !(job.hasAudio && attempt.pass == 0) && !now.times.isEmpty
            && BoardPolicy.allowsBackup(after: now.copied.count, passes: job.passes.count)
            && !now.copied.contains(attempt.pass) && !now.finished.contains(attempt.pass)
    }

    private func candidate(_ place: Int, on attempt: Attempt, for idle: Int, at time: Double)
        -> BackupRule.Candidate
    {
        let slot = slots[place]
        let whole = jobs[attempt.job].passes[attempt.pass]
        var found = BackupRule.Candidate(
            elapsed: time - attempt.start, leftByReport: time - attempt.start,
            left: slot.end(of: whole, from: attempt.start) - time,
            anew: slots[idle].end(of: whole, from: time) - time)
        let lastBeat = slot.beat(after: time) - SimulatedSlot.beatInterval
        guard lastBeat > attempt.start else { return found }
        let done = slot.work(from: attempt.start, to: lastBeat)
        let undone = whole - done
        func left(since moment: Double) -> Double {
            undone / slot.work(from: moment, to: lastBeat) * (lastBeat - moment) - (time - lastBeat)
        }
        let reported = Simulation.reportedProgress(done / whole)
        found.leftByReport = (time - attempt.start) * (1 - reported) / reported
        found.leftByAverage = left(since: attempt.start)
        found.leftByRecent = left(since: max(attempt.start, lastBeat - SimulatedSlot.beatInterval))
        return found
    }

    /// The share of its frames that a pass of one chunk reports when a share of its work is done: a frame decoded counts as one
    /// encoded, but x264 takes eight times as long for that, and all are decoded first.
    private static func reportedProgress(_ work: Double) -> Double {
        let decoding = 1.0 / 9
        return work < decoding ? work / decoding / 2 : 0.5 + (work - decoding) / (1 - decoding) / 2
    }
}
