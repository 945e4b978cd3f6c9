public import ReelCore
public import ReelQueue
public import ReelStore
internal import ReelWords

/// A job as `--json` shows it. Documented in docs/json.md; names only ever get added.
public struct JobView: Codable, Hashable, Sendable {
    public var id: String
    public var state: JobState
    /// Nothing of it is given out, since a person holds it back.
    public var paused: Bool
    public var source: String
    /// Frames of video that the output shows.
    public var frames: Int
    public var framesDecoded: Int
    public var framesEncoded: Int
    /// Passes without the assembly.
    public var passes: Int
    public var passesDone: Int
    public var passesLive: Int
    public var passesReady: Int
    public var passesRetrying: Int
    public var passesExhausted: Int
    /// Over the last minute.
    public var framesPerSecond: Double
    public var passesPerSecond: Double
    /// Seconds until all frames are there, at the speed of the last minute; missing where that tells nothing.
    public var eta: Double?
    /// Seconds for which the pass that waits longest has been ready; missing where none is.
    public var oldestWait: Double?
    /// Why nothing works on it at this moment; missing where something does.
    public var waitReason: String?
    /// The same as a code.
    public var waitCode: String?
    /// Bytes that a pass may take.
    public var need: Int64
    /// Bytes, of the greatest engine; 0 before any pass is finished.
    public var peakRSS: Int64
    /// Seconds since 1970.
    public var created: Double
    /// Seconds since 1970; missing until the job has ended.
    public var finished: Double?
    /// What will not be kept, was changed or repaired, and why nothing works on the job, in words.
    public var warnings: [String]
    /// The same as codes with their facts; without why nothing works on the job.
    public var diagnostics: [DiagnosticView]
    public var excluded: [ExcludedView]
    /// How many passes there are of which attempts failed.
    public var failureCount: Int
    /// A page of them.
    public var failures: [FailureView]
    /// Why the job failed, where it has.
    public var failure: String?
    /// The same as a code with its facts.
    public var failureReason: ReasonView?
    /// Path of the result: where it was delivered, or where the store has it. Missing until there is one.
    public var output: String?
    /// Bytes of the result. Missing until there is one; so is its hash.
    public var outputBytes: Int64?
    /// SHA-256 of the result, in hexadecimal.
    public var outputSha256: String?

    /// A host that gets nothing of the job.
    public struct ExcludedView: Codable, Hashable, Sendable {
        public var worker: String
        public var host: String
        public var reason: String
        public var code: String
    }

    /// As the board knows it.
    ///
    /// - Parameters:
    ///   - found: what finished passes told, beside what the plan did.
    ///   - waitAdvice: what can be done about that, in the words of the program that shows it.
    ///   - failures: those of the status, with more than the board knows.
    public init(
        _ status: JobStatus, output: StoredResult?, found: [Diagnostic] = [], waitReason: WaitReason? = nil,
        waitAdvice: String? = nil,
        failures: [FailureView]? = nil
    ) {
        id = status.job.id.text
        state = status.state
        paused = status.isPaused
        source = status.job.source
        frames = status.job.frames
        framesDecoded = status.framesDecoded
        framesEncoded = status.framesEncoded
        passes = status.job.passCount
        passesDone = status.passes.done
        passesLive = status.passes.live
        // What will not be done any more is not ready.
        passesReady = status.state.isTerminal ? 0 : status.passes.ready
        passesRetrying = status.passes.retrying
        passesExhausted = status.passes.exhausted
        framesPerSecond = status.state.isTerminal ? 0 : status.pace.framesPerSecond
        passesPerSecond = status.state.isTerminal ? 0 : status.pace.passesPerSecond
        oldestWait = status.oldestWait
        let waits = waitReason.map { ([$0.description] + [waitAdvice].compactMap(\.self)).joined(separator: ": ") }
        self.waitReason = waits
        waitCode = waitReason?.code
        need = status.job.need
        peakRSS = status.peakRSS
        created = status.created
        finished = status.finished
        diagnostics = (status.job.diagnostics + found).reduce(into: []) { told, diagnostic in
            let view = DiagnosticView(diagnostic)
            if !told.contains(view) { told.append(view) }
        }
        excluded = status.excluded.sorted { $0.key < $1.key }.map {
            ExcludedView(
                worker: $0.key, host: $0.value.host, reason: $0.value.reason.words, code: $0.value.reason.reason.code)
        }
        let space = status.spaceNote.map { WaitReason.space(host: $0.host, $0.reason).description }
        let workers = excluded.map(JobView.warning)
        warnings =
            (diagnostics.map(\.message) + [space].compactMap(\.self) + workers
            + [waits].compactMap(\.self)).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
        failureCount = status.failureCount
        self.failures = failures ?? status.failures.map { FailureView($0) }
        failure = status.failure?.words
        failureReason = status.failure.map(ReasonView.init)
        (self.output, outputBytes, outputSha256) = (output?.path, output?.recorded?.bytes, output?.recorded?.sha256)
        let left = frames - framesEncoded
        eta = !state.isTerminal && !paused && left > 0 && framesPerSecond > 0 ? Double(left) / framesPerSecond : nil
    }

    /// As the store knows it, where the board has forgotten it. Nil for a job that has not ended.
    public init?(_ folder: JobFolder) throws(ReelFailure) {
        let record = try folder.read()
        guard let state = record.state, state.isTerminal else { return nil }
        // One that was refused has none.
        let plan = try? folder.latestPlan()
        id = record.id.text
        self.state = state
        paused = false
        source = record.source.path
        frames = plan?.frameCount ?? 0
        framesDecoded = 0
        framesEncoded = state == .done ? frames : 0
        passes = plan?.passes.count ?? 0
        passesDone = state == .done ? passes : 0
        (passesLive, passesReady, passesRetrying, passesExhausted) = (0, 0, 0, 0)
        (framesPerSecond, passesPerSecond) = (0, 0)
        need = plan?.need ?? 0
        peakRSS = 0
        created = record.created
        finished = record.finished
        diagnostics = plan?.diagnostics.map(DiagnosticView.init) ?? []
        warnings = diagnostics.map(\.message)
        excluded = []
        failureCount = 0
        failures = []
        failure = record.failure?.words
        failureReason = record.failure.map(ReasonView.init)
        let result = folder.result
        (output, outputBytes, outputSha256) = (result?.path, result?.recorded?.bytes, result?.recorded?.sha256)
    }

    /// The warning that a worker gets nothing of a job.
    package static func warning(_ excluded: ExcludedView) -> String {
        "\(excluded.host) cannot take this job: \(excluded.reason)"
    }

    /// The same with the path that the result was delivered to.
    public func delivered(to path: String) -> JobView {
        var view = self
        view.output = path
        return view
    }
}
