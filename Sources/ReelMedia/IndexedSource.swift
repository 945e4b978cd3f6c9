public import ReelCore

/// A source of a job: its file and its index.
public struct IndexedSource: Sendable {
    public let path: String
    public let index: SourceIndex

    public init(path: String, index: SourceIndex) {
        self.path = path
        self.index = index
    }
}
