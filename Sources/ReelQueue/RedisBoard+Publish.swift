package import ReelCore

extension RedisBoard {
    /// Puts a plan and its passes on the board. No pass can be claimed before all are there. Repeat the call until it
    /// is answered.
    ///
    /// - Parameters:
    ///   - job: the whole job, with the number of its plan.
    ///   - passes: the passes in the order in which workers claim them, `job.passCount` of them, without the assembly.
    ///   - finished: results that the store has already, by index.
    ///   - claim: the claim that holds the job's planning. Its lease is extended meanwhile, and ends if this succeeds.
    ///   - paused: whether the job is paused until `resume`. A job that was paused while probing stays paused.
    /// - Throws: `.jobContradictory`, `.passesVanished`, or that Redis cannot be reached.
    package func publish(
        _ job: BoardJob, passes: [Pass], finished: [Int: RecordedResult], claim: Claim, paused: Bool
    ) throws(ReelFailure) -> Published {
        guard passes.count == job.passCount else {
            throw ReelFailure(.jobContradictory(job: job.id, fault: .passCount))
        }
        guard job.plan > 0, job.id == claim.job else {
            throw ReelFailure(.jobContradictory(job: job.id, fault: .plan))
        }
        try check(job)
        // A claim that no longer holds the planning asks all the same: it may have published, and the answer was lost.
        if try upload(passes, of: claim), try restore(finished, of: claim), !finished.isEmpty { _ = try tally(job.id) }
        if let answer = try call(Command.Publish(job: job, token: claim.token, isPaused: paused)) { return answer }
        throw ReelFailure(.passesVanished(job: job.id))
    }

    func check(_ weight: Double, of job: JobID) throws(ReelFailure) {
        guard weight.isFinite, weight > 0 else { throw ReelFailure(.jobContradictory(job: job, fault: .weight)) }
    }

    func check(_ job: BoardJob) throws(ReelFailure) {
        try check(job.weight, of: job.id)
        guard !job.id.text.isEmpty else { throw ReelFailure(.jobContradictory(job: job.id, fault: .id)) }
    }

    /// Returns false if the claim does not hold the planning.
    private func upload(_ passes: [Pass], of claim: Claim) throws(ReelFailure) -> Bool {
        let batch = 500
        // Without passes one call is made all the same: it removes what an earlier publisher left.
        for start in stride(from: 0, to: max(passes.count, 1), by: batch) {
            let part = (start..<min(start + batch, passes.count)).map { (index: $0, pass: passes[$0]) }
            let upload = Command.Upload(job: claim.job, token: claim.token, isFirst: start == 0, passes: part)
            guard try call(upload) else { return false }
        }
        return true
    }

    /// Returns false if the claim does not hold the planning.
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

extension BoardJob {
    /// The virtual time that one claim costs: the frames of the job's average pass, divided by its weight.
    var share: Double { Double(max(frames, 1)) / Double(max(passCount, 1)) / weight }
}

/// The kind of work, which is all that the board's functions know of it.
enum WorkKind: String {
    case video, audio, assembly
    case planning = "probe"

    init(_ pass: Pass) {
        switch pass {
        case .video: self = .video
        case .audio: self = .audio
        }
    }

    /// The work of this kind.
    ///
    /// - Parameter text: the pass as JSON; ignored for assembly and planning.
    func work(_ text: String) throws(ReelFailure) -> Work {
        switch self {
        case .video, .audio: .pass(try JSON.value(text))
        case .assembly: .assembly
        case .planning: .planning
        }
    }
}
