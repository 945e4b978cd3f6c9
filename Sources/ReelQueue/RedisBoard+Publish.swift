public import ReelCore

/// What became of a job that a probe's holder put up.
public enum Published: String, Sendable {
    /// It runs, and the probe is over; also where this claim had published it before.
    case published
    /// The claim does not hold the probe any more: somebody else makes the plan.
    case lost
    /// Somebody cancelled the job meanwhile.
    case cancelled
}

/// A result that a store has, and who made it.
public struct RecordedResult: Hashable, Sendable {
    public var token: String
    public var result: PassResult

    public init(token: String, result: PassResult) {
        self.token = token
        self.result = result
    }
}

extension RedisBoard {
    /// Puts a plan and its passes up, all or nothing: none can be claimed before all are there. Repeat it until it is
    /// answered.
    ///
    /// - Parameters:
    ///   - job: complete, with the number of its plan.
    ///   - passes: in the order in which they are to be claimed, `job.passCount` of them, without the assembly.
    ///   - finished: results that the store has already, by index.
    ///   - claim: holds the job's probe; its lease is extended on the way, and ends with it.
    ///   - paused: whether nothing of it is given out until `resume`. A job that was paused while probing stays so.
    /// - Throws: `.usage` where the job contradicts itself, `.unreachable`.
    public func publish(
        _ job: PublishedJob, passes: [Pass], finished: [Int: RecordedResult], claim: Claim, paused: Bool
    ) throws(ReelFailure) -> Published {
        guard passes.count == job.passCount else {
            throw ReelFailure(.jobContradictory(job: job.id, fault: .passCount))
        }
        guard job.plan > 0, job.id == claim.job else {
            throw ReelFailure(.jobContradictory(job: job.id, fault: .plan))
        }
        try check(job)
        // One that is lost asks all the same: its last answer may be what was lost.
        if try upload(passes, of: claim), try restore(finished, of: claim), !finished.isEmpty { _ = try tally(job.id) }
        if let answer = try call(Command.Publish(job: job, token: claim.token, isPaused: paused)) { return answer }
        throw ReelFailure(.passesVanished(job: job.id))
    }

    func check(_ job: PublishedJob) throws(ReelFailure) {
        guard job.weight.isFinite, job.weight > 0 else {
            throw ReelFailure(.jobContradictory(job: job.id, fault: .weight))
        }
        guard !job.id.text.isEmpty else { throw ReelFailure(.jobContradictory(job: job.id, fault: .id)) }
    }

    /// False where the claim does not hold the probe.
    private func upload(_ passes: [Pass], of claim: Claim) throws(ReelFailure) -> Bool {
        let batch = 500
        // Where there are none, what an earlier publisher left is removed all the same.
        for start in stride(from: 0, to: max(passes.count, 1), by: batch) {
            let part = (start..<min(start + batch, passes.count)).map { (index: $0, pass: passes[$0]) }
            let upload = Command.Upload(job: claim.job, token: claim.token, isFirst: start == 0, passes: part)
            guard try call(upload) else { return false }
        }
        return true
    }

    /// False where the claim does not hold the probe.
    private func restore(_ finished: [Int: RecordedResult], of claim: Claim) throws(ReelFailure) -> Bool {
        let batch = 200
        let entries = finished.sorted { $0.key < $1.key }
        for start in stride(from: 0, to: entries.count, by: batch) {
            let part = entries[start..<min(start + batch, entries.count)].map { (index: $0.key, recorded: $0.value) }
            guard try call(Command.Restore(job: claim.job, token: claim.token, results: part)) else { return false }
        }
        return true
    }
}

extension PublishedJob {
    /// Virtual time that one claim costs: the frames of its average pass, by its weight.
    var share: Double { Double(max(frames, 1)) / Double(max(passCount, 1)) / weight }
}

/// What scripts know of a pass.
enum PassKind: String {
    case video, audio, assembly, probe

    /// Nil for what no plan lists.
    init?(stored pass: Pass) {
        switch pass {
        case .video: self = .video
        case .audio: self = .audio
        case .assembly, .probe: return nil
        }
    }

    /// The pass of a kind and its JSON, which is empty for what no plan lists.
    func pass(_ text: String) throws(ReelFailure) -> Pass {
        switch self {
        case .video, .audio: try JSON.value(text)
        case .assembly: .assembly
        case .probe: .probe
        }
    }
}
