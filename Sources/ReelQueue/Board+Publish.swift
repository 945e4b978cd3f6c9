public import ReelCore

/// What publishing a job did.
public enum Published: String, Sendable {
    /// The job was there already and runs or is done.
    case attached
    case published
    /// It had failed or was cancelled, and runs again; what is finished stays so.
    case resumed
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

extension Board {
    /// Puts a job and its passes up, all or nothing: none can be claimed before all are there. Doing it again attaches
    /// to the job or goes on where an interrupted publisher stopped.
    ///
    /// - Parameters:
    ///   - passes: in the order in which they are to be claimed, `job.passCount` of them, without the assembly.
    ///   - finished: results that the store has already, by index. A job that the board does not have, or that is being
    ///     published, takes them where it has none; one that ended has its own.
    ///   - paused: whether nothing of it is given out until `resume`.
    /// - Throws: `.usage` where the job contradicts itself, `.interrupted` where it was cancelled meanwhile, `.job`
    ///   where it was published before with other passes, `.unreachable`.
    public func publish(
        _ job: PublishedJob, passes: [Pass], finished: [Int: RecordedResult] = [:], paused: Bool = false
    ) throws(ReelFailure) -> Published {
        guard passes.count == job.passCount else {
            throw ReelFailure(.usage, "job \(job.id) has \(job.passCount) passes, not \(passes.count)")
        }
        guard job.weight.isFinite, job.weight > 0 else {
            throw ReelFailure(.usage, "a job's weight must be above 0, not \(job.weight)")
        }
        guard !job.id.text.isEmpty, !passes.contains(.assembly) else {
            throw ReelFailure(.usage, "a job needs an id, and its passes are published without the assembly")
        }
        let share = Double(max(job.frames, 1)) / Double(max(job.passCount, 1)) / job.weight
        let facts = [
            try JSON.text(job), String(job.need), String(job.protocolVersion), job.encoders.joined(separator: "\n"),
            String(share), String(timing.retention.milliseconds), String(job.frames), String(job.encodingEffort),
        ]
        let opened = try text(run(.open, [job.id.text, facts[0], String(job.passCount)] + facts[1...]))
        switch opened {
        case "attached": return .attached
        case "differs":
            throw ReelFailure(.job, "job \(job.id) is on the board with other passes than these: remove it first")
        default: break
        }
        try upload(passes, of: job.id)
        try restore(finished, of: job.id)
        switch try text(run(.publish, [job.id.text, opened] + facts + [paused ? "1" : "0"])) {
        case "published": return .published
        case "resumed": return .resumed
        case "attached": return .attached
        case "ended": throw ReelFailure(.interrupted, "job \(job.id) was cancelled while it was being published")
        default:
            throw ReelFailure(
                .unreachable, "Redis lost passes of job \(job.id) while they were published: publish it again",
                cause: .transient)
        }
    }

    private func restore(_ finished: [Int: RecordedResult], of job: JobID) throws(ReelFailure) {
        let batch = 200
        let entries = finished.sorted { $0.key < $1.key }
        for start in stride(from: 0, to: entries.count, by: batch) {
            var arguments = [job.text]
            for (index, recorded) in entries[start..<min(start + batch, entries.count)] {
                arguments += [String(index), "\(recorded.token) \(try JSON.text(recorded.result))"]
            }
            _ = try run(.restore, arguments)
        }
        if !finished.isEmpty { _ = try tally(job) }
    }

    private func upload(_ passes: [Pass], of job: JobID) throws(ReelFailure) {
        let batch = 500
        for start in stride(from: 0, to: passes.count, by: batch) {
            var command = ["HSET", Board.key(job, "passes")]
            for index in start..<min(start + batch, passes.count) {
                command += [String(index), try JSON.text(passes[index])]
            }
            try send(command)
        }
    }
}
