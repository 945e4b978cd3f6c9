package import ReelCore
package import ReelQueue
package import ReelStore
internal import ReelWords

/// A job as `--json` shows it. Documented in docs/json.md; names only ever get added.
package struct JobView: Codable, Hashable, Sendable {
    /// The job's id.
    package var id: String
    /// How far it is, or how it ended.
    package var state: JobState
    /// None of its passes can be claimed, because a user has paused it.
    package var paused: Bool
    /// What the submitter calls it; missing if it has no name.
    package var name: String?
    /// Values by name that the submitter gave it.
    package var labels: [String: String]
    /// Who submitted it last, as "alice@edit-2"; missing if that is unknown.
    package var submitter: String?
    /// Its share of the work beside other jobs; 1 is normal.
    package var weight: Double
    /// What was asked for, with the names of the store's record; missing without a store that has the job.
    package var options: JobSpec?
    /// Path of the source; of the first if there are several.
    package var source: String
    /// Paths of all sources, in a view of one job that the store has; else of the first alone.
    package var sources: [String]
    /// By what each of the sources is known again, in a view of one job that the store has; else none.
    package var fingerprints: [FingerprintView] = []
    /// How far each clip of an edit is, while its passes are worked on, in a view of one job that the store has; else none.
    package var clips: [ClipProgress] = []
    /// Frames of video that the job makes. A clip that is played several times counts once, unless its packets
    /// are copied.
    package var frames: Int
    /// Frames that were decoded, by finished passes and by held ones.
    package var framesDecoded: Int
    /// Frames that were encoded, by finished passes and by held ones.
    package var framesEncoded: Int
    /// Passes without the assembly.
    package var passes: Int
    /// Finished passes.
    package var passesDone: Int
    /// Passes that workers hold, assembly and planning included.
    package var passesLive: Int
    /// Passes that any worker can claim.
    package var passesReady: Int
    /// Passes that failed and wait until they are tried again.
    package var passesRetrying: Int
    /// Passes that ran out of attempts, for which the job failed.
    package var passesExhausted: Int
    /// Frames encoded in a second, over the last minute; 0 after the job's end.
    package var framesPerSecond: Double
    /// Passes finished in a second, over the last minute; 0 after the job's end.
    package var passesPerSecond: Double
    /// Seconds until all frames are there, at the speed of the last minute; missing if that tells nothing.
    package var eta: Double?
    /// Seconds for which the pass that waits longest has been ready; missing if none is.
    package var oldestWait: Double?
    /// Why no worker works on the job at this moment; missing if one does, or if it can be claimed at once.
    package var waitReason: String?
    /// The code of `waitReason`.
    package var waitCode: String?
    /// Bytes of memory that a pass may take.
    package var need: Int64
    /// Peak resident memory, in bytes, of the engine that had most; 0 before any pass is finished.
    package var peakRSS: Int64
    /// Seconds since 1970.
    package var created: Double
    /// Seconds since 1970; missing until the job has ended.
    package var finished: Double?
    /// What will not be kept, was changed or repaired, and why no worker works on the job, in words.
    package var warnings: [String]
    /// What will not be kept, was changed or repaired, as codes with their facts.
    package var diagnostics: [DiagnosticView]
    /// The workers that hold passes of the job, in a view of that job alone: how their engines are confined.
    package var engines: [EngineView]
    /// Workers that cannot claim any pass of the job.
    package var excluded: [ExcludedView]
    /// How many passes have had a failed attempt.
    package var failureCount: Int
    /// A page of the passes that have had a failed attempt.
    package var failures: [FailureView]
    /// Why the job failed, in words; missing if it has not.
    package var failure: String?
    /// Why the job failed, as a code with its facts; missing if it has not.
    package var failureReason: ReasonView?
    /// Path of the result: where it was delivered, or in the store. Missing until there is one.
    package var output: String?
    /// Bytes of the result. Missing until there is one; so is its hash.
    package var outputBytes: Int64?
    /// SHA-256 of the result, in hexadecimal.
    package var outputSha256: String?

    /// By what a source is known again.
    package struct FingerprintView: Codable, Hashable, Sendable {
        /// Bytes.
        package var bytes: Int64
        /// When it was last changed: nanoseconds since 1970.
        package var modifiedNanoseconds: Int64
        /// SHA-256 of its first MiB and of its last, one after the other, in hexadecimal.
        package var edgesSha256: String

        package init(_ fingerprint: Fingerprint) {
            (bytes, modifiedNanoseconds) = (fingerprint.size, fingerprint.mtimeNanoseconds)
            edgesSha256 = fingerprint.edges
        }
    }

    /// The engines of a worker.
    package struct EngineView: Codable, Hashable, Sendable {
        /// The worker's id.
        package var worker: String
        /// The name of its host.
        package var host: String
        /// How they are confined; missing if the worker's release is too old to say.
        package var sandbox: SandboxState?

        package init(_ report: WorkerReport) {
            (worker, host, sandbox) = (report.worker.text, report.host, report.sandbox)
        }
    }

    /// A worker that cannot claim any pass of the job.
    package struct ExcludedView: Codable, Hashable, Sendable {
        /// The worker's id.
        package var worker: String
        /// The name of its host.
        package var host: String
        /// Why it is excluded, in words.
        package var reason: String
        /// The code of the reason.
        package var code: String
    }

    /// A job as the board knows it.
    ///
    /// - Parameters:
    ///   - options: what was asked for, if the store has the job.
    ///   - output: the result, if the store has it.
    ///   - found: diagnostics of finished passes, beside those of the plan.
    ///   - waitReason: why no worker works on the job.
    ///   - waitAdvice: the user's remedy for that, in the words of the program that shows it.
    ///   - failures: those of the status, with facts that only the store has; nil for those of the board.
    package init(
        _ status: JobStatus, options: JobSpec? = nil, output: StoredResult?, found: [Diagnostic] = [],
        waitReason: WaitReason? = nil,
        waitAdvice: String? = nil,
        failures: [FailureView]? = nil
    ) {
        id = status.job.id.text
        state = status.state
        paused = status.isPaused
        let said = status.said
        (name, labels, submitter) = (said?.name, said?.labels ?? [:], said?.submitter)
        weight = status.job.weight
        self.options = options
        source = status.job.source
        sources = [source]
        frames = status.job.frames
        framesDecoded = status.framesDecoded
        framesEncoded = status.framesEncoded
        passes = status.job.passCount
        passesDone = status.passes.done
        passesLive = status.passes.live
        // A job that has ended gives out no more passes.
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
        engines = []
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
        // After the passes comes the assembly.
        let work: [Int: Work] = [status.job.passCount: .assembly, BoardJob.planningIndex: .planning]
        self.failures =
            failures ?? status.failures.map { FailureView($0, work: work[$0.index]) }
        failure = status.failure?.words
        failureReason = status.failure.map(ReasonView.init)
        (self.output, outputBytes, outputSha256) = (
            output?.locator.name, output?.recorded.bytes, output?.recorded.sha256
        )
        let left = frames - framesEncoded
        eta = !state.isTerminal && !paused && left > 0 && framesPerSecond > 0 ? Double(left) / framesPerSecond : nil
    }

    /// A job as the store knows it, for one that the board has forgotten. Nil if it has not ended.
    package init?(_ entry: any JobEntry) async throws(ReelFailure) {
        let record = try await entry.read()
        guard let state = record.state, state.isTerminal else { return nil }
        // A job that was refused has no plan.
        let plan = try? await entry.latestPlan()
        id = record.id.text
        self.state = state
        paused = false
        (name, labels) = (record.submission?.name, record.submission?.labels ?? [:])
        submitter = record.submission?.submitter
        weight = record.terms.weight
        options = record.spec
        source = record.source.path
        sources = record.sources.map(\.path)
        fingerprints = record.sources.map { FingerprintView($0.fingerprint) }
        frames = plan?.framesToMake ?? 0
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
        engines = []
        excluded = []
        failureCount = 0
        failures = []
        failure = record.failure?.words
        failureReason = record.failure.map(ReasonView.init)
        let result = await entry.result
        (output, outputBytes, outputSha256) = (result?.locator.name, result?.recorded.bytes, result?.recorded.sha256)
    }

    /// The warning that a worker cannot claim any pass of a job.
    package static func warning(_ excluded: ExcludedView) -> String {
        "\(excluded.host) cannot take this job: \(excluded.reason)"
    }

    /// The same job, with the path to which its result was delivered.
    package func delivered(to path: String) -> JobView {
        var view = self
        view.output = path
        return view
    }
}
