/// Where an engine writes a segment that it is to make: its bytes first, and its record when they are whole.
package struct SegmentPlace: Hashable, Codable, Sendable {
    /// The segment's name, which its record keeps.
    package var name: SegmentName
    /// Of the segment's bytes.
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
    /// The segment's record.
    package var record: SegmentRecord
    /// Of the segment's bytes.
    package var data: Locator

    package init(record: SegmentRecord, data: Locator) {
        self.record = record
        self.data = data
    }
}
