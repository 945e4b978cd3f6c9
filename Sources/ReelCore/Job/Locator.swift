/// The place of bytes, in the form that their store chooses. A store makes locators and an engine opens them; no code
/// between reads or changes one. An engine gets locators only of the bytes that its request needs.
package enum Locator: Hashable, Sendable, CustomStringConvertible, Codable {
    case file(String)

    /// The name of the bytes in messages.
    package var name: String {
        switch self {
        case .file(let path): path
        }
    }

    package var description: String { name }

    // Encoded as an object whose one key is the kind: `{"file":"/store/jobs/…"}`.
    private enum CodingKeys: String, CodingKey {
        case file
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self = .file(try container.decode(String.self, forKey: .file))
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        switch self {
        case .file(let path): try container.encode(path, forKey: .file)
        }
    }
}

/// The place where an engine writes a new segment: first its bytes, then, when they are whole, its record.
package struct SegmentPlace: Hashable, Codable, Sendable {
    package var name: SegmentName
    package var data: Locator
    /// The place of its `SegmentRecord`, as JSON.
    package var record: Locator

    package init(name: SegmentName, data: Locator, record: Locator) {
        self.name = name
        self.data = data
        self.record = record
    }
}

/// A segment that is whole, and where an engine reads it.
package struct StoredSegment: Hashable, Codable, Sendable {
    package var record: SegmentRecord
    package var data: Locator

    package init(record: SegmentRecord, data: Locator) {
        self.record = record
        self.data = data
    }
}
