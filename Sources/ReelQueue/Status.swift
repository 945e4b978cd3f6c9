internal import Foundation
package import ReelCore

/// The reply of the function `status`; see the header of its Lua file.
struct StatusReply {
    var fields, live, fails, excluded, pace: [String: String]
    /// The number of finished passes, the assembly included.
    var finished: Int
    /// The number of passes with failed attempts; `fails` has some of them.
    var failing: Int
    /// The number of retries that are due.
    var due: Int
    /// The number of retries to come.
    var later: Int
    /// When the first retry was or is due, in milliseconds since 1970.
    var firstRetry: Double?
    /// Redis's time in milliseconds since 1970.
    var now: Double

    /// The times (milliseconds since 1970), and other numbers, that readers accept and compute with.
    static let times = 0.0...1e15

    init(_ reply: Reply) throws(ReelFailure) {
        var parts = try ReplyReader(reply)
        fields = try parts.dictionary()
        live = try parts.dictionary()
        fails = try parts.dictionary()
        excluded = try parts.dictionary()
        pace = try parts.dictionary()
        finished = try parts.integer()
        failing = try parts.integer()
        due = try parts.integer()
        later = try parts.integer()
        firstRetry = Double(try parts.text()).flatMap { StatusReply.times.contains($0) ? $0 : nil }
        now = Double(try parts.integer())
        try parts.end()
    }

    /// The time in a field, in milliseconds since 1970; nil if it has none.
    func time(_ field: String) -> Double? {
        fields[field].flatMap(Double.init).flatMap { StatusReply.times.contains($0) ? $0 : nil }
    }

    func counts(state: JobState, passCount: Int) -> JobStatus.PassCounts {
        let done = min(finished, passCount)
        // Once all passes are finished, one of the retries is the assembly.
        let released = done == passCount ? 1 : 0
        let retrying = state.isTerminal ? 0 : max(later - released, 0)
        let held = live.keys.count { Int($0).map { (0..<passCount).contains($0) } ?? false }
        return JobStatus.PassCounts(
            done: done, live: live.count, ready: max(passCount - done - held - retrying, 0), retrying: retrying,
            exhausted: state == .failed && (fields["failed"].flatMap(Int.init) ?? -1) >= 0 ? 1 : 0)
    }

    /// Seconds since a pass that no worker has taken yet became ready, the longest; nil if there is none.
    func oldestWait(state: JobState, passCount: Int, offered: Double) -> Double? {
        guard !state.isTerminal else { return nil }
        var since = firstRetry.flatMap { $0 <= now ? $0 : nil }
        if let cursor = fields["cursor"].flatMap(Int.init), cursor < passCount, finished < passCount {
            since = min(since ?? offered, offered)
        }
        return since.map { max(0, now - $0) / 1000 }
    }

    /// Seconds until the first retry is due; nil if a pass is held or ready before that.
    func nextRetry(state: JobState, passCount: Int) -> Double? {
        guard oldestWait(state: state, passCount: passCount, offered: now) == nil, live.isEmpty, !state.isTerminal
        else { return nil }
        return firstRetry.map { max(0, $0 - now) / 1000 }
    }
}

// Failures. The board holds codes and facts, and the reason of an attempt as it was reported.
extension StatusReply {
    /// Why the job failed. Throws if it has not.
    func failure() throws(ReelFailure) -> ReelFailure {
        let pass = fields["failed"].flatMap(Int.init) ?? 0
        let attempts = fields["attempts"].flatMap(Int.init) ?? 0
        let by = fields["by"] ?? ""
        func last() throws(ReelFailure) -> ReelFailure { try JSON.value(fields["reason"] ?? "") }
        switch fields["how"] {
        case "permanent": return try last()
        case "exhausted": return ReelFailure(.passExhausted(pass: pass, attempts: attempts, last: try last()))
        case "lost": return ReelFailure(.passLost(pass: pass, attempts: attempts, worker: by))
        case "limit":
            let planned = fields["planned"].flatMap(Int64.init) ?? 0
            return ReelFailure(
                .passOutOfMemory(pass: pass, planned: planned, doubled: attempts > 1, last: try last()))
        case "nobody": return ReelFailure(.noWorkerCan(host: by, last: try last()))
        default: throw JSON.unreadable("a failure of kind \(fields["how"] ?? "none")")
        }
    }

    /// The workers that the job excludes. Each entry has the host on the first line, the reason on the second.
    func exclusions() throws(ReelFailure) -> [String: JobStatus.HostFailure] {
        var found: [String: JobStatus.HostFailure] = [:]
        for (worker, entry) in excluded {
            guard let end = entry.firstIndex(of: "\n") else { throw JSON.unreadable(entry) }
            found[worker] = JobStatus.HostFailure(
                host: String(entry[..<end]), reason: try JSON.value(entry[entry.index(after: end)...]))
        }
        return found
    }

    /// The host on which the job waits for room on a disk, and the failure; nil if it does not wait.
    func spaceNote() throws(ReelFailure) -> JobStatus.HostFailure? {
        guard let reason = fields["note"], let host = fields["noting"] else { return nil }
        return JobStatus.HostFailure(host: host, reason: try JSON.value(reason))
    }
}

/// What readers need of an entry of `fails`.
struct FailRecord: Decodable {
    struct Attempt: Decodable {
        var cause: String
        /// The reason as JSON; nil if the worker vanished.
        var reason: String?
        var worker, host, token: String
        /// Milliseconds since 1970.
        var at: Double
    }

    var attempts: [String: Int]
    var recent: [Attempt]

    static func decoded(_ entry: String) throws(ReelFailure) -> FailRecord { try JSON.value(entry) }

    func failure(of index: Int) throws(ReelFailure) -> PassFailure {
        var failure = PassFailure(index: index, attempts: attempts, recent: [])
        for attempt in recent {
            let reason: ReelFailure =
                if let text = attempt.reason { try JSON.value(text) } else {
                    ReelFailure(.workerVanished(worker: attempt.worker))
                }
            failure.recent.append(
                PassFailure.Attempt(
                    cause: attempt.cause, reason: reason, worker: attempt.worker, host: attempt.host,
                    token: attempt.token, time: attempt.at / 1000))
        }
        return failure
    }
}

extension RedisBoard {
    package func status(_ job: JobID) throws(ReelFailure) -> JobStatus? {
        guard let reply = try look("status", [job.text]).present else { return nil }
        let look = try StatusReply(reply)
        let state = look.fields["state"].flatMap(JobState.init)
        if let state, !state.isTerminal, try ids(in: .broken).contains(job) { throw RedisBoard.setAside }
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
        published.run = look.fields["run"].flatMap { Int($0) }
        guard BoardJob.passCounts.contains(published.passCount), Totals.counts.contains(published.frames) else {
            throw surprise()
        }
        let (fields, count) = (look.fields, published.passCount)

        // Before there is a plan, finished passes belong to a publisher that has not finished.
        var totals = Totals()
        if published.plan > 0 { totals = try self.totals(of: job, register: fields["sum"], finished: look.finished) }
        var assembled: Double?
        for (index, entry) in look.live {
            guard let holder = Holder(entry) else { throw surprise() }
            let isAssembly = index == String(count)
            if isAssembly { assembled = Double(min(holder.decoded, 1000)) / 1000 }
            totals.add(decoded: isAssembly ? 0 : holder.decoded, encoded: holder.encoded)
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
            framesDecoded: totals.decoded, assembled: assembled, pace: Pace(look.pace, now: look.now, since: offered),
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
}
