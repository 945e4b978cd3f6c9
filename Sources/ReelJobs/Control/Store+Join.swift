public import ReelCore
public import ReelQueue
public import ReelStore

extension Store {
    /// Makes sure that board and store belong together, before anything is done with both. A board that belongs to no
    /// store takes this one; an empty folder becomes the store of a board that has none.
    ///
    /// Throws `.storeDiffers` where the board belongs to another store, `.storeEmpty` where it belongs to one and this
    /// folder is empty.
    public func join(_ board: any Board) async throws(ReelFailure) {
        let known = try await board.store(expecting: id)
        switch (id, known) {
        case (let id?, let known?):
            guard id == known else { throw ReelFailure(.storeDiffers(path: root, store: id, board: known)) }
        case (nil, let known?):
            // Another may have made a store of it meanwhile.
            guard try Store(root: root).id == known else {
                throw ReelFailure(.storeEmpty(path: root, board: known))
            }
        case (_, nil):
            let made = try Store.make(root: root)
            if made.id != nil { try await made.join(board) }
        }
    }
}
