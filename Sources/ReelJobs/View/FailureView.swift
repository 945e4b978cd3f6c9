package import ReelCore
package import ReelQueue
internal import ReelWords

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
                worker: attempt.worker,
                time: attempt.time, log: log.isEmpty ? nil : log)
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
