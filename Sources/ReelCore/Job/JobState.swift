/// A job's id: a hash of its sources' fingerprints and of the options that change the output, in hexadecimal.
package struct JobID: Hashable, Sendable, TextCoded {
    package var text: String

    package init(_ text: String) { self.text = text }
    package init(stored text: String) { self.text = text }

    package var description: String { text }
}

/// The state of a job: probing (until its plan's passes are published) → running → assembling → done | failed |
/// cancelled.
package enum JobState: String, Codable, CaseIterable, Sendable {
    case probing, running, assembling, done, failed, cancelled

    package var isTerminal: Bool { self == .done || self == .failed || self == .cancelled }
}

/// The identity of a store: 16 hexadecimal digits, chosen at random when it was made.
package struct StoreID: Hashable, Sendable, TextCoded {
    package let text: String

    package init(_ text: String) { self.text = text }
    package init(stored text: String) { self.text = text }

    package var description: String { text }
}
