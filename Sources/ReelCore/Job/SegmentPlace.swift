/// Where an engine writes a segment that it is to make: its bytes first, and its record when they are whole.
public struct SegmentPlace: Hashable, Codable, Sendable {
    /// The segment's name, which its record keeps.
    public var name: SegmentName
    /// Of the segment's bytes.
    public var data: Locator
    /// Of its `SegmentRecord`, as JSON.
    public var record: Locator

    package init(name: SegmentName, data: Locator, record: Locator) {
        self.name = name
        self.data = data
        self.record = record
    }

    package enum CodingKeys: String, CodingKey {
        case name, data, record
    }
}

/// A segment that is whole, and where an engine reads it.
public struct StoredSegment: Hashable, Codable, Sendable {
    /// The segment's record.
    public var record: SegmentRecord
    /// Of the segment's bytes.
    public var data: Locator

    package init(record: SegmentRecord, data: Locator) {
        self.record = record
        self.data = data
    }

    package enum CodingKeys: String, CodingKey {
        case record, data
    }
}
