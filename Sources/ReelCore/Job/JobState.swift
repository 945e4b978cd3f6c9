/// A job's identity: a hash of its sources' fingerprints and of its options, in hexadecimal.
public struct JobID: Hashable, Codable, Sendable, CustomStringConvertible {
    public var text: String

    public init(_ text: String) { self.text = text }

    public var description: String { text }

    public init(from decoder: any Decoder) throws { text = try String(from: decoder) }
    public func encode(to encoder: any Encoder) throws { try text.encode(to: encoder) }
}

/// probing (until the passes of a plan are there) → running → assembling → done | failed | cancelled.
public enum JobState: String, Codable, CaseIterable, Sendable {
    case probing, running, assembling, done, failed, cancelled

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
