/// Why something did not work. What that means for the command line, for the board and for whoever caused it follows
/// from the reason; words for it are made where it is shown (`ReelWords`).
public struct ReelFailure: Error, Hashable, Codable, Sendable {
    /// The exit code of the command line that this becomes.
    public enum Kind: String, Codable, Sendable {
        case job, usage, input, unreachable, output, interrupted

        /// 1 job failed, 2 usage, 3 bad input, 4 Redis or store unreachable, 5 output cannot be written, 130 interrupted.
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

    /// Who has to do something about it.
    public enum Owner: String, Codable, CaseIterable, Sendable {
        /// The file that is read.
        case source
        /// What was asked for.
        case request
        /// What was made of it: plan, segments, output.
        case job
        /// The machine: a disk, a folder, a library that is missing.
        case host
        /// The process: an engine or a worker that died.
        case worker
        /// Nobody: it passes.
        case passing
    }

    public var reason: FailureReason

    public init(_ reason: FailureReason) { self.reason = reason }

    public var kind: Kind { reason.nature.kind }
    /// What follows from it on the board.
    public var cause: FailureCause { reason.nature.cause }
    public var owner: Owner { reason.nature.owner }

    /// As its reason alone.
    public init(from decoder: any Decoder) throws { reason = try FailureReason(from: decoder) }
    public func encode(to encoder: any Encoder) throws { try reason.encode(to: encoder) }

    /// That of its kind.
    public var exitCode: Int32 { kind.exitCode }
}

/// What follows from a reason.
public struct FailureNature: Hashable, Sendable {
    public var owner: ReelFailure.Owner
    public var kind: ReelFailure.Kind
    public var cause: FailureCause

    init(_ owner: ReelFailure.Owner, _ kind: ReelFailure.Kind, _ cause: FailureCause = .permanent) {
        self.owner = owner
        self.kind = kind
        self.cause = cause
    }
}
