public import ReelCore

extension Board {
    /// A job as it is now, nil where the board does not know it.
    public func status(_ job: JobID) throws(ReelFailure) -> JobStatus? {
        let reply = try run(.status, [job.text])
        if reply == .none { return nil }
        guard let parts = reply.array, parts.count == 5, let fields = parts[0].dictionary,
            let finished = parts[1].integer, let live = parts[2].dictionary, let fails = parts[3].dictionary,
            let excluded = parts[4].dictionary, let state = fields["state"].flatMap(JobState.init),
            let published: PublishedJob = try fields["job"].map({ text throws(ReelFailure) in try JSON.value(text) }),
            let created = fields["created"].flatMap(Double.init)
        else { throw surprise(reply) }

        var totals = try totals(of: job, register: fields["sum"], finished: finished, passCount: published.passCount)
        for (index, entry) in live {
            guard let holder = Holder(entry), let index = Int(index) else { throw surprise(reply) }
            if index < published.passCount { totals.add(decoded: holder.decoded, encoded: holder.encoded) }
        }
        var failures: [PassFailure] = []
        for (index, entry) in fails {
            guard let index = Int(index) else { throw surprise(reply) }
            let record: FailRecord = try JSON.value(entry)
            failures.append(PassFailure(index: index, attempts: record.attempts, lastMessage: record.message))
        }
        let notes = [fields["note"]].compactMap(\.self)
        let hosts = excluded.sorted { $0.key < $1.key }.map { "\($0.key) cannot take this job: \($0.value)" }
        let failure = fields["failure"] ?? ""
        return JobStatus(
            job: published, state: state, passesDone: min(finished, published.passCount), passesLive: live.count,
            framesEncoded: totals.encoded, framesDecoded: totals.decoded, peakRSS: totals.peak,
            created: created / 1000, finished: fields["finished"].flatMap(Double.init).map { $0 / 1000 },
            failures: failures.sorted { $0.index < $1.index },
            failure: failure.isEmpty ? nil : try JSON.value(failure), warnings: published.warnings + notes + hosts)
    }

    /// Every job on the board, the oldest first.
    public func jobs() throws(ReelFailure) -> [JobStatus] {
        let page = 500
        var found: [JobStatus] = []
        for start in stride(from: 0, to: Int.max, by: page) {
            let reply = try send(["ZRANGE", Board.prefix + "jobs", String(start), String(start + page - 1)])
            guard let ids = reply.array else { throw surprise(reply) }
            for id in ids {
                // A job that has expired is still listed for a while.
                if let status = try status(JobID(text(id))) { found.append(status) }
            }
            if ids.count < page { break }
        }
        return found
    }

    /// The results of a job's finished passes, the assembly's among them, by index.
    public func results(_ job: JobID) throws(ReelFailure) -> [Int: PassResult] {
        var found: [Int: PassResult] = [:]
        var cursor = "0"
        repeat {
            let reply = try send(["HSCAN", Board.key(job, "done"), cursor, "COUNT", "500"])
            guard let parts = reply.array, parts.count == 2, let next = parts[0].string,
                let page = parts[1].dictionary
            else { throw surprise(reply) }
            for (index, entry) in page {
                // The token that recorded it stands before the result.
                guard let index = Int(index), let space = entry.firstIndex(of: " ") else { throw surprise(reply) }
                found[index] = try JSON.value(entry[entry.index(after: space)...])
            }
            cursor = next
        } while cursor != "0"
        return found
    }

    /// Who holds which of a job's passes now.
    public func live(_ job: JobID) throws(ReelFailure) -> [Int: WorkerID] {
        let reply = try send(["HGETALL", Board.key(job, "live")])
        guard let entries = reply.dictionary else { throw surprise(reply) }
        var found: [Int: WorkerID] = [:]
        for (index, entry) in entries {
            guard let index = Int(index), let holder = Holder(entry) else { throw surprise(reply) }
            found[index] = holder.worker
        }
        return found
    }

    /// Sums over finished passes: from the register where it counts all of them, else from their results. The register
    /// falls behind only where Redis lost part of a transition.
    private func totals(
        of job: JobID, register: String?, finished: Int, passCount: Int
    ) throws(ReelFailure) -> Totals {
        let numbers = (register ?? "0 0 0 0").split(separator: " ").compactMap { Int64($0) }
        if numbers.count == 4, numbers[0] == Int64(finished) {
            return Totals(decoded: Int(numbers[1]), encoded: Int(numbers[2]), peak: numbers[3])
        }
        var sums = Totals()
        for (index, result) in try results(job) {
            let statistics = result.statistics
            sums.peak = max(sums.peak, statistics.peakRSS)
            if index < passCount { sums.add(decoded: statistics.framesDecoded, encoded: statistics.framesEncoded) }
        }
        return sums
    }
}

/// Frames of passes, and the greatest engine in bytes.
private struct Totals {
    var decoded = 0
    var encoded = 0
    var peak: Int64 = 0

    mutating func add(decoded more: Int, encoded further: Int) {
        decoded += more
        encoded += further
    }
}

/// An entry of `live`: token, started (ms), frames decoded, frames encoded, worker.
private struct Holder {
    var decoded: Int
    var encoded: Int
    var worker: WorkerID

    init?(_ entry: String) {
        let parts = entry.split(separator: " ", maxSplits: 4)
        guard parts.count == 5, let decoded = Int(parts[2]), let encoded = Int(parts[3]) else { return nil }
        self.decoded = decoded
        self.encoded = encoded
        worker = WorkerID(String(parts[4]))
    }
}

/// An entry of `fails`, as far as readers need it.
private struct FailRecord: Decodable {
    var attempts: [String: Int]
    var message: String
}
