internal import Foundation
internal import ReelCore

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
    func exclusions() throws(ReelFailure) -> [String: JobStatus.Exclusion] {
        var found: [String: JobStatus.Exclusion] = [:]
        for (worker, entry) in excluded {
            guard let end = entry.firstIndex(of: "\n") else { throw JSON.unreadable(entry) }
            found[worker] = JobStatus.Exclusion(
                host: String(entry[..<end]), reason: try JSON.value(entry[entry.index(after: end)...]))
        }
        return found
    }

    /// The host on which the job waits for room on a disk, and the failure; nil if it does not wait.
    func spaceNote() throws(ReelFailure) -> JobStatus.SpaceNote? {
        guard let reason = fields["note"], let host = fields["noting"] else { return nil }
        return JobStatus.SpaceNote(host: host, reason: try JSON.value(reason))
    }
}

extension Pace {
    /// Computes the speed from the slots of the key `pace`.
    ///
    /// - Parameters:
    ///   - slots: "slot frames passes" each.
    ///   - now: milliseconds since 1970.
    ///   - since: the start of the work, in milliseconds since 1970.
    init(_ slots: [String: String], now: Double, since: Double) {
        let length = Double(BoardPolicy.paceSlot)
        let slot = Int(now / length)
        // The oldest slot is left out, since it may be overwritten at any moment.
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
