/// An error: the reason why something did not work. The exit code, the consequence on the board and the owner follow
/// from the reason; `ReelWords` makes the words when it is shown.
package struct ReelFailure: Error, Hashable, Codable, Sendable {
    /// The class of failure that decides the command line's exit code.
    package enum Kind: String, Codable, Sendable {
        case job, usage, input, unreachable, output, interrupted

        /// 1 job failed, 2 usage, 3 bad input, 4 Redis or store unreachable, 5 output cannot be written,
        /// 130 interrupted.
        package var exitCode: Int32 {
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
    package enum Owner: String, Codable, CaseIterable, Sendable {
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
    package var reason: FailureReason

    /// A failure for this reason.
    package init(_ reason: FailureReason) { self.reason = reason }

    /// The class that decides the exit code.
    package var kind: Kind { reason.nature.kind }
    /// The failure cause, which decides what the board does next.
    package var cause: FailureCause { reason.nature.cause }
    /// The owner, which has to act on the failure.
    package var owner: Owner { reason.nature.owner }

    /// Reads a failure that is encoded as its reason alone.
    package init(from decoder: any Decoder) throws { reason = try FailureReason(from: decoder) }
    /// Encodes the reason alone.
    package func encode(to encoder: any Encoder) throws { try reason.encode(to: encoder) }

    /// The exit code of its kind.
    package var exitCode: Int32 { kind.exitCode }
}

/// The consequences of a reason.
package struct FailureNature: Hashable, Sendable {
    /// The owner of the failure.
    package var owner: ReelFailure.Owner
    /// The class that decides the exit code.
    package var kind: ReelFailure.Kind
    /// The failure cause, which decides what the board does next.
    package var cause: FailureCause

    init(_ owner: ReelFailure.Owner, _ kind: ReelFailure.Kind, _ cause: FailureCause = .permanent) {
        self.owner = owner
        self.kind = kind
        self.cause = cause
    }
}
