/// Where bytes lie, in the words of the store that has them. A store makes locators, and an engine opens them: nothing
/// in between reads them or makes one from another. An engine gets locators of the bytes that its request needs, and no
/// more.
package enum Locator: Hashable, Sendable {
    case file(String)

    /// What messages call the bytes.
    package var name: String {
        switch self {
        case .file(let path): path
        }
    }
}

extension Locator: CustomStringConvertible {
    package var description: String { name }
}

/// Encoded as an object whose one key is the kind: `{"file":"/store/jobs/…"}`.
extension Locator: Codable {
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

/// Where an engine writes a segment that it is to make: its bytes first, and its record when they are whole.
package struct SegmentPlace: Hashable, Codable, Sendable {
    package var name: SegmentName
    package var data: Locator
    /// Of its `SegmentRecord`, as JSON.
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
