public import ReelCore
public import ReelQueue
internal import ReelWords

/// Why nothing works on a job at this moment: one sentence, the most telling one.
public enum WaitReason: Hashable, Sendable, CustomStringConvertible {
    /// A person holds it back.
    case paused
    case noWorker
    /// A disk is full: whose, and what for.
    case space(host: String, ReelFailure)
    /// Bytes that a pass needs, and bytes of the worker that has most.
    case memory(need: Int64, largest: Int64)
    /// What the job was planned with, and what the workers speak.
    case protocolVersion(Int, workers: [Int])
    /// Hosts and why they cannot take it.
    case excluded([String])
    /// All who could take it were told to claim no more.
    case draining
    /// Workers that could take it and claim nothing, in their own words.
    case unwell([String])
    /// All that is left failed before and is tried again in so many seconds.
    case retry(Int)
    /// Slots of all workers that could take it; other jobs have them.
    case busy(slots: Int)

    /// Nil where something works on the job, where it has ended, and where it may be taken at once.
    public init?(_ status: JobStatus, workers: [WorkerStatus]) {
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

    /// Asks what each worker lacks, one thing after another, until none is left that could take the job.
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
        let willing = able.filter { !$0.draining }
        guard !willing.isEmpty else { return .draining }
        let well = willing.filter { $0.report.notes.isEmpty || !$0.report.held.isEmpty }
        guard !well.isEmpty else {
            return .unwell(willing.map { "\($0.report.host) \($0.report.notes.map(\.words).joined(separator: ", "))" })
        }
        if let seconds = status.nextRetry { return .retry(Int(seconds.rounded(.up))) }
        // A slot that is free takes it at once; memory that is not free holds it back.
        guard well.allSatisfy({ !$0.report.held.isEmpty }) else { return nil }
        return .busy(slots: well.reduce(0) { $0 + $1.report.slots })
    }

    private static func obstacle(of worker: WorkerStatus, _ status: JobStatus) -> String? {
        let host = worker.report.host
        if let excluded = status.excluded[worker.report.worker.text] { return "\(host): \(excluded.reason.words)" }
        let missing = status.job.encoders.first { !worker.report.encoders.contains($0) }
        return missing.map { "\(host): it has no encoder \($0)" }
    }

    /// Whether it passes by itself, so that nobody need do anything.
    public var isPassing: Bool {
        switch self {
        case .retry, .busy: true
        default: false
        }
    }

    /// Stable, as codes of diagnostics are.
    public var code: String {
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

    /// In words, which may change with every release.
    public var description: String {
        switch self {
        case .paused: "it is paused"
        case .noWorker: "no worker is connected"
        case .space(let host, let failure): "waiting for disk space on \(host): \(failure.words)"
        case .memory(let need, let largest):
            "no worker has the memory that a pass needs: \(ByteSize(bytes: need)); the largest has "
                + "\(ByteSize(bytes: largest))"
        case .protocolVersion(let version, let others):
            "no worker is of its release: it speaks protocol \(version), they "
                + others.map(String.init).joined(separator: ", ") + "; use one release everywhere"
        case .excluded(let hosts): "no worker can take it: " + hosts.joined(separator: "; ")
        case .draining: "every worker that could take it drains"
        case .unwell(let workers): workers.joined(separator: "; ")
        case .retry(let seconds): "all that is left failed before and is tried again in \(seconds) s"
        case .busy(let slots):
            "nothing is free: other jobs take " + (slots == 1 ? "the only slot" : "all \(slots) slots")
        }
    }
}
