package import ReelCore

/// A source of a job: its file and its index.
package struct IndexedSource: Sendable {
    /// Of the file.
    package let locator: Locator
    /// The file's index.
    package let index: SourceIndex

    package init(_ locator: Locator, index: SourceIndex) {
        self.locator = locator
        self.index = index
    }
}
