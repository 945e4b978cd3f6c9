internal import Foundation
package import ReelCore
package import ReelQueue

// What can be seen of the board.
extension BoardModel {
    /// A job's status without what depends on the clock; see `JobStatus.timeless`.
    package func status(_ id: String) -> JobStatus? {
        guard let job = jobs[id] else { return nil }
        var counts = JobStatus.PassCounts()
        var (decoded, encoded, peak, cpu) = (0, 0, Int64(0), 0.0)
        var assembled: Double?
        for (index, condition) in job.conditions.enumerated() {
            let isAssembly = index == job.published.passCount
            switch condition {
            case .done(let recorded):
                peak = max(peak, recorded.result.statistics.peakRSS)
                cpu += recorded.result.statistics.cpuSeconds
                encoded += recorded.result.statistics.framesEncoded
                if !isAssembly { counts.done += 1 }
            case .held(let holder, _):
                counts.live += 1
                (decoded, encoded) = (decoded + (isAssembly ? 0 : holder.decoded), encoded + holder.encoded)
                if isAssembly { assembled = Double(min(holder.decoded, 1000)) / 1000 }
            case .retry(let due) where due > now && !job.state.isTerminal && !isAssembly: counts.retrying += 1
            case .waiting, .retry: if !isAssembly { counts.ready += 1 }
            }
        }
        if case .held(let holder, _) = job.probe {
            counts.live += 1
            (decoded, encoded) = (decoded + holder.decoded, encoded + holder.encoded)
        }
        counts.exhausted = job.exhausted ?? -1 < 0 ? 0 : 1
        let failures = job.failures.sorted { $0.key < $1.key }.map {
            PassFailure(index: $0.key, attempts: $0.value.attempts, recent: $0.value.recent)
        }
        return JobStatus(
            job: job.published, state: job.state, isPaused: job.isPaused, passes: counts, framesEncoded: encoded,
            framesDecoded: decoded, assembled: assembled, peakRSS: peak, cpuSeconds: cpu, created: 0,
            finished: job.state.isTerminal ? 0 : nil,
            failureCount: failures.count, failures: failures, spaceNote: job.spaceNote, excluded: job.excluded,
            failure: job.failure, isRefused: job.state == .failed && job.isRefused, submission: job.submission)
    }

    /// Everything that is somewhere, one fact a line, as `BoardFacts` reads it from Redis.
    package var facts: [String] {
        var facts = run.map { "run \($0.key) \(String(format: "%.17g", $0.value))" }
        facts += queue.map {
            let weight = Int((1000 * $0.value.weight).rounded())
            return "queue \($0.key) \($0.value.turn - weight * BoardPolicy.turns)"
        }
        facts += begun.map { "begun \($0.key) \(Int((1000 * $0.value).rounded()))" }
        facts += timer.map { "timer \($0.key) \($0.value > now ? "later" : "due")" }
        facts += leases.map {
            let holding = $0.holding
            return "lease \(holding.job)/\(holding.index)/\(holding.token) \($0.lapsed == nil ? "valid" : "lapsed")"
        }
        facts += workers.map {
            "worker \($0.key) \($0.value.isSilent ? "silent" : "live")\($0.value.isDrained ? " drained" : "")"
        }
        facts += drainedHosts.map { "host \($0) drained" }
        facts.append((["active"] + active).joined(separator: " "))
        facts.append((["failed"] + failed).joined(separator: " "))
        facts += counters.filter { $0.value > 0 }.map { "counter \($0.key) \($0.value)" }
        facts += due.map { "due \($0.key.job) \($0.key.url) \($0.value > now ? "later" : "now")" }
        facts.append("rates \(work.frames) \(work.passes)")
        facts += backlog
        for (id, job) in jobs { facts += self.facts(of: job, id) }
        return facts
    }

    /// Ids of the jobs that have not ended, the oldest first.
    package var active: [String] { ordered { $0.state.isTerminal ? nil : ($0.created, true) } }

    /// Ids of the jobs that failed, the latest first.
    package var failed: [String] { ordered { $0.state == .failed ? ($0.failed, false) : nil } }

    /// The results of a job's finished passes, with the tokens that recorded them; none that were trimmed.
    package func recordedResults(_ id: String) -> [Int: RecordedResult] {
        var found: [Int: RecordedResult] = [:]
        guard jobs[id]?.isTrimmed != true else { return found }
        for (index, condition) in (jobs[id]?.conditions ?? []).enumerated() {
            if case .done(let recorded) = condition { found[index] = recorded }
        }
        return found
    }

    /// The results of those of the passes that are finished.
    package func results(_ id: String, at indices: [Int]) -> [Int: PassResult] {
        recordedResults(id).filter { indices.contains($0.key) }.mapValues(\.result)
    }

    /// How many passes of a job wait for another attempt, the probe among them.
    package func retries(_ id: String) -> Int {
        guard let job = jobs[id] else { return 0 }
        return ([job.probe] + job.conditions).count { if case .retry = $0 { true } else { false } }
    }

    /// The worker of each pass that is held, the probe's among them; the first one of two.
    package func live(_ id: String) -> [Int: WorkerID] {
        guard let job = jobs[id] else { return [:] }
        var found: [Int: WorkerID] = [:]
        for index in -1..<job.conditions.count {
            if case .held(let holder, _) = job[index] { found[index] = WorkerID(holder.worker) }
        }
        return found
    }

    /// The workers that are registered, by name, without what depends on the clock.
    package var registered: [WorkerStatus] {
        workers.sorted { $0.key < $1.key }.map {
            WorkerStatus(
                report: $0.value.report, beatAge: 0, isGone: $0.value.isSilent, drained: drained($0.key))
        }
    }

    /// Ids of jobs that have a place, by that; with `false` the last first.
    private func ordered(_ place: (Job) -> (Int, Bool)?) -> [String] {
        let places = jobs.compactMap { id, job in place(job).map { (at: $0.0, upwards: $0.1, id: id) } }
        let sorted = places.sorted { ($0.at, $0.id) < ($1.at, $1.id) }.map(\.id)
        return places.first?.upwards == false ? sorted.reversed() : sorted
    }

    private func facts(of job: Job, _ id: String) -> [String] {
        var facts = [
            "job \(id) \(job.state.rawValue)\(job.isPaused ? " paused" : "") copies \(job.backups) plan \(job.published.plan)"
        ]
        if [.done, .cancelled].contains(job.state) { facts.append("ended \(job.state.rawValue) \(id)") }
        facts += job.webhooks.map { "webhook \(id) \($0.key) \($0.value.since == nil ? "-" : "\($0.value.attempts)")" }
        facts += job.waiters.map { "waiter \(id) \($0.key) \($0.value ? "live" : "lapsed")" }
        if let removal = job.removal { facts.append("removing \(id) \(removal.waiter) \(removal.isValid)") }
        func holding(_ kind: String, _ index: Int, _ holder: Holder) -> String {
            "\(kind) \(id) \(index) \(holder.token) \(holder.decoded) \(holder.encoded) \(holder.worker)"
        }
        switch job.probe {
        case .waiting: if job.state == .probing { facts.append("free \(id)") }
        case .retry(let due): facts.append("retry \(id) -1 \(due > now ? "later" : "due")")
        case .held(let holder, _): facts.append(holding("live", -1, holder))
        case .done: facts.append("the probe of \(id) is done")
        }
        for (index, condition) in job.conditions.enumerated() where job.published.plan > 0 {
            switch condition {
            case .waiting: facts.append("waiting \(id) \(index)")
            case .retry(let due): facts.append("retry \(id) \(index) \(due > now ? "later" : "due")")
            case .done(let recorded):
                facts.append("done \(id) \(index) \(recorded.token)")
                facts.append("bit \(id) \(index)")
            case .held(let holder, let copy):
                facts.append(holding("live", index, holder))
                if let copy { facts.append(holding("copy", index, copy)) }
            }
        }
        return facts
    }

    /// What must be true of every board, whatever happened; one line for each thing that is not.
    package var violations: [String] {
        var found: [String] = []
        let leased = Set(leases.map(\.holding))
        for (id, job) in jobs {
            var (hasWork, workComes) = (false, false)
            for index in -1..<job.conditions.count {
                switch job[index] {
                case .held(let holder, let copy):
                    for token in [holder.token] + [copy?.token].compactMap(\.self)
                    where !leased.contains(Holding(job: id, index: index, token: token)) {
                        found.append("pass \(index) of \(id) has a holder without a lease")
                    }
                case .retry(let due): if due > now { workComes = true } else { hasWork = true }
                case .waiting:
                    if index < 0 ? job.state == .probing : index < job.published.passCount { hasWork = true }
                case .done: break
                }
            }
            let isInLine = run[id] != nil || queue[id] != nil
            if run[id] != nil && queue[id] != nil { found.append("job \(id) is in line twice") }
            if begun[id] != nil && job.state.isTerminal { found.append("job \(id) has ended and is begun") }
            if job.state.isTerminal || job.isPaused {
                if isInLine || timer[id] != nil { found.append("job \(id) is in line") }
            } else if hasWork && !isInLine && timer[id].map({ $0 <= now }) != true
                || workComes && !isInLine && timer[id] == nil
            {
                found.append("job \(id) has work and is not in line")
            }
            let isAllDone = job.finished == job.published.passCount
            if job.state == .running && isAllDone || job.state == .assembling && !isAllDone {
                found.append("job \(id) is \(job.state.rawValue), \(job.finished) passes are done")
            }
        }
        for lease in leases where !lease.isLeftOver {
            guard let job = jobs[lease.holding.job] else { continue }
            if !holds(lease.holding.token, lease.holding.index, of: job), job.isOpen(lease.holding.index) {
                found.append("lease \(lease.holding) has no holder")
            }
        }
        return found
    }
}

extension JobStatus {
    /// Without what depends on the clock.
    package var timeless: JobStatus {
        var status = self
        (status.pace, status.created, status.finished, status.elapsed) = (.none, 0, finished.map { _ in 0 }, nil)
        (status.oldestWait, status.nextRetry) = (nil, nil)
        status.failures = failures.map { failure in
            PassFailure(
                index: failure.index, attempts: failure.attempts,
                recent: failure.recent.map { attempt in
                    var attempt = attempt
                    attempt.time = 0
                    return attempt
                })
        }
        return status
    }
}

// What the board has counted, and what is where.
extension BoardModel {
    /// The figures without what depends on the clock; see `BoardFigures.timeless`.
    package var figures: BoardFigures {
        var figures = BoardFigures()
        for job in jobs.values {
            if job.state.isTerminal { count(ended: job, in: &figures) } else { count(going: job, in: &figures) }
        }
        for (name, worker) in workers where !worker.isSilent {
            figures.workers += 1
            let busy = worker.report.held.count
            let rest = max(worker.report.slots - busy, 0)
            figures.slots.busy += busy
            if drained(name) != nil {
                figures.slots.drained += rest
            } else {
                figures.slots.out += min(worker.report.slotsOut, rest)
                figures.slots.free += rest - min(worker.report.slotsOut, rest)
            }
        }
        func counter(_ name: String) -> Int { counters[name] ?? 0 }
        figures.jobsEnded.done = counter("jobs:done")
        figures.jobsEnded.failed = counter("jobs:failed")
        figures.jobsEnded.cancelled = counter("jobs:cancelled")
        for attempt in BoardFigures.Attempt.allCases { figures.attempts[attempt] = counter(attempt.counter) }
        figures.passDuration.counts = [counter("duration")]
        figures.passWait.counts = [counter("wait")]
        figures.framesDecoded = counter("frames:decoded")
        figures.framesEncoded = counter("frames:encoded")
        figures.outputBytes = counter("outputs:bytes")
        figures.leasesLost = counter("leases:lost")
        figures.webhooks = BoardFigures.Webhooks(
            sent: counter("webhooks:sent"), retried: counter("webhooks:retried"), givenUp: counter("webhooks:given-up"))
        return figures
    }

    /// What the counters of the backlog say: of each job that has not ended, of all, and of each owner.
    private var backlog: [String] {
        var facts: [String] = []
        var owners: [String: Int] = [:]
        for (id, job) in jobs where !job.state.isTerminal {
            var figures = BoardFigures()
            count(going: job, in: &figures)
            let (passes, owner) = (figures.passes, submitter(of: job))
            let waiting = passes.ready + passes.retrying + passes.paused
            let state = job.isPaused ? "paused" : job.state.rawValue
            facts.append("counted \(id) \(state) \(waiting) \(passes.live) \(passes.done) \(owner).")
            if passes.ready > 0 { facts.append("ready \(id) now") }
            if passes.ready == 0, passes.retrying > 0 { facts.append("ready \(id) later") }
            if !owner.isEmpty { owners[owner, default: 0] += 1 }
        }
        let (all, passes) = (figures.jobs, figures.passes)
        let totals = [
            all.probing, all.running, all.assembling, all.paused, all.unreadable, passes.ready + passes.retrying,
            passes.paused, passes.live, passes.done,
        ]
        facts.append("totals " + totals.map(String.init).joined(separator: " "))
        return facts + owners.map { "owner \($0.key) \($0.value)" }
    }

    private func count(ended job: Job, in figures: inout BoardFigures) {
        switch job.state {
        case .done: figures.jobs.done += 1
        case .failed: figures.jobs.failed += 1
        default: figures.jobs.cancelled += 1
        }
    }

    private func count(going job: Job, in figures: inout BoardFigures) {
        switch job.state {
        case _ where job.isPaused: figures.jobs.paused += 1
        case .probing: figures.jobs.probing += 1
        case .running: figures.jobs.running += 1
        default: figures.jobs.assembling += 1
        }
        // While the job is probing there is the probe alone, afterwards there are the passes and the assembly.
        let work = job.state == .probing ? [job.probe] : job.conditions
        for (index, condition) in work.enumerated() {
            switch condition {
            case .held: figures.passes.live += 1
            case .done: figures.passes.done += 1
            case .waiting where job.state != .probing && index == job.published.passCount: break
            case .waiting, .retry:
                if job.isPaused {
                    figures.passes.paused += 1
                } else if case .retry(let due) = condition, due > now {
                    figures.passes.retrying += 1
                } else {
                    figures.passes.ready += 1
                    figures.oldestReady = 0
                }
            }
        }
    }
}

extension BoardFigures {
    /// Without what depends on the clock: of histograms, only how many times they have.
    package var timeless: BoardFigures {
        var figures = self
        figures.passDuration = Histogram(counts: [passDuration.count])
        figures.passWait = Histogram(counts: [passWait.count])
        figures.oldestReady = oldestReady.map { _ in 0 }
        return figures
    }
}
