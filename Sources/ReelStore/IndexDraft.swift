public import ReelCore

/// Room for an index while an engine writes it. What is not kept is gone with the last reference to the draft.
public final class IndexDraft: Sendable {
    private let folder: TemporaryFolder

    init(in store: Store) throws(ReelFailure) { folder = try store.temporaryFolder() }

    var path: String { folder.path + "/index" }

    /// Where the engine writes.
    public var locator: Locator { .file(path) }
}

extension Locator {
    /// The path that a folder's locator names.
    var path: String {
        switch self {
        case .file(let path): path
        }
    }
}
