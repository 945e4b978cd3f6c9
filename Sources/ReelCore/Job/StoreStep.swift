/// The operation in the store that the operating system refused. Raw values are stored.
package enum StoreStep: String, Codable, CaseIterable, Sendable {
    /// Making the store's own folders, or writing to them.
    case open = "open"
    case makeFolder = "make-folder"
    case read = "read"
    case write = "write"
    case lock = "lock"
    /// Moving segments from one job's folder to another's.
    /// Copying the source into the store.
    case copySource = "copy-source"
    case remove = "remove"
}
