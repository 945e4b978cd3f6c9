package import ReelCore

extension RedisBoard {
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

    /// Reads an entry of `done`: the token that recorded the result, a space, the result. Nil if it was trimmed to the
    /// token.
    private func recorded<Result: Decodable>(
        _ entry: String, as kind: Result.Type
    ) throws(ReelFailure) -> (token: String, result: Result)? {
        guard let space = entry.firstIndex(of: " ") else { return nil }
        return (token: String(entry[..<space]), result: try JSON.value(entry[entry.index(after: space)...]))
    }

    package func passDiagnostics(_ job: JobID) throws(ReelFailure) -> [Diagnostic] {
        let reply = try send(["HGETALL", keys.job(job, "diagnostics")])
        guard let told = reply.dictionary else { throw reply.surprise }
        let lines = told.map { (index: Int($0.value) ?? 0, text: $0.key) }
            .sorted { ($0.index, $0.text) < ($1.index, $1.text) }
        var found: [Diagnostic] = []
        for line in lines { found.append(try JSON.value(line.text)) }
        return found
    }

    package func trim(_ job: JobID) throws(ReelFailure) {
        _ = try tally(job)
        var cursor = "0"
        repeat { cursor = try transition("trim", [job.text, cursor]).text() } while cursor != "0"
    }

    /// Writes the job's totals (`sum`) anew if they do not count every finished pass. Returns whether it did.
    @discardableResult
    func tally(_ job: JobID) throws(ReelFailure) -> Bool {
        let finished = try send(["HLEN", keys.job(job, "done")]).integer ?? 0
        guard finished > 0 else { return false }
        let register = try send(["HGET", keys.job(job), "sum"]).string
        guard Int(register?.split(separator: " ").first ?? "0") != finished else { return false }
        let totals = try totals(of: job, register: nil, finished: finished)
        return try transition("tally", [job.text] + totals.numbers(of: finished)).flag()
    }

    /// Totals over the finished passes: from the field `sum` if it counts all of them, else from their results. The
    /// field falls behind only if Redis lost part of a transition. That of release 0.1.0 has no CPU time.
    func totals(of job: JobID, register: String?, finished: Int) throws(ReelFailure) -> Totals {
        let numbers = (register ?? "0 0 0 0 0").split(separator: " ").compactMap { Int64($0) }
        if numbers.count == 5, numbers[0] == Int64(finished),
            [numbers[1], numbers[2], numbers[4]].allSatisfy({ Totals.counts.contains(Int($0)) })
        {
            return Totals(
                decoded: Int(numbers[1]), encoded: Int(numbers[2]), peak: numbers[3], cpu: Int(numbers[4]))
        }
        var sums = Totals()
        for recorded in try recorded(job, as: Cost.self).values {
            sums.add(recorded.result.statistics)
        }
        return sums
    }
}

/// The part of a result that totals need: release 0.1.0 has recorded segments of another version.
private struct Cost: Decodable {
    var statistics: PassStatistics
}

/// The frames of several passes, the greatest peak memory of their engines in bytes, and their CPU time in
/// milliseconds.
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

    mutating func add(_ statistics: PassStatistics) {
        peak = max(peak, statistics.peakRSS)
        add(decoded: statistics.framesDecoded, encoded: statistics.framesEncoded)
        cpu = Totals.sum(cpu, Int(statistics.cpuSeconds * 1000))
    }

    /// The numbers of the field `sum` if these are the totals of `results` results.
    func numbers(of results: Int) -> [String] { [results, decoded, encoded, Int(peak), cpu].map(String.init) }

    static func sum(_ one: Int, _ other: Int) -> Int {
        min(max(one, counts.lowerBound), counts.upperBound) + min(max(other, counts.lowerBound), counts.upperBound)
    }
}
