package import ReelCore

/// The answer of `Board.complete`.
package enum CompleteAnswer: String, Sendable {
    /// The result was recorded.
    case ok
    /// The same call was applied before, and its reply was lost.
    case duplicate
    /// The result does not count, for instance because another worker's was recorded first. Its segments can be
    /// removed.
    case late
    /// The job has ended without this pass.
    case cancelled
}

/// The answer of `Board.fail`.
package enum FailAnswer: String, Sendable {
    /// The pass will be tried again.
    case retry
    /// The pass will be tried again, but it has crashed on two hosts by now: the job is at fault and not the worker.
    case jobAtFault = "job-at-fault"
    /// The job failed with this attempt.
    case jobFailed = "job-failed"
    /// The claim no longer held the pass.
    case late

    /// Whether the job is known to be at fault and not the worker. The crash then says nothing about the worker's slot.
    package var blamesJob: Bool { self == .jobAtFault || self == .jobFailed }
}

extension RedisBoard {
    package func complete(_ claim: Claim, worker: WorkerID, result: PassResult) throws(ReelFailure) -> CompleteAnswer {
        let statistics = result.statistics
        return try transition([
            "complete", claim.job.text, String(claim.index), claim.token, worker.text, String(claim.plan),
            try JSON.text(result), try JSON.lines(result.diagnostics), String(statistics.framesDecoded),
            String(statistics.framesEncoded), String(statistics.peakRSS), timing.leaseText, timing.retentionText,
            String(Int(statistics.cpuSeconds * 1000)), String(statistics.outputBytes ?? 0),
        ]).value()
    }

    package func fail(
        _ claim: Claim, worker: WorkerID, failure: ReelFailure, as cause: FailureCause?
    ) throws(ReelFailure) -> FailAnswer {
        try transition([
            "fail", claim.job.text, String(claim.index), claim.token, worker.text, String(claim.plan),
            (cause ?? failure.cause).rawValue, try JSON.text(failure), timing.leaseText,
            String(timing.backoff.milliseconds), timing.retentionText,
        ]).value()
    }

    package func disprove(_ claim: Claim, worker: WorkerID, job: BoardJob) throws(ReelFailure) -> Bool {
        let job = job.withoutPlan
        let reply = try transition([
            "disprove", claim.job.text, String(claim.index), claim.token, worker.text, String(claim.plan),
            try JSON.text(job), String(job.need), String(job.share),
        ])
        return switch try reply.text() {
        case "probing": true
        case "late": false
        default: throw reply.surprise
        }
    }

    @discardableResult
    package func invalidate(
        _ job: JobID, passes: [(index: Int, token: String)], plan: Int, by worker: WorkerID, reason: ReelFailure
    ) throws(ReelFailure) -> Int {
        var taken = 0
        for start in stride(from: 0, to: passes.count, by: 200) {
            let part = passes[start..<min(start + 200, passes.count)]
            taken += try transition(
                ["invalidate", job.text, String(plan), worker.text, try JSON.text(reason), timing.retentionText]
                    + part.flatMap { [String($0.index), $0.token] }
            ).count()
        }
        // Without this, readers would add up all results until the next audit.
        if taken > 0 { try tally(job) }
        return taken
    }

    @discardableResult
    package func readmit(_ worker: WorkerID, to jobs: [JobID]) throws(ReelFailure) -> Int {
        try transition(["readmit", worker.text] + jobs.map(\.text)).count()
    }
}

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
        repeat { cursor = try transition(["trim", job.text, cursor]).text() } while cursor != "0"
    }

    /// Writes the job's totals (`sum`) anew if they do not count every finished pass. Returns whether it did.
    @discardableResult
    func tally(_ job: JobID) throws(ReelFailure) -> Bool {
        let finished = try send(["HLEN", keys.job(job, "done")]).integer ?? 0
        guard finished > 0 else { return false }
        let register = try send(["HGET", keys.job(job), "sum"]).string
        guard Int(register?.split(separator: " ").first ?? "0") != finished else { return false }
        let totals = try totals(of: job, register: nil, finished: finished)
        return try transition(["tally", job.text] + totals.numbers(of: finished)).flag()
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
