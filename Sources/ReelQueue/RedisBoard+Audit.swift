public import ReelCore

/// What a look at the board's invariants led to.
public struct Audit: Hashable, Sendable {
    public var jobs = 0
    public var repairs = 0
    /// Jobs of which there are passes and nothing else: Redis came up without the rest of its log.
    public var lost: [JobID] = []
    /// Jobs that could not be audited: of what the board holds of them something cannot be read.
    public var unreadable: [JobID] = []

    public init(jobs: Int = 0, repairs: Int = 0, lost: [JobID] = [], unreadable: [JobID] = []) {
        self.jobs = jobs
        self.repairs = repairs
        self.lost = lost
        self.unreadable = unreadable
    }
}

extension RedisBoard {
    /// Checks the invariants of every job that has not ended, and of what else is in line, and repairs them.
    public func audit() throws(ReelFailure) -> Audit {
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

    /// Rule for a Redis that started anew, or lost everything: audits the board, and has Redis write its log anew, since
    /// a torn end of that may have been applied. One worker does so for each start of Redis; nil for the others.
    ///
    /// A log of which Redis did not apply all is never written anew, since that would lose the rest for good: not where
    /// the board knows no job, and not where `lost` names any.
    public func auditAfterRestart() throws(ReelFailure) -> Audit? {
        guard let start = try call(Command.Restarted()) else { return nil }
        let (lost, hasJobs) = (try lostJobs(), try !isEmpty())
        if lost.isEmpty, hasJobs {
            do throws(ReelFailure) {
                try send(["BGREWRITEAOF"])
            } catch {
                // One is under way, or there is no such log: the audit is what counts.
            }
        }
        var audit = try audit()
        audit.lost = lost
        try call(Command.Audited(start: start))
        return audit
    }

    /// Whether the board knows of any job, ended ones included.
    public func isEmpty() throws(ReelFailure) -> Bool {
        try send(["EXISTS", BoardKey.jobs.name]) == .integer(0)
    }

    /// Jobs that a list names and of which there are passes alone.
    private func lostJobs() throws(ReelFailure) -> [JobID] {
        var lost: [JobID] = []
        for id in try jobs(in: [.jobs, .active, .run, .timer]) {
            guard try send(["EXISTS", RedisBoard.key(id)]) == .integer(0) else { continue }
            if try send(["EXISTS", RedisBoard.key(id, "passes")]) == .integer(1) { lost.append(id) }
        }
        return lost
    }

    /// Every job that any of these lists names, each once.
    private func jobs(in lists: [BoardKey]) throws(ReelFailure) -> [JobID] {
        var found: Set<String> = []
        for list in lists {
            let reply = try send(["ZRANGE", list.name, "0", "-1"])
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
        // Before there is a plan, what is finished is of a publisher that has not come to its end.
        guard try send(["HGET", RedisBoard.key(job), "plan"]).string != "0" else { return repairs }
        return repairs + (try tally(job) ? 1 : 0)
    }

    /// Writes the register of sums anew where it does not count every finished pass.
    @discardableResult
    func tally(_ job: JobID) throws(ReelFailure) -> Bool {
        let finished = try send(["HLEN", RedisBoard.key(job, "done")]).integer ?? 0
        guard finished > 0 else { return false }
        let register = try send(["HGET", RedisBoard.key(job), "sum"]).string
        guard Int(register?.split(separator: " ").first ?? "0") != finished else { return false }
        let totals = try totals(of: job, register: nil, finished: finished)
        return try call(Command.Tally(job: job, finished: finished, totals: totals))
    }
}
