package import ReelCore
package import ReelQueue
package import ReelStore
internal import ReelWords

/// A job as `--json` shows it. Documented in docs/json.md; names only ever get added.
package struct JobView: Codable, Hashable, Sendable {
    package var id: String
    package var state: JobState
    /// None of its passes can be claimed, because a user has paused it.
    package var paused: Bool
    package var name: String?
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
    /// How far each clip of an edit is, in a view of one job that the store has and that runs; else none.
    package var clips: [ClipProgress] = []
    /// Frames of video that the job makes. A clip that is repeated counts once, unless its packets are copied.
    package var frames: Int
    /// By finished passes and by held ones; so are the encoded ones.
    package var framesDecoded: Int
    package var framesEncoded: Int
    package var passes: Int
    package var passesDone: Int
    /// Passes that workers hold, assembly and planning included.
    package var passesLive: Int
    package var passesReady: Int
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
    package var diagnostics: [DiagnosticView]
    /// The workers that hold passes of the job, in a view of that job alone: how their engines are confined.
    package var engines: [EngineView]
    package var excluded: [ExcludedView]
    package var failureCount: Int
    /// A page of the passes that have had a failed attempt.
    package var failures: [FailureView]
    package var failure: String?
    package var failureReason: ReasonView?
    /// Path of the result: where it was delivered, or in the store. Missing until there is one.
    package var output: String?
    /// Bytes of the result. Missing until there is one; so is its hash.
    package var outputBytes: Int64?
    package var outputSha256: String?

    package struct FingerprintView: Codable, Hashable, Sendable {
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

    package struct EngineView: Codable, Hashable, Sendable {
        package var worker: String
        package var host: String
        /// How they are confined; missing if the worker's release is too old to say.
        package var sandbox: SandboxState?

        package init(_ report: WorkerReport) {
            (worker, host, sandbox) = (report.worker.text, report.host, report.sandbox)
        }
    }

    package struct ExcludedView: Codable, Hashable, Sendable {
        package var worker: String
        package var host: String
        package var reason: String
        package var code: String
    }

    /// - Parameters:
    ///   - options: what was asked for, as a list shows it; nil for that of the record.
    ///   - record: the store's, in a view of one job; nil without a store that has the job.
    ///   - found: diagnostics of finished passes, beside those of the plan.
    ///   - waitAdvice: the user's remedy for that, in the words of the program that shows it.
    ///   - failures: those of the status, with facts that only the store has; nil for those of the board.
    package init(
        _ status: JobStatus, options: JobSpec? = nil, record: JobRecord? = nil, output: StoredResult?,
        found: [Diagnostic] = [], waitReason: WaitReason? = nil, waitAdvice: String? = nil,
        failures: [FailureView]? = nil
    ) {
        let (job, said, hasEnded) = (status.job, status.said, status.state.isTerminal)
        (id, state, paused, weight) = (job.id.text, status.state, status.isPaused, job.weight)
        (name, labels, submitter) = (said?.name, said?.labels ?? [:], said?.submitter)
        self.options = options ?? record?.spec
        source = job.source
        sources = record?.sources.map(\.path) ?? [source]
        fingerprints = record?.sources.map { FingerprintView($0.fingerprint) } ?? []
        (frames, framesDecoded, framesEncoded) = (job.frames, status.framesDecoded, status.framesEncoded)
        (passes, passesDone, passesLive) = (job.passCount, status.passes.done, status.passes.live)
        // A job that has ended gives out no more passes.
        passesReady = hasEnded ? 0 : status.passes.ready
        (passesRetrying, passesExhausted) = (status.passes.retrying, status.passes.exhausted)
        framesPerSecond = hasEnded ? 0 : status.pace.framesPerSecond
        passesPerSecond = hasEnded ? 0 : status.pace.passesPerSecond
        oldestWait = status.oldestWait
        let waits = waitReason.map { ([$0.description] + [waitAdvice].compactMap(\.self)).joined(separator: ": ") }
        (self.waitReason, waitCode) = (waits, waitReason?.code)
        (need, peakRSS) = (job.need, status.peakRSS)
        (created, finished) = (status.created, status.finished)
        diagnostics = (job.diagnostics + found).reduce(into: []) { told, diagnostic in
            let view = DiagnosticView(diagnostic)
            if !told.contains(view) { told.append(view) }
        }
        engines = []
        excluded = status.excluded.sorted { $0.key < $1.key }.map {
            ExcludedView(
                worker: $0.key, host: $0.value.host, reason: $0.value.reason.words, code: $0.value.reason.reason.code)
        }
        let space = status.spaceNote.map { WaitReason.space(host: $0.host, $0.reason).description }
        let halts = [space].compactMap(\.self) + excluded.map(JobView.warning) + [waits].compactMap(\.self)
        warnings = (diagnostics.map(\.message) + halts).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
        failureCount = status.failureCount
        // After the passes comes the assembly.
        let work: [Int: Work] = [job.passCount: .assembly, BoardJob.planningIndex: .planning]
        self.failures = failures ?? status.failures.map { FailureView($0, work: work[$0.index]) }
        failure = status.failure?.words
        failureReason = status.failure.map(ReasonView.init)
        (self.output, outputBytes, outputSha256) = (
            output?.locator.name, output?.recorded.bytes, output?.recorded.sha256
        )
        let left = frames - framesEncoded
        eta = !hasEnded && !paused && left > 0 && framesPerSecond > 0 ? Double(left) / framesPerSecond : nil
    }

    /// A job as the store knows it, for one that the board has forgotten. Nil if it has not ended.
    package init?(_ entry: any JobEntry) async throws(ReelFailure) {
        let record = try await entry.read()
        guard let state = record.state, state.isTerminal else { return nil }
        // A job that was refused has no plan.
        let status = JobStatus(record, state, try? await entry.latestPlan())
        self.init(status, record: record, output: await entry.result)
    }

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

extension JobStatus {
    /// An ended job as the board would have it. Passes of a job that is not done are unknown to the store.
    fileprivate init(_ record: JobRecord, _ state: JobState, _ plan: Plan?) {
        let job = BoardJob(
            id: record.id, source: record.source.path, frames: plan?.framesToMake ?? 0,
            passCount: plan?.passes.count ?? 0, need: plan?.need ?? 0, protocolVersion: 0,
            weight: record.terms.weight, diagnostics: plan?.diagnostics ?? [])
        let isDone = state == .done
        self.init(
            job: job, state: state, passes: PassCounts(done: isDone ? job.passCount : 0),
            framesEncoded: isDone ? job.frames : 0, created: record.created, finished: record.finished,
            failure: record.failure, submission: try? record.submission?.text)
    }
}
