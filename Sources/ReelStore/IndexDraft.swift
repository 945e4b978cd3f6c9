package import ReelCore

/// Room for an index while an engine writes it. An index that is not kept is removed with the last reference to the
/// draft.
package final class IndexDraft: Sendable {
    /// The place at which the engine writes.
    package let locator: Locator
    /// The folder of that place, which has nothing else in it.
    package let folder: Locator
    /// An object that the store keeps as long as the draft, so that the room stays.
    private let room: any Sendable

    /// A draft that a store has made room for.
    package init(at locator: Locator, in folder: Locator, room: any Sendable) {
        self.locator = locator
        self.folder = folder
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
