public import ReelCore

extension Board {
    /// A worker's sign of life: registers it, keeps the leases of what it holds, stores their progress.
    public func beat(_ report: WorkerReport) throws(ReelFailure) -> BeatReply {
        var arguments = [
            report.worker.text, report.host, try JSON.text(report), String(timing.lease.milliseconds),
            String(report.memoryTotal),
        ]
        for held in report.held {
            arguments += [
                held.job.text, String(held.index), held.token, String(held.plan), String(held.decoded),
                String(held.encoded), String(held.wholeChunks),
            ]
        }
        let reply = try run(.beat, arguments)
        guard let parts = reply.array, parts.count == report.held.count + 1, let drain = parts[0].integer else {
            throw surprise(reply)
        }
        var answers: [String: LeaseAnswer] = [:]
        for (held, part) in zip(report.held, parts.dropFirst()) {
            guard let answer = part.string.flatMap(LeaseAnswer.init) else { throw surprise(reply) }
            answers[held.token] = answer
        }
        return BeatReply(answers: answers, drain: drain == 1)
    }

    /// Has a worker drain: it learns so at its next beat. False where none of that name is registered.
    public func drain(_ worker: WorkerID) throws(ReelFailure) -> Bool {
        try run(.drain, [worker.text]) == .integer(1)
    }

    /// Takes a worker that ends out of the registry. What it still holds is not handed back: release that first.
    public func depart(_ worker: WorkerID) throws(ReelFailure) {
        _ = try run(.depart, [worker.text])
    }

    /// Requeues passes whose leases have lapsed and says how many. For one lease after Redis's start it does nothing.
    public func reap() throws(ReelFailure) -> Int {
        var requeued = 0
        while true {
            let reply = try run(
                .reap, [String(timing.lease.milliseconds), String(timing.retention.milliseconds)])
            guard let parts = reply.array, parts.count == 2, let some = parts[0].integer, let seen = parts[1].integer
            else { throw surprise(reply) }
            requeued += some
            if seen < BoardPolicy.reaped { return requeued }
        }
    }

    /// The workers that have beaten within the last hour, by name, but for those whose report cannot be read.
    public func workers() throws(ReelFailure) -> [WorkerStatus] {
        let reply = try run(.workers, [])
        guard let entries = reply.array, let now = entries.last?.integer else { throw surprise(reply) }
        var found: [WorkerStatus] = []
        for entry in entries.dropLast() {
            guard let parts = entry.array, parts.count >= 3, parts.count % 4 == 3, let report = parts[0].string,
                let beat = parts[1].integer, let draining = parts[2].integer
            else { throw surprise(reply) }
            guard let told = try? JSON.value(report, as: WorkerReport.self),
                WorkerReport.slotCounts.contains(told.slots), WorkerReport.slotCounts.contains(told.slotsOut)
            else { continue }
            var status = WorkerStatus(
                report: told, beatAge: max(0, Double(now) - Double(beat)) / 1000,
                isGone: Double(now) - Double(beat) > Double(timing.lease.milliseconds), draining: draining == 1)
            for place in stride(from: 3, to: parts.count, by: 4) {
                guard let token = parts[place].string, let started = parts[place + 1].integer,
                    let kind = parts[place + 2].string.flatMap(PassKind.init), let pass = parts[place + 3].string
                else { throw surprise(reply) }
                guard let pass = try? kind.pass(pass) else { continue }
                status.holds[token] = WorkerStatus.Hold(
                    seconds: max(0, Double(now) - Double(started)) / 1000, pass: pass)
            }
            found.append(status)
        }
        return found
    }
}
