public import ReelCore
public import ReelQueue
public import ReelStore

/// A job as `--json` shows it. Documented in docs/json.md; names only ever get added.
public struct JobView: Codable, Hashable, Sendable {
    public var id: String
    public var state: JobState
    public var source: String
    /// Frames of video that the output shows.
    public var frames: Int
    public var framesDecoded: Int
    public var framesEncoded: Int
    /// Passes without the assembly.
    public var passes: Int
    public var passesDone: Int
    public var passesLive: Int
    /// Bytes that a pass may take.
    public var need: Int64
    /// Bytes, of the greatest engine; 0 before any pass is finished.
    public var peakRSS: Int64
    /// Seconds since 1970.
    public var created: Double
    /// Seconds since 1970; missing until the job has ended.
    public var finished: Double?
    public var warnings: [String]
    public var failures: [FailureView]
    /// Why the job failed, where it has.
    public var failure: String?
    /// Path of the result: where it was delivered, or where the store has it. Missing until there is one.
    public var output: String?

    /// Attempts that failed at one pass.
    public struct FailureView: Codable, Hashable, Sendable {
        /// The pass's place in the plan.
        public var index: Int
        /// Attempts by cause.
        public var attempts: [String: Int]
        public var lastMessage: String

        public init(_ failure: PassFailure) {
            index = failure.index
            attempts = failure.attempts
            lastMessage = failure.recent.last?.message ?? ""
        }
    }

    /// As the board knows it.
    public init(_ status: JobStatus, output: String?, notes: [String] = []) {
        id = status.job.id.text
        state = status.state
        source = status.job.source
        frames = status.job.frames
        framesDecoded = status.framesDecoded
        framesEncoded = status.framesEncoded
        passes = status.job.passCount
        passesDone = status.passes.done
        passesLive = status.passes.live
        need = status.job.need
        peakRSS = status.peakRSS
        created = status.created
        finished = status.finished
        warnings = (status.warnings + notes).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
        failures = status.failures.map(FailureView.init)
        failure = status.failure?.message
        self.output = output
    }

    /// As the store knows it, where the board has forgotten it. Nil for a job that has not ended.
    public init?(_ folder: JobFolder) throws(ReelFailure) {
        let record = try folder.read()
        guard let state = record.state, state.isTerminal else { return nil }
        let plan = try folder.readPlan()
        id = record.id.text
        self.state = state
        source = record.source
        frames = plan.timeline.frameCount
        framesDecoded = 0
        framesEncoded = state == .done ? frames : 0
        passes = plan.passes.count
        passesDone = state == .done ? passes : 0
        passesLive = 0
        need = plan.need
        peakRSS = 0
        created = record.created
        finished = record.finished
        warnings = plan.warnings
        failures = []
        failure = record.failure?.message
        output = folder.result
    }

    /// The same with the path that the result was delivered to.
    public func delivered(to path: String) -> JobView {
        var view = self
        view.output = path
        return view
    }
}

extension JobFolder {
    /// Path of the verified result, where the store has it.
    public var result: String? {
        guard let record = try? read(), record.state == .done else { return nil }
        return Container.allCases.map(output).first { fileExists($0) }
    }

    /// Records that a person cancelled the job: the store learns it before the board, so that nothing revives it.
    public func markCancelled(at time: Double) throws(ReelFailure) {
        var record = try read()
        guard record.state == nil else { return }
        record.state = .cancelled
        record.finished = time
        try write(record)
    }
}
