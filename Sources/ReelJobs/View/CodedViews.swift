package import ReelCore
internal import ReelWords

/// A diagnostic as `--json` shows it. Documented in docs/json.md and docs/diagnostics.md.
package struct DiagnosticView: Codable, Hashable, Sendable {
    /// Stable.
    package var code: String
    /// What the code is about, by name.
    package var facts: JSONValue
    /// The same in words, which may change with every release.
    package var message: String

    package init(_ diagnostic: Diagnostic) {
        (code, facts) = (diagnostic.code, diagnostic.facts)
        message = diagnostic.words
    }
}

/// Why something failed, as `--json` shows it. Documented in docs/json.md and docs/diagnostics.md.
package struct ReasonView: Codable, Hashable, Sendable {
    /// Stable.
    package var code: String
    /// The owner of the failure.
    package var owner: ReelFailure.Owner
    /// What the code is about, by name.
    package var facts: JSONValue
    /// The same in words, which may change with every release.
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
    /// The failure.
    package var error: Failure

    /// A failure, and the exit code that stands for it.
    package struct Failure: Codable, Hashable, Sendable {
        /// Stable.
        package var code: String
        /// The owner of the failure.
        package var owner: ReelFailure.Owner
        /// What the code is about, by name.
        package var facts: JSONValue
        /// What went wrong and what to do, which may change with every release.
        package var message: String
        /// The exit code.
        package var exit: Int32
    }

    /// A failure in a program's own words.
    ///
    /// - Parameters:
    ///   - message: what went wrong and what to do, as the program tells its users.
    ///   - job: the job that failed, if there is one.
    ///   - source: the video that it is about, if there are several.
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
    /// The job's id.
    package var id: String
    /// The job's state.
    package var state: JobState

    /// A job, and the state in which submitting it found it.
    package init(id: JobID, state: JobState) { (self.id, self.state) = (id.text, state) }
}
