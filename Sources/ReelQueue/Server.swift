internal import Foundation
package import ReelCore

/// The time by Redis's clock and by this machine's, in seconds since 1970. Either may be wrong.
package struct Clocks: Hashable, Sendable {
    package var board: Double
    package var host: Double

    package init(board: Double, host: Double) {
        self.board = board
        self.host = host
    }

    /// The earlier of the two. A time before it has passed by both clocks.
    package var earlier: Double { min(board, host) }

    /// The later of the two. Retention counts from it, so that nothing is removed too early if one clock is wrong.
    package var later: Double { max(board, host) }
}

extension Board {
    /// The later of both clocks' times, in seconds since 1970; this machine's if the board is out of reach.
    package func endOfNow() async -> Double { (try? await clocks().later) ?? Date().timeIntervalSince1970 }
}

extension RedisBoard {
    package func store(expecting id: StoreID?) throws(ReelFailure) -> StoreID? {
        let known = try transition(["adopt", id?.text ?? ""]).text()
        return known.isEmpty ? nil : StoreID(known)
    }

    package func ping() throws(ReelFailure) { try send(["PING"]) }

    package func clocks() throws(ReelFailure) -> Clocks {
        Clocks(board: Double(try microseconds()) / 1_000_000, host: Date().timeIntervalSince1970)
    }

    /// Redis's time, in microseconds since 1970.
    func microseconds() throws(ReelFailure) -> Int64 {
        let reply = try send(["TIME"])
        guard let parts = reply.array?.map({ $0.string.flatMap(Int64.init) }), parts.count == 2,
            let seconds = parts[0], let microseconds = parts[1]
        else { throw reply.surprise }
        return seconds * 1_000_000 + microseconds
    }

    package func memory() throws(ReelFailure) -> (used: Int64, limit: Int64?) {
        let facts = try info("memory")
        let limit = facts["maxmemory"].flatMap { Int64($0) } ?? 0
        return (facts["used_memory"].flatMap { Int64($0) } ?? 0, limit > 0 ? limit : nil)
    }

    package func diagnostics() throws(ReelFailure) -> [Diagnostic] {
        let facts = try info()
        var found: [Diagnostic] = []
        let version = facts["redis_version"] ?? ""
        if Int(version.prefix(while: \.isNumber)) ?? 0 < 7 {
            found.append(.redisTooOld(address: "\(address)", version: version))
        }
        if facts["aof_enabled"] != "1" { found.append(.redisWithoutLog(address: "\(address)")) }
        if facts["maxmemory_policy"] != "noeviction", facts["maxmemory"] != "0" {
            found.append(.redisEvicts(address: "\(address)"))
        }
        return found
    }

    /// What Redis says of itself, or of one part, by name.
    private func info(_ part: String? = nil) throws(ReelFailure) -> [Substring: String] {
        let lines = try send(["INFO"] + [part].compactMap(\.self)).text().split(whereSeparator: \.isNewline)
        return Dictionary(
            lines.compactMap { line in
                line.firstIndex(of: ":").map { (line[..<$0], String(line[line.index(after: $0)...])) }
            }, uniquingKeysWith: { first, _ in first })
    }
}

/// The outcome of an audit of the board.
package struct Audit: Hashable, Sendable {
    /// Jobs that were audited, the unreadable ones included.
    package var jobs = 0
    /// Contradictions that were repaired.
    package var repairs = 0
    /// Jobs that have passes and nothing else: Redis came up without the rest of its log.
    package var lost: [JobID] = []
    /// Jobs that could not be audited, since something that the board holds of them cannot be read.
    package var unreadable: [JobID] = []

    package init(jobs: Int = 0, repairs: Int = 0, lost: [JobID] = [], unreadable: [JobID] = []) {
        self.jobs = jobs
        self.repairs = repairs
        self.lost = lost
        self.unreadable = unreadable
    }
}

extension RedisBoard {
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
        // A worker has three leases' time for the audit before another gets it.
        let mine = try transition(["restarted", String(3 * timing.lease.milliseconds)])
        guard let start = try mine.present?.text() else { return nil }
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
        _ = try transition(["audited", start]).text()
        return audit
    }

    package func isEmpty() throws(ReelFailure) -> Bool { try send(["EXISTS", keys[.jobs]]) == .integer(0) }

    /// Jobs that are on a list and have results or held passes, but no hash of their own. Jobs that release 0.1.0
    /// published have passes, too.
    private func lostJobs() throws(ReelFailure) -> [JobID] {
        var lost: [JobID] = []
        for id in try jobs(in: [.jobs, .active, .run, .timer]) {
            guard try send(["EXISTS", keys.job(id)]) == .integer(0) else { continue }
            // A call of `begin` that was torn leaves a held probe alone.
            let isHeld = try live(id).keys.contains { $0 >= 0 }
            let parts = try send(["EXISTS", keys.job(id, "done"), keys.job(id, "passes")])
            if isHeld || parts != .integer(0) { lost.append(id) }
        }
        return lost
    }

    /// The jobs on any of these lists, each once, sorted by id.
    private func jobs(in lists: [BoardKey]) throws(ReelFailure) -> [JobID] {
        var found: Set<JobID> = []
        for list in lists { found.formUnion(try ids(in: list)) }
        return found.sorted { $0.text < $1.text }
    }

    private func audit(_ job: JobID) throws(ReelFailure) -> Int {
        var (repairs, next) = (0, 0)
        while next >= 0 {
            var parts = try ReplyReader(
                transition(["audit", job.text, String(next), timing.leaseText, timing.retentionText]))
            repairs += try parts.integer()
            next = try parts.integer()
            try parts.end()
        }
        // Before there is a plan, finished passes belong to a publisher that has not finished.
        guard try send(["HGET", keys.job(job), "plan"]).string != "0" else { return repairs }
        return repairs + (try tally(job) ? 1 : 0)
    }
}
