package import ReelCore

extension RedisBoard {
    /// A worker's sign of life: registers the worker, extends the leases of the passes that it holds, and records their
    /// progress.
    package func beat(_ report: WorkerReport) throws(ReelFailure) -> BeatReply {
        try call(Command.Beat(report: report))
    }

    /// Gives a worker, or all workers of a host, nothing more; they learn of it with their next beat. False if no worker
    /// of that name is registered.
    package func drain(_ scope: DrainScope, _ name: String) throws(ReelFailure) -> Bool {
        try call(Command.Drain(scope: scope, target: name, drains: true))
    }

    /// Takes a drain back. False if there was none.
    package func undrain(_ scope: DrainScope, _ name: String) throws(ReelFailure) -> Bool {
        try call(Command.Drain(scope: scope, target: name, drains: false))
    }

    /// The names of the hosts that are drained, sorted.
    package func drainedHosts() throws(ReelFailure) -> [String] {
        let reply = try send(["HKEYS", keys[.control]])
        guard let fields = reply.array?.compactMap(\.string) else { throw reply.surprise }
        let beginning = "drain-host:"
        return fields.filter { $0.hasPrefix(beginning) }.map { String($0.dropFirst(beginning.count)) }.sorted()
    }

    /// Removes a worker that ends from the registry. Passes that it still holds are not handed back: release them
    /// first.
    package func depart(_ worker: WorkerID) throws(ReelFailure) {
        try call(Command.Depart(worker: worker))
    }

    /// Requeues passes whose leases have lapsed, and returns how many. Does nothing for one lease after Redis started,
    /// after its clock was set, or if no process has reaped for that long.
    package func reap() throws(ReelFailure) -> Int {
        var requeued = 0
        while true {
            let answer = try call(Command.Reap())
            requeued += answer.requeued
            if answer.seen < BoardPolicy.reaped { return requeued }
        }
    }

    /// The workers that have beaten within the last hour, by name, without those whose report cannot be read.
    package func workers() throws(ReelFailure) -> [WorkerStatus] {
        let answer = try call(Command.Workers())
        var found: [WorkerStatus] = []
        for worker in answer.workers {
            guard let report = try? JSON.value(worker.report, as: WorkerReport.self),
                WorkerReport.slotCounts.contains(report.slots), WorkerReport.slotCounts.contains(report.slotsOut)
            else { continue }
            let silence = Double(answer.now) - Double(worker.beat)
            var status = WorkerStatus(
                report: report, beatAge: max(0, silence) / 1000,
                isGone: silence > Double(timing.lease.milliseconds), drained: worker.drained)
            for hold in worker.holds {
                guard let work = try? hold.kind.work(hold.stored) else { continue }
                status.holds[hold.token] = WorkerStatus.Hold(
                    seconds: max(0, Double(answer.now) - Double(hold.started)) / 1000, work: work)
            }
            found.append(status)
        }
        return found
    }
}
