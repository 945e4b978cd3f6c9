/// A job's id: a hash of its sources' fingerprints and of the options that change the output, in hexadecimal.
public struct JobID: Hashable, Codable, Sendable, CustomStringConvertible {
    /// The hexadecimal digits.
    public var text: String

    /// Takes any text as an id.
    public init(_ text: String) { self.text = text }

    /// The hexadecimal digits.
    public var description: String { text }

    /// Reads an id that is encoded as a string.
    public init(from decoder: any Decoder) throws { text = try String(from: decoder) }
    /// Encodes the id as a string.
    public func encode(to encoder: any Encoder) throws { try text.encode(to: encoder) }
}

/// The state of a job: probing (until its plan's passes are published) → running → assembling → done | failed |
/// cancelled.
public enum JobState: String, Codable, CaseIterable, Sendable {
    case probing, running, assembling, done, failed, cancelled

    /// Whether the job has ended.
    public var isTerminal: Bool { self == .done || self == .failed || self == .cancelled }
}

/// The class of a failed attempt, which decides what the board does next (see fail.lua).
public enum FailureCause: String, Codable, CaseIterable, Sendable {
    /// It may work another time.
    case transient
    /// The engine was killed by a signal, or hung.
    case crash
    /// The worker's lease lapsed.
    case lost
    /// The pass needs more memory than its slot has.
    case limit
    /// This host cannot do this job: its source or store is out of reach, or its encoder is another build.
    case incompatible
    /// The disk is full.
    case noSpace = "no-space"
    /// No attempt will ever succeed.
    case permanent
}
