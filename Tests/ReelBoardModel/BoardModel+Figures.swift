internal import ReelCore
package import ReelQueue

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
