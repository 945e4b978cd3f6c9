public import ReelCore

/// What a look at the board's invariants led to.
public struct Audit: Hashable, Sendable {
    public var jobs = 0
    public var repairs = 0

    public init(jobs: Int = 0, repairs: Int = 0) {
        self.jobs = jobs
        self.repairs = repairs
    }
}

extension Board {
    /// Checks the invariants of every job that has not ended, and of what else is in line, and repairs them.
    public func audit() throws(ReelFailure) -> Audit {
        var audit = Audit()
        for id in try jobsInLine().sorted() {
            audit.jobs += 1
            audit.repairs += try self.audit(JobID(id))
        }
        return audit
    }

    /// Rule for a Redis that started anew, or lost everything: has it write its log anew, since a torn end of that may
    /// have been applied, and audits. Does so once for each start of Redis; nil where that was done already.
    public func auditAfterRestart() throws(ReelFailure) -> Audit? {
        let run = try runID()
        let control = Board.prefix + "control"
        guard try send(["HGET", control, "audited"]) != .string(run) else { return nil }
        do throws(ReelFailure) {
            try send(["BGREWRITEAOF"])
        } catch {
            // One is under way, or there is no such log: the audit is what counts.
        }
        let audit = try audit()
        try send(["HSET", control, "audited", run])
        return audit
    }

    /// Whether the board knows of any job, ended ones included.
    public func isEmpty() throws(ReelFailure) -> Bool {
        try send(["EXISTS", Board.prefix + "jobs"]) == .integer(0)
    }

    private func runID() throws(ReelFailure) -> String {
        let lines = try text(send(["INFO", "server"])).split(whereSeparator: \.isNewline)
        guard let line = lines.first(where: { $0.hasPrefix("run_id:") }) else {
            throw surprise(.string(lines.joined(separator: "\n")))
        }
        return String(line.dropFirst("run_id:".count))
    }

    /// Every job that any list of work names.
    private func jobsInLine() throws(ReelFailure) -> Set<String> {
        var found: Set<String> = []
        for list in ["active", "run", "timer"] {
            let reply = try send(["ZRANGE", Board.prefix + list, "0", "-1"])
            guard let ids = reply.array else { throw surprise(reply) }
            for id in ids { found.insert(try text(id)) }
        }
        return found
    }

    private func audit(_ job: JobID) throws(ReelFailure) -> Int {
        var (repairs, index) = (0, 0)
        while index >= 0 {
            let reply = try run(
                .audit,
                [
                    job.text, String(index), String(timing.lease.milliseconds), String(timing.retention.milliseconds),
                ])
            guard let parts = reply.array, parts.count == 2, let some = parts[0].integer, let next = parts[1].integer
            else { throw surprise(reply) }
            repairs += some
            index = next
        }
        // Before there is a plan, what is finished is of a publisher that has not come to its end.
        guard try send(["HGET", Board.key(job), "plan"]).string != "0" else { return repairs }
        return repairs + (try tally(job) ? 1 : 0)
    }

    /// Writes the register of sums anew where it does not count every finished pass.
    func tally(_ job: JobID) throws(ReelFailure) -> Bool {
        let finished = try send(["HLEN", Board.key(job, "done")]).integer ?? 0
        guard finished > 0 else { return false }
        let register = try send(["HGET", Board.key(job), "sum"]).string
        guard Int(register?.split(separator: " ").first ?? "0") != finished else { return false }
        let totals = try totals(of: job, register: nil, finished: finished)
        let numbers = [finished, totals.decoded, totals.encoded, Int(totals.peak)].map(String.init)
        return try run(.tally, [job.text] + numbers) == .integer(1)
    }
}
