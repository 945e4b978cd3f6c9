package import ReelCore

/// One of a job's passes, as it is now.
package struct PassLook: Hashable, Sendable {
    /// Whether its result is recorded.
    package var isFinished: Bool
    /// The worker that holds it; nil if none does.
    package var worker: WorkerID?
    package var framesEncoded: Int?
    /// Failed attempts by cause.
    package var attempts: [String: Int]
    /// Whether it failed and waits for a retry.
    package var isWaiting: Bool
    /// Whether it failed the job.
    package var isExhausted: Bool
}

/// A job's passes in cells of about equal size, in the order in which they are given out.
package struct PassStrip: Hashable, Sendable {
    package var cells: [Cell]

    /// Counts of the passes of one cell. Passes that are not counted as done, live or failed wait to be given out.
    package struct Cell: Hashable, Sendable {
        package var passes: Int
        package var done = 0
        package var live = 0
        /// Passes that failed and wait for a retry, and the one that failed the job.
        package var failed = 0

        package init(passes: Int, done: Int = 0, live: Int = 0, failed: Int = 0) {
            self.passes = passes
            self.done = done
            self.live = live
            self.failed = failed
        }
    }

    package init(cells: [Cell]) { self.cells = cells }
}

extension RedisBoard {
    package func passes(_ job: JobID, in range: Range<Int>) throws(ReelFailure) -> [PassLook]? {
        guard !range.isEmpty else { return [] }
        let reply = try look("passes", [job.text, String(range.lowerBound), String(range.count)])
        if reply == .none { return nil }
        var parts = try ReplyReader(reply)
        let exhausted = Int(try parts.text())
        let (finished, holders) = (try parts.list(), try parts.list())
        let (failures, waiting) = (try parts.list(), try parts.list())
        try parts.end()
        guard [finished, holders, failures, waiting].allSatisfy({ $0.count == range.count }) else {
            throw reply.surprise
        }
        var found: [PassLook] = []
        for place in 0..<range.count {
            let holder = try holders[place].string.map { entry throws(ReelFailure) in
                guard let holder = Holder(entry) else { throw JSON.unreadable(entry) }
                return holder
            }
            let failures = try failures[place].string.map(FailRecord.decoded)
            found.append(
                PassLook(
                    isFinished: finished[place].integer == 1, worker: holder?.worker,
                    framesEncoded: holder?.encoded, attempts: failures?.attempts ?? [:],
                    isWaiting: waiting[place].integer == 1 && failures != nil,
                    isExhausted: exhausted == range.lowerBound + place))
        }
        return found
    }

    package func strip(_ job: JobID, cells: Int) throws(ReelFailure) -> PassStrip? {
        guard let passes = try send(["HGET", keys.job(job), "passes"]).string.flatMap(Int.init),
            BoardJob.passCounts.contains(passes), passes > 0
        else { return nil }
        let count = max(1, min(cells, passes))
        let reply = try look("strip", [job.text, String(count)])
        if reply == .none { return nil }
        var parts = try ReplyReader(reply)
        let (finished, held, failed) = (try parts.list(), try parts.list(), try parts.list())
        try parts.end()
        guard finished.count == count else { throw reply.surprise }
        var strip = PassStrip(
            cells: (0..<count).map { place in
                let size = (place + 1) * passes / count - place * passes / count
                return PassStrip.Cell(passes: size, done: finished[place].integer ?? 0)
            })
        func places(of indices: [Reply]) -> [Int] {
            indices.compactMap { $0.string.flatMap(Int.init) }.filter((0..<passes).contains)
                .map { (($0 + 1) * count - 1) / passes }
        }
        for place in places(of: held) { strip.cells[place].live += 1 }
        for place in places(of: failed) { strip.cells[place].failed += 1 }
        return strip
    }

    package func retries(_ job: JobID) throws(ReelFailure) -> Int {
        try send(["ZCARD", keys.job(job, "retry")]).count()
    }

    package func live(_ job: JobID) throws(ReelFailure) -> [Int: WorkerID] {
        let reply = try send(["HGETALL", keys.job(job, "live")])
        guard let entries = reply.dictionary else { throw reply.surprise }
        var found: [Int: WorkerID] = [:]
        for (index, entry) in entries {
            guard let index = Int(index), let holder = Holder(entry) else { throw reply.surprise }
            found[index] = holder.worker
        }
        return found
    }
}

/// The holder of a pass, from an entry of `live`: token, started (ms), frames decoded (of an assembly, thousandths of its
/// work), frames encoded, worker.
struct Holder {
    var decoded: Int
    var encoded: Int
    var worker: WorkerID

    init?(_ entry: String) {
        let parts = entry.split(separator: " ", maxSplits: 4)
        guard parts.count == 5, let decoded = Int(parts[2]), let encoded = Int(parts[3]) else { return nil }
        guard Totals.counts.contains(decoded), Totals.counts.contains(encoded) else { return nil }
        self.decoded = decoded
        self.encoded = encoded
        worker = WorkerID(String(parts[4]))
    }
}
