public import ReelCore

/// A source of a job: its file and its index.
public struct IndexedSource: Sendable {
    /// Of the file.
    public let locator: Locator
    /// The file's index.
    public let index: SourceIndex

    package init(_ locator: Locator, index: SourceIndex) {
        self.locator = locator
        self.index = index
    }
}
