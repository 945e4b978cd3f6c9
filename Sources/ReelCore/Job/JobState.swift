/// A job's identity: a hash of its source, its options and its encoder, in hexadecimal.
public struct JobID: Hashable, Codable, Sendable, CustomStringConvertible {
    public var text: String

    public init(_ text: String) { self.text = text }

    public var description: String { text }

    public init(from decoder: any Decoder) throws { text = try String(from: decoder) }
    public func encode(to encoder: any Encoder) throws { try text.encode(to: encoder) }
}

/// publishing → running → assembling → done | failed | cancelled.
public enum JobState: String, Codable, CaseIterable, Sendable {
    case publishing, running, assembling, done, failed, cancelled

    public var isTerminal: Bool { self == .done || self == .failed || self == .cancelled }
}

/// Why an attempt at a pass failed: each has its own consequence on the board (QUEUE: fail).
public enum FailureCause: String, Codable, CaseIterable, Sendable {
    /// May go well another time.
    case transient
    /// The engine died of a signal or hung.
    case crash
    /// The worker vanished: its lease lapsed.
    case lost
    /// The pass needs more memory than its slot has.
    case limit
    /// This host cannot do this job: source or store out of reach, another encoder.
    case incompatible
    /// The disk is full.
    case noSpace = "no-space"
    /// No attempt will ever succeed.
    case permanent
}

/// Why something did not work, in words for people: what, where, what to do.
public struct ReelFailure: Error, Hashable, Codable, Sendable, CustomStringConvertible {
    /// The exit code of the command line that this becomes.
    public enum Kind: String, Codable, Sendable {
        case job, usage, input, unreachable, output, interrupted
    }

    public var kind: Kind
    public var cause: FailureCause
    public var message: String

    public init(_ kind: Kind, _ message: String, cause: FailureCause = .permanent) {
        self.kind = kind
        self.cause = cause
        self.message = message
    }

    public var description: String { message }

    /// 1 job failed, 2 usage, 3 bad input, 4 Redis or store unreachable, 5 output cannot be written, 130 interrupted.
    public var exitCode: Int32 {
        switch kind {
        case .job: 1
        case .usage: 2
        case .input: 3
        case .unreachable: 4
        case .output: 5
        case .interrupted: 130
        }
    }
}
