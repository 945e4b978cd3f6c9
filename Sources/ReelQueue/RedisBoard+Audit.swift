package import ReelCore

extension RedisBoard {
    /// Checks the invariants of every job that has not ended or is in line, and repairs them.
    package func audit() throws(ReelFailure) -> Audit {
        var audit = Audit()
        for id in try jobs(in: [.active, .run, .timer]) {
            audit.jobs += 1
            do throws(ReelFailure) {
                audit.repairs += try self.audit(id)
            } catch {
                guard error.isOfOneRecord else { throw error }
                audit.unreadable.append(id)
            }
        }
        return audit
    }

    /// Audits the board after Redis started anew or lost everything, and has Redis rewrite its log, since Redis may
    /// have applied a torn end of it. One worker does so for each start of Redis; the others get nil.
    ///
    /// A log that Redis did not apply as a whole is not rewritten, since that would lose the rest for good. That is so
    /// if the board knows no job, or if `lost` is not empty.
    package func auditAfterRestart() throws(ReelFailure) -> Audit? {
        guard let start = try call(Command.Restarted()) else { return nil }
        let (lost, hasJobs) = (try lostJobs(), try !isEmpty())
        if lost.isEmpty, hasJobs {
            do throws(ReelFailure) {
                try send(["BGREWRITEAOF"])
            } catch {
                // A rewrite is under way, Redis keeps no log, or this user may not have it rewritten: the users of
                // `deploy/` may not, where the log is repaired before Redis starts. The audit goes on either way.
            }
        }
        var audit = try audit()
        audit.lost = lost
        try call(Command.Audited(start: start))
        return audit
    }

    /// Whether the board knows no job, not even one that has ended.
    package func isEmpty() throws(ReelFailure) -> Bool {
        try send(["EXISTS", keys[.jobs]]) == .integer(0)
    }

    /// Jobs that are on a list and have passes but no hash of their own.
    private func lostJobs() throws(ReelFailure) -> [JobID] {
        var lost: [JobID] = []
        for id in try jobs(in: [.jobs, .active, .run, .timer]) {
            guard try send(["EXISTS", keys.job(id)]) == .integer(0) else { continue }
            if try send(["EXISTS", keys.job(id, "passes")]) == .integer(1) { lost.append(id) }
        }
        return lost
    }

    /// The jobs on any of these lists, each once, sorted by id.
    private func jobs(in lists: [BoardKey]) throws(ReelFailure) -> [JobID] {
        var found: Set<String> = []
        for list in lists {
            let reply = try send(["ZRANGE", keys[list], "0", "-1"])
            guard let ids = reply.array else { throw reply.surprise }
            for id in ids { found.insert(try id.text()) }
        }
        return found.sorted().map { JobID($0) }
    }

    private func audit(_ job: JobID) throws(ReelFailure) -> Int {
        var (repairs, next) = (0, 0 as Int?)
        while let start = next {
            let page = try call(Command.Audit(job: job, start: start))
            repairs += page.repairs
            next = page.next
        }
        // Before there is a plan, finished passes belong to a publisher that has not finished.
        guard try send(["HGET", keys.job(job), "plan"]).string != "0" else { return repairs }
        return repairs + (try tally(job) ? 1 : 0)
    }

    /// Writes the job's totals (`sum`) anew if they do not count every finished pass. Returns whether it did.
    @discardableResult
    func tally(_ job: JobID) throws(ReelFailure) -> Bool {
        let finished = try send(["HLEN", keys.job(job, "done")]).integer ?? 0
        guard finished > 0 else { return false }
        let register = try send(["HGET", keys.job(job), "sum"]).string
        guard Int(register?.split(separator: " ").first ?? "0") != finished else { return false }
        let totals = try totals(of: job, register: nil, finished: finished)
        return try call(Command.Tally(job: job, finished: finished, totals: totals))
    }
}
