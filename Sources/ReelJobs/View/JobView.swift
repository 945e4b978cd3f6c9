package import ReelCore
package import ReelQueue
package import ReelStore
internal import ReelWords

/// A job as `--json` shows it. Names only ever get added; docs/json.md explains them.
package struct JobView: Codable, Hashable, Sendable {
    package var id: String
    package var state: JobState
    package var paused: Bool
    package var name: String?
    package var labels: [String: String]
    package var submitter: String?
    package var weight: Double
    package var options: JobSpec?
    package var source: String
    package var sources: [String]
    package var fingerprints: [FingerprintView] = []
    package var clips: [ClipProgress] = []
    package var frames: Int
    package var framesDecoded: Int
    package var framesEncoded: Int
    package var assembled: Double?
    package var passes: Int
    package var passesDone: Int
    package var passesLive: Int
    package var passesReady: Int
    package var passesRetrying: Int
    package var passesExhausted: Int
    package var framesPerSecond: Double
    package var passesPerSecond: Double
    package var eta: Double?
    package var oldestWait: Double?
    package var waitReason: String?
    package var waitCode: String?
    package var need: Int64
    package var peakRSS: Int64
    package var created: Double
    package var finished: Double?
    package var warnings: [String]
    package var diagnostics: [DiagnosticView]
    package var engines: [EngineView]
    package var excluded: [ExcludedView]
    package var failureCount: Int
    package var failures: [FailureView]
    package var failure: String?
    package var failureReason: ReasonView?
    package var output: String?
    package var outputBytes: Int64?
    package var outputSha256: String?
    package var outputFrames: Int?

    package struct FingerprintView: Codable, Hashable, Sendable {
        package var bytes: Int64
        package var modifiedNanoseconds: Int64
        package var edgesSha256: String

        package init(_ fingerprint: Fingerprint) {
            (bytes, modifiedNanoseconds) = (fingerprint.size, fingerprint.mtimeNanoseconds)
            edgesSha256 = fingerprint.edges
        }
    }

    package struct EngineView: Codable, Hashable, Sendable {
        package var worker: String
        package var host: String
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
        assembled = status.assembled
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
        self.output = output?.locator.name
        (outputBytes, outputSha256) = (output?.recorded.bytes, output?.recorded.sha256)
        outputFrames = output?.recorded.frames
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

// In these views a code is stable, facts have names, and a message is for people and may change with every release.

/// A diagnostic as `--json` shows it. Documented in docs/json.md and docs/diagnostics.md.
package struct DiagnosticView: Codable, Hashable, Sendable {
    package var code: String
    package var facts: JSONValue
    package var message: String

    package init(_ diagnostic: Diagnostic) {
        (code, facts) = (diagnostic.code, diagnostic.facts)
        message = diagnostic.words
    }
}

/// Why something failed, as `--json` shows it. Documented in docs/json.md and docs/diagnostics.md.
package struct ReasonView: Codable, Hashable, Sendable {
    package var code: String
    package var owner: ReelFailure.Owner
    package var facts: JSONValue
    package var message: String

    package init(_ failure: ReelFailure) {
        (code, facts) = (failure.reason.code, failure.reason.facts)
        owner = failure.owner
        message = failure.words
    }
}

/// A command's failure as `--json` prints it: `{"error": {…}}`, with the job's id if there is one.
package struct ErrorView: Codable, Hashable, Sendable {
    /// The job's id; missing if the failure is of no job.
    package var id: String?
    /// The video of several that it is about, as the command named it; missing if the command had but one.
    package var source: String?
    package var error: Failure

    package struct Failure: Codable, Hashable, Sendable {
        package var code: String
        package var owner: ReelFailure.Owner
        package var facts: JSONValue
        /// What went wrong and what to do, which may change with every release.
        package var message: String
        package var exit: Int32
    }

    /// A failure in a program's own words.
    package init(_ failure: ReelFailure, message: String, job: JobID?, source: String? = nil) {
        id = job?.text
        self.source = source
        error = Failure(
            code: failure.reason.code, owner: failure.owner, facts: failure.reason.facts, message: message,
            exit: failure.exitCode)
    }

    /// Arguments that a program does not take, with the code `usage`.
    package init(usage message: String, exit: Int32) {
        error = Failure(code: "usage", owner: .request, facts: .object([:]), message: message, exit: exit)
    }
}

/// A job as `submit --json` prints it as soon as the job has its id. Documented in docs/json.md.
package struct SubmittedView: Codable, Hashable, Sendable {
    package var id: String
    package var state: JobState

    package init(id: JobID, state: JobState) { (self.id, self.state) = (id.text, state) }
}

/// The failed attempts at one pass, as `--json` shows them. Names only ever get added; docs/json.md explains them.
package struct FailureView: Codable, Hashable, Sendable {
    package var index: Int
    package var kind: String?
    package var firstFrame: Int?
    package var endFrame: Int?
    package var from: Double?
    package var to: Double?
    package var attempts: [String: Int]
    package var lastMessage: String
    package var recent: [AttemptView]

    package struct AttemptView: Codable, Hashable, Sendable {
        package var cause: String
        package var code: String
        package var owner: ReelFailure.Owner
        package var facts: JSONValue
        package var message: String
        package var host: String
        package var worker: String
        package var time: Double
        package var log: [String]?
    }

    /// - Parameters:
    ///   - work: what failed; nil if it is not known.
    ///   - pass: the pass, if a plan lists it and the store has the plan.
    ///   - index: has the times of the pass's frames.
    ///   - logs: the end of what engines wrote on standard error, by the token of the attempt.
    package init(
        _ failure: PassFailure, work: Work? = nil, pass: Pass? = nil, index: SourceIndex? = nil,
        logs: [String: String] = [:]
    ) {
        self.index = failure.index
        attempts = failure.attempts
        lastMessage = failure.recent.last?.reason.words ?? ""
        recent = failure.recent.map { attempt in
            let log = logs[attempt.token].map(FailureView.lastLines) ?? []
            return AttemptView(
                cause: attempt.cause, code: attempt.reason.reason.code, owner: attempt.reason.owner,
                facts: attempt.reason.reason.facts, message: attempt.reason.words, host: attempt.host,
                worker: attempt.worker, time: attempt.time, log: log.isEmpty ? nil : log)
        }
        kind = work?.rawValue
        guard case .video(let video) = pass else { return }
        (firstFrame, endFrame) = (video.frames.lowerBound, video.frames.upperBound)
        guard let index, index.video.frames.indices.contains(video.frames.upperBound - 1) else { return }
        let (track, start) = (index.video, index.startTime)
        func seconds(_ time: Timestamp) -> Double {
            (track.stream.timeBase.seconds(time) - start).approximate
        }
        from = seconds(track.frames[video.frames.lowerBound].interval.start)
        to = seconds(track.frames[video.frames.upperBound - 1].interval.end)
    }

    /// The last ten lines; of the report of a crash the first ten, since it ends with registers and addresses.
    private static func lastLines(_ text: String) -> [String] {
        let lines = text.split(whereSeparator: \.isNewline)
        guard let crash = lines.firstIndex(where: { $0.hasPrefix("*** Program crashed") }) else {
            return lines.suffix(10).map(String.init)
        }
        return lines[crash...].prefix(10).map(String.init)
    }
}
