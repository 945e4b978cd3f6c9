public import ReelCore

/// Room for an index while an engine writes it. What is not kept is gone with the last reference to the draft.
public final class IndexDraft: Sendable {
    /// Where the engine writes.
    public let locator: Locator
    /// What the store needs to keep as long as the draft.
    private let room: any Sendable

    /// A draft that a store has made room for.
    package init(at locator: Locator, room: any Sendable) {
        self.locator = locator
        self.room = room
    }
}

extension Locator {
    /// The path that a folder's locator names.
    var path: String {
        switch self {
        case .file(let path): path
        }
    }
}
