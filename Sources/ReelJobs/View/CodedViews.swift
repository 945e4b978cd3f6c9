public import ReelCore
internal import ReelWords

/// What a person should know of a job, as `--json` shows it. Documented in docs/json.md and docs/diagnostics.md.
public struct DiagnosticView: Codable, Hashable, Sendable {
    public var code: String
    /// What is told by the code, by name.
    public var facts: JSONValue
    /// The same in words, which may change with every release.
    public var message: String

    public init(_ diagnostic: Diagnostic) {
        (code, facts) = (diagnostic.code, diagnostic.facts)
        message = diagnostic.words
    }
}

/// Why something failed, as `--json` shows it. Documented in docs/json.md and docs/diagnostics.md.
public struct ReasonView: Codable, Hashable, Sendable {
    public var code: String
    public var owner: ReelFailure.Owner
    public var facts: JSONValue
    /// The same in words, which may change with every release.
    public var message: String

    public init(_ failure: ReelFailure) {
        (code, facts) = (failure.reason.code, failure.reason.facts)
        owner = failure.owner
        message = failure.words
    }
}

/// A command's failure as `--json` prints it: `{"error": {…}}`, with the job's id where there is one.
public struct ErrorView: Codable, Hashable, Sendable {
    public var id: String?
    public var error: Failure

    public struct Failure: Codable, Hashable, Sendable {
        public var code: String
        public var owner: ReelFailure.Owner
        public var facts: JSONValue
        public var message: String
        /// The exit code.
        public var exit: Int32
    }

    /// - Parameter message: what went wrong and what to do, as people are told it.
    public init(_ failure: ReelFailure, message: String, job: JobID?) {
        id = job?.text
        error = Failure(
            code: failure.reason.code, owner: failure.owner, facts: failure.reason.facts, message: message,
            exit: failure.exitCode)
    }
}
