/// A job's id: a hash of its sources' fingerprints and of the options that change the output, in hexadecimal.
package struct JobID: Hashable, Codable, Sendable, CustomStringConvertible {
    package var text: String

    package init(_ text: String) { self.text = text }

    package var description: String { text }

    package init(from decoder: any Decoder) throws { text = try String(from: decoder) }
    package func encode(to encoder: any Encoder) throws { try text.encode(to: encoder) }
}

/// The state of a job: probing (until its plan's passes are published) → running → assembling → done | failed |
/// cancelled.
package enum JobState: String, Codable, CaseIterable, Sendable {
    case probing, running, assembling, done, failed, cancelled

    package var isTerminal: Bool { self == .done || self == .failed || self == .cancelled }
}

/// The identity of a store: 16 hexadecimal digits, chosen at random when it was made.
package struct StoreID: Hashable, Sendable, CustomStringConvertible {
    package let text: String

    package init(_ text: String) { self.text = text }

    package var description: String { text }
}

extension StoreID: Codable {
    package init(from decoder: any Decoder) throws { text = try decoder.singleValueContainer().decode(String.self) }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}
