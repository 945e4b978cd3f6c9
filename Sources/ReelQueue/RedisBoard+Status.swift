package import ReelCore

extension RedisBoard {
    /// A job as it is now; nil if there is no such job. Throws `.boardUnreadable` if a value of it cannot be read.
    package func status(_ job: JobID) throws(ReelFailure) -> JobStatus? {
        guard let look = try call(Command.Status(job: job)) else { return nil }
        if let state = look.fields["state"].flatMap(JobState.init), !state.isTerminal, try aside().contains(job.text) {
            throw RedisBoard.setAside
        }
        return try status(of: job, look)
    }

    /// A job as a look found it. Throws `.boardUnreadable` if a value of it cannot be read.
    func status(of job: JobID, _ look: StatusReply) throws(ReelFailure) -> JobStatus {
        func surprise() -> ReelFailure { JSON.unreadable("\(look.fields)") }
        guard let state = look.fields["state"].flatMap(JobState.init), let text = look.fields["job"],
            let created = look.time("created")
        else { throw surprise() }
        var published: BoardJob = try JSON.value(text)
        if let weight = look.fields["weight"] {
            guard let weight = Double(weight), weight.isFinite, weight > 0 else { throw surprise() }
            published.weight = weight
        }
        guard BoardJob.passCounts.contains(published.passCount), Totals.counts.contains(published.frames) else {
            throw surprise()
        }
        let (fields, count) = (look.fields, published.passCount)

        // Before there is a plan, finished passes belong to a publisher that has not finished.
        var totals = Totals()
        if published.plan > 0 {
            totals = try self.totals(of: job, register: fields["sum"], finished: look.finished)
        }
        for entry in look.live.values {
            guard let holder = Holder(entry) else { throw surprise() }
            totals.add(decoded: holder.decoded, encoded: holder.encoded)
        }
        var failures: [PassFailure] = []
        for (index, entry) in look.fails {
            guard let index = Int(index) else { throw surprise() }
            failures.append(try FailRecord.decoded(entry).failure(of: index))
        }
        let offered = look.time("offered") ?? look.now
        return JobStatus(
            job: published, state: state, isPaused: fields["paused"] != nil,
            passes: look.counts(state: state, passCount: count), framesEncoded: totals.encoded,
            framesDecoded: totals.decoded, pace: Pace(look.pace, now: look.now, since: offered),
            peakRSS: totals.peak, cpuSeconds: Double(totals.cpu) / 1000,
            elapsed: look.time("taken").map { max(0, look.now - $0) / 1000 }, created: created / 1000,
            finished: look.time("finished").map { $0 / 1000 },
            oldestWait: look.oldestWait(state: state, passCount: count, offered: offered),
            nextRetry: look.nextRetry(state: state, passCount: count),
            failureCount: look.failing, failures: failures.sorted { $0.index < $1.index },
            spaceNote: try look.spaceNote(), excluded: try look.exclusions(),
            failure: state == .failed ? try look.failure() : nil,
            isRefused: state == .failed && fields["refused"] == "1", submission: fields["submission"])
    }

    /// The speed of all jobs together over the last minute.
    package func pace() throws(ReelFailure) -> Pace {
        let reply = try send(["HGETALL", keys[.pace]])
        let clock = try send(["TIME"])
        guard let slots = reply.dictionary, let now = clock.array?.first?.string.flatMap(Double.init) else {
            throw reply.surprise
        }
        return Pace(slots, now: now * 1000, since: 0)
    }

    /// A job's passes as a row of cells, `cells` at most; nil if there is no such job or it has no plan. The cost does
    /// not grow with the number of passes.
    package func strip(_ job: JobID, cells: Int) throws(ReelFailure) -> PassStrip? {
        guard let passes = try send(["HGET", keys.job(job), "passes"]).string.flatMap(Int.init),
            BoardJob.passCounts.contains(passes), passes > 0
        else {
            return nil
        }
        let count = max(1, min(cells, passes))
        guard let look = try call(Command.Strip(job: job, cells: count)) else { return nil }
        func cell(_ index: Int) -> Int? { (0..<passes).contains(index) ? ((index + 1) * count - 1) / passes : nil }
        var strip = PassStrip(
            cells: (0..<count).map { place in
                let size = (place + 1) * passes / count - place * passes / count
                return PassStrip.Cell(passes: size, done: look.finished[place])
            })
        for place in look.held.compactMap(cell) { strip.cells[place].live += 1 }
        for place in look.failed.compactMap(cell) { strip.cells[place].failed += 1 }
        return strip
    }

    /// Jobs that have not ended, the oldest first, and after them the failed ones, the latest first; `count` of each
    /// at most.
    package func queue(count: Int) throws(ReelFailure) -> JobList {
        let active = try send(["ZRANGE", keys[.active], "0", String(count - 1)])
        let failed = try send(["ZRANGE", keys[.failed], "0", String(count - 1), "REV"])
        guard let ids = active.array, let others = failed.array else { throw active.surprise }
        var all: [JobID] = []
        for id in ids + others { all.append(JobID(try id.text())) }
        return try list(all)
    }

    /// The number of jobs that have not ended, and of failed jobs that are still on the board.
    package func jobCounts() throws(ReelFailure) -> (active: Int, failed: Int) {
        let replies = (
            try send(["ZCARD", keys[.active]]), try send(["ZCARD", keys[.failed]])
        )
        guard let active = replies.0.integer, let failed = replies.1.integer else { throw replies.0.surprise }
        return (active, failed)
    }

    /// Jobs that have not ended, and of the others the `ended` that were submitted last; the oldest first.
    package func latestJobs(ended: Int) throws(ReelFailure) -> JobList {
        let active = try send(["ZRANGE", keys[.active], "0", "-1"])
        guard let running = active.array?.compactMap(\.string) else { throw active.surprise }
        let known = Set(running)
        let latest = try send(["ZRANGE", keys[.jobs], "0", String(known.count + ended - 1), "REV"])
        guard let ids = latest.array?.compactMap(\.string) else { throw latest.surprise }
        var list = try list((running + ids.filter { !known.contains($0) }.prefix(ended)).map(JobID.init))
        list.jobs.sort { ($0.created, $0.job.id.text) < ($1.created, $1.job.id.text) }
        return list
    }

    /// Those of a job's passes that have one of these indices, as they were published, by index.
    package func passes(_ job: JobID, at indices: [Int]) throws(ReelFailure) -> [Int: Pass] {
        guard !indices.isEmpty else { return [:] }
        let reply = try send(["HMGET", keys.job(job, "passes")] + indices.map(String.init))
        guard let entries = reply.array, entries.count == indices.count else { throw reply.surprise }
        var found: [Int: Pass] = [:]
        for (index, entry) in zip(indices, entries) {
            if let text = entry.string { found[index] = try RedisBoard.pass(text) }
        }
        return found
    }

    /// The diagnostics that engines of finished passes reported, each once, in the order of the passes; 100 at most.
    package func passDiagnostics(_ job: JobID) throws(ReelFailure) -> [Diagnostic] {
        let reply = try send(["HGETALL", keys.job(job, "diagnostics")])
        guard let told = reply.dictionary else { throw reply.surprise }
        let lines = told.map { (index: Int($0.value) ?? 0, text: $0.key) }
            .sorted { ($0.index, $0.text) < ($1.index, $1.text) }
        var found: [Diagnostic] = []
        for line in lines { found.append(try JSON.value(line.text)) }
        return found
    }

    /// The results of a job's finished passes, the assembly's among them, with the tokens that recorded them, by index; none
    /// that were trimmed.
    package func recordedResults(_ job: JobID) throws(ReelFailure) -> [Int: RecordedResult] {
        try recorded(job, as: PassResult.self).mapValues { RecordedResult(token: $0.token, result: $0.result) }
    }

    /// The entries of `done` that were not trimmed, by index.
    private func recorded<Result: Decodable>(
        _ job: JobID, as kind: Result.Type
    ) throws(ReelFailure) -> [Int: (token: String, result: Result)] {
        var found: [Int: (token: String, result: Result)] = [:]
        var cursor = "0"
        repeat {
            let reply = try send(["HSCAN", keys.job(job, "done"), cursor, "COUNT", "500"])
            guard let parts = reply.array, parts.count == 2, let next = parts[0].string,
                let page = parts[1].dictionary
            else { throw reply.surprise }
            for (index, entry) in page {
                guard let index = Int(index) else { throw reply.surprise }
                if let recorded = try recorded(entry, as: kind) { found[index] = recorded }
            }
            cursor = next
        } while cursor != "0"
        return found
    }

    /// The results of those of the passes at these indices that are finished, by index.
    package func results(_ job: JobID, at indices: [Int]) throws(ReelFailure) -> [Int: PassResult] {
        guard !indices.isEmpty else { return [:] }
        let reply = try send(["HMGET", keys.job(job, "done")] + indices.map(String.init))
        guard let entries = reply.array, entries.count == indices.count else { throw reply.surprise }
        var found: [Int: PassResult] = [:]
        for (index, entry) in zip(indices, entries) {
            if let entry = entry.string { found[index] = try recorded(entry, as: PassResult.self)?.result }
        }
        return found
    }

    /// Reads an entry of `done`: the token that recorded the result, a space, the result. Nil if it was trimmed to the token.
    private func recorded<Result: Decodable>(
        _ entry: String, as kind: Result.Type
    ) throws(ReelFailure) -> (token: String, result: Result)? {
        guard let space = entry.firstIndex(of: " ") else { return nil }
        return (token: String(entry[..<space]), result: try JSON.value(entry[entry.index(after: space)...]))
    }

    /// The number of a job's passes that wait for a retry, due or not.
    package func retries(_ job: JobID) throws(ReelFailure) -> Int {
        let reply = try send(["ZCARD", keys.job(job, "retry")])
        guard let count = reply.integer else { throw reply.surprise }
        return count
    }

    /// The holders of a job's passes, by index.
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

    /// Totals over the finished passes: from the field `sum` if it counts all of them, else from their results. The
    /// field falls behind only if Redis lost part of a transition. That of release 0.1.0 has no CPU time.
    func totals(
        of job: JobID, register: String?, finished: Int
    ) throws(ReelFailure) -> Totals {
        let numbers = (register ?? "0 0 0 0 0").split(separator: " ").compactMap { Int64($0) }
        if numbers.count == 5, numbers[0] == Int64(finished),
            [numbers[1], numbers[2], numbers[4]].allSatisfy({ Totals.counts.contains(Int($0)) })
        {
            return Totals(
                decoded: Int(numbers[1]), encoded: Int(numbers[2]), peak: numbers[3], cpu: Int(numbers[4]))
        }
        var sums = Totals()
        for recorded in try recorded(job, as: Cost.self).values {
            let statistics = recorded.result.statistics
            sums.peak = max(sums.peak, statistics.peakRSS)
            sums.add(decoded: statistics.framesDecoded, encoded: statistics.framesEncoded)
            sums.cpu = Totals.sum(sums.cpu, Int(statistics.cpuSeconds * 1000))
        }
        return sums
    }
}

/// The part of a result that totals need: release 0.1.0 has recorded segments of another version.
private struct Cost: Decodable {
    var statistics: PassStatistics
}

/// The frames of several passes, the greatest peak memory of their engines in bytes, and their CPU time in milliseconds.
struct Totals {
    /// The numbers that are accepted. Redis may hold any; sums of these do not overflow.
    static let counts = 0...(1 << 50)

    var decoded = 0
    var encoded = 0
    var peak: Int64 = 0
    var cpu = 0

    mutating func add(decoded more: Int, encoded further: Int) {
        decoded = Totals.sum(decoded, more)
        encoded = Totals.sum(encoded, further)
    }

    static func sum(_ one: Int, _ other: Int) -> Int {
        min(max(one, counts.lowerBound), counts.upperBound) + min(max(other, counts.lowerBound), counts.upperBound)
    }
}

/// The holder of a pass, from an entry of `live`: token, started (ms), frames decoded, frames encoded, worker.
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
