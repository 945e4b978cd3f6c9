package import ReelCore
package import ReelQueue
internal import ReelWords

/// Why no worker works on a job at this moment: the one reason that tells most.
package enum WaitReason: Hashable, Sendable, CustomStringConvertible {
    case paused
    case noWorker
    case space(host: String, ReelFailure)
    /// No worker has the memory: bytes that a pass needs, and bytes of the worker that has most.
    case memory(need: Int64, largest: Int64)
    /// No worker speaks the protocol version that the job was planned with.
    case protocolVersion(Int, workers: [Int])
    /// No worker can take it: each host, and why it cannot.
    case excluded([String])
    case draining
    /// Every worker that could take it claims nothing: each host, and why.
    case unwell([String])
    /// All passes that are left failed before. The first is tried again in this many seconds.
    case retry(Int)
    /// Other jobs have all slots of the workers that could take it.
    case busy(slots: Int)

    /// Nil if a worker works on the job, if it has ended, and if it can be claimed at once.
    package init?(_ status: JobStatus, workers: [WorkerStatus]) {
        guard !status.state.isTerminal else { return nil }
        guard !status.isPaused else {
            self = .paused
            return
        }
        guard status.passes.live == 0 else { return nil }
        if let reason = WaitReason.among(workers.filter { !$0.isGone }, status) {
            self = reason
        } else {
            return nil
        }
    }

    /// Checks what workers lack, one thing after another, until none is left that could take the job.
    private static func among(_ alive: [WorkerStatus], _ status: JobStatus) -> WaitReason? {
        let job = status.job
        guard let largest = alive.map(\.report.memoryTotal).max() else { return .noWorker }
        if let note = status.spaceNote { return .space(host: note.host, note.reason) }
        let large = alive.filter { $0.report.memoryTotal >= job.need }
        guard !large.isEmpty else { return .memory(need: job.need, largest: largest) }
        let speaking = large.filter { $0.report.protocolVersion == job.protocolVersion }
        guard !speaking.isEmpty else {
            return .protocolVersion(job.protocolVersion, workers: Set(large.map(\.report.protocolVersion)).sorted())
        }
        let able = speaking.filter { obstacle(of: $0, status) == nil }
        guard !able.isEmpty else { return .excluded(Set(speaking.compactMap { obstacle(of: $0, status) }).sorted()) }
        let willing = able.filter { $0.drained == nil }
        guard !willing.isEmpty else { return .draining }
        let well = willing.filter { $0.report.notes.isEmpty || !$0.report.held.isEmpty }
        guard !well.isEmpty else {
            return .unwell(willing.map { "\($0.report.host) \($0.report.notes.map(\.words).joined(separator: ", "))" })
        }
        if let seconds = status.nextRetry { return .retry(Int(seconds.rounded(.up))) }
        // A worker that holds nothing claims it at once. One that holds passes may lack a slot or memory.
        guard well.allSatisfy({ !$0.report.held.isEmpty }) else { return nil }
        return .busy(slots: well.reduce(0) { $0 + $1.report.slots })
    }

    private static func obstacle(of worker: WorkerStatus, _ status: JobStatus) -> String? {
        let host = worker.report.host
        if let excluded = status.excluded[worker.report.worker.text] { return "\(host): \(excluded.reason.words)" }
        let missing = status.job.encoders.first { !worker.report.encoders.contains($0) }
        return missing.map { "\(host): the worker has no encoder \($0)" }
    }

    /// Whether the reason goes away by itself, so that users need not do anything.
    package var isPassing: Bool {
        switch self {
        case .retry, .busy: true
        default: false
        }
    }

    /// A name that never changes, as with codes of diagnostics.
    package var code: String {
        switch self {
        case .paused: "paused"
        case .noWorker: "no-worker"
        case .space: "space"
        case .memory: "memory"
        case .protocolVersion: "protocol-version"
        case .excluded: "excluded"
        case .draining: "draining"
        case .unwell: "unwell"
        case .retry: "retry"
        case .busy: "busy"
        }
    }

    /// The reason in words, which may change with every release.
    package var description: String {
        switch self {
        case .paused: "it is paused"
        case .noWorker: "no worker is connected"
        case .space(let host, let failure): "waiting for disk space on \(host): \(failure.words)"
        case .memory(let need, let largest):
            "no worker has the memory that a pass needs: \(ByteSize(bytes: need)); the largest has "
                + "\(ByteSize(bytes: largest))"
        case .protocolVersion(let version, let others):
            "no worker has the job's release: the job needs protocol \(version), workers have "
                + others.map(String.init).joined(separator: ", ") + "; use one release everywhere"
        case .excluded(let hosts): "no worker can take it: " + hosts.joined(separator: "; ")
        case .draining: "every worker that could take it is drained"
        case .unwell(let workers): workers.joined(separator: "; ")
        case .retry(let seconds): "all remaining passes failed before and are tried again in \(seconds) s"
        case .busy(let slots):
            "nothing is free: other jobs take " + (slots == 1 ? "the only slot" : "all \(slots) slots")
        }
    }
}
