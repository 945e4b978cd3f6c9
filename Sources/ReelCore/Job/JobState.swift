/// A job's id: a hash of its sources' fingerprints and of the options that change the output, in hexadecimal.
package struct JobID: Hashable, Codable, Sendable, CustomStringConvertible {
    /// The hexadecimal digits.
    package var text: String

    /// Takes any text as an id.
    package init(_ text: String) { self.text = text }

    /// The hexadecimal digits.
    package var description: String { text }

    /// Reads an id that is encoded as a string.
    package init(from decoder: any Decoder) throws { text = try String(from: decoder) }
    /// Encodes the id as a string.
    package func encode(to encoder: any Encoder) throws { try text.encode(to: encoder) }
}

/// The state of a job: probing (until its plan's passes are published) → running → assembling → done | failed |
/// cancelled.
package enum JobState: String, Codable, CaseIterable, Sendable {
    case probing, running, assembling, done, failed, cancelled

    /// Whether the job has ended.
    package var isTerminal: Bool { self == .done || self == .failed || self == .cancelled }
}

/// The class of a failed attempt, which decides what the board does next (see fail.lua).
package enum FailureCause: String, Codable, CaseIterable, Sendable {
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
