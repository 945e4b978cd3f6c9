/// An error: the reason why something did not work. The exit code, the consequence on the board and the owner follow
/// from the reason; `ReelWords` makes the words when it is shown.
public struct ReelFailure: Error, Hashable, Codable, Sendable {
    /// The class of failure that decides the command line's exit code.
    public enum Kind: String, Codable, Sendable {
        case job, usage, input, unreachable, output, interrupted

        /// 1 job failed, 2 usage, 3 bad input, 4 Redis or store unreachable, 5 output cannot be written,
        /// 130 interrupted.
        public var exitCode: Int32 {
            switch self {
            case .job: 1
            case .usage: 2
            case .input: 3
            case .unreachable: 4
            case .output: 5
            case .interrupted: 130
            }
        }
    }

    /// The part of the system, or the user, that has to act on a failure.
    public enum Owner: String, Codable, CaseIterable, Sendable {
        /// The user: the source file is the cause.
        case source
        /// The user: the request is the cause.
        case request
        /// The job: its plan, segments or output.
        case job
        /// The host's administrator: a disk, a folder, a missing library.
        case host
        /// The worker: an engine or a worker that died.
        case worker
        /// No action is needed: it may work the next time.
        case passing
    }

    /// The code with its facts.
    public var reason: FailureReason

    /// A failure for this reason.
    public init(_ reason: FailureReason) { self.reason = reason }

    /// The class that decides the exit code.
    public var kind: Kind { reason.nature.kind }
    /// The failure cause, which decides what the board does next.
    public var cause: FailureCause { reason.nature.cause }
    /// The owner, which has to act on the failure.
    public var owner: Owner { reason.nature.owner }

    /// Reads a failure that is encoded as its reason alone.
    public init(from decoder: any Decoder) throws { reason = try FailureReason(from: decoder) }
    /// Encodes the reason alone.
    public func encode(to encoder: any Encoder) throws { try reason.encode(to: encoder) }

    /// The exit code of its kind.
    public var exitCode: Int32 { kind.exitCode }
}

/// The consequences of a reason.
public struct FailureNature: Hashable, Sendable {
    /// The owner of the failure.
    public var owner: ReelFailure.Owner
    /// The class that decides the exit code.
    public var kind: ReelFailure.Kind
    /// The failure cause, which decides what the board does next.
    public var cause: FailureCause

    init(_ owner: ReelFailure.Owner, _ kind: ReelFailure.Kind, _ cause: FailureCause = .permanent) {
        self.owner = owner
        self.kind = kind
        self.cause = cause
    }
}
