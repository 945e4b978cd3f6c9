internal import Foundation
internal import ReelCore

/// What the script `status` answers; see its header.
struct StatusReply {
    var fields, live, fails, excluded, pace: [String: String]
    /// Finished passes, the assembly among them.
    var finished: Int
    /// Passes of which attempts failed; `fails` has some of them.
    var failing: Int
    var due: Int
    var later: Int
    /// When the first retry was or is due, in milliseconds.
    var firstRetry: Double?
    /// Milliseconds since 1970 by Redis's clock.
    var now: Double

    /// Milliseconds since 1970, and any number that readers compute with.
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

    /// Milliseconds since 1970 of a field; nil where it has no time.
    func time(_ field: String) -> Double? {
        fields[field].flatMap(Double.init).flatMap { StatusReply.times.contains($0) ? $0 : nil }
    }

    func counts(state: JobState, passCount: Int) -> JobStatus.PassCounts {
        let done = min(finished, passCount)
        // The assembly is among the retries once it was released.
        let released = done == passCount ? 1 : 0
        let retrying = state.isTerminal ? 0 : max(later - released, 0)
        let held = live.keys.count { Int($0).map { (0..<passCount).contains($0) } ?? false }
        return JobStatus.PassCounts(
            done: done, live: live.count, ready: max(passCount - done - held - retrying, 0), retrying: retrying,
            exhausted: state == .failed && (fields["failed"].flatMap(Int.init) ?? -1) >= 0 ? 1 : 0)
    }

    /// Seconds for which something has been ready that nobody took.
    func oldestWait(state: JobState, passCount: Int, offered: Double) -> Double? {
        guard !state.isTerminal else { return nil }
        var since = firstRetry.flatMap { $0 <= now ? $0 : nil }
        if let cursor = fields["cursor"].flatMap(Int.init), cursor < passCount, finished < passCount {
            since = min(since ?? offered, offered)
        }
        return since.map { max(0, now - $0) / 1000 }
    }

    /// Seconds until the first retry is due, where nothing is held or ready before it.
    func nextRetry(state: JobState, passCount: Int) -> Double? {
        guard oldestWait(state: state, passCount: passCount, offered: now) == nil, live.isEmpty, !state.isTerminal
        else { return nil }
        return firstRetry.map { max(0, $0 - now) / 1000 }
    }
}

// Failures: the board has codes and facts, and keeps an attempt's reason as it was told.
extension StatusReply {
    /// Why a job failed that has.
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

    /// Workers that get nothing of the job: host and reason of each, a line each.
    func exclusions() throws(ReelFailure) -> [String: JobStatus.Exclusion] {
        var found: [String: JobStatus.Exclusion] = [:]
        for (worker, entry) in excluded {
            guard let end = entry.firstIndex(of: "\n") else { throw JSON.unreadable(entry) }
            found[worker] = JobStatus.Exclusion(
                host: String(entry[..<end]), reason: try JSON.value(entry[entry.index(after: end)...]))
        }
        return found
    }

    /// Where room on a disk is waited for.
    func spaceNote() throws(ReelFailure) -> JobStatus.SpaceNote? {
        guard let reason = fields["note"], let host = fields["noting"] else { return nil }
        return JobStatus.SpaceNote(host: host, reason: try JSON.value(reason))
    }
}

extension Pace {
    /// From the register's slots, "slot frames passes" each.
    ///
    /// - Parameters:
    ///   - now: milliseconds since 1970.
    ///   - since: milliseconds since 1970; before it there was nothing to do.
    init(_ slots: [String: String], now: Double, since: Double) {
        let length = Double(BoardPolicy.paceSlot)
        let slot = Int(now / length)
        // The oldest slot may be about to be written over.
        let first = slot - (BoardPolicy.paceSlots - 2)
        var (frames, passes) = (0.0, 0.0)
        for entry in slots.values {
            let numbers = entry.split(separator: " ").compactMap { Double($0) }
            guard numbers.count == 3, numbers.allSatisfy(StatusReply.times.contains),
                (Double(first)...Double(slot)).contains(numbers[0])
            else { continue }
            frames += numbers[1]
            passes += numbers[2]
        }
        let begin = max(Double(first) * length, since)
        let seconds = max((now - begin) / 1000, 1)
        self.init(framesPerSecond: frames / seconds, passesPerSecond: passes / seconds)
    }
}

/// An entry of `fails`, as far as readers need it.
struct FailRecord: Decodable {
    struct Attempt: Decodable {
        var cause: String
        /// As JSON; nil where the worker vanished.
        var reason: String?
        var worker, host, token: String
        /// Milliseconds.
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
