package import ReelCore
package import ReelQueue
package import ReelStore

extension Store {
    /// Makes sure that board and store belong together, before a program changes either. A board that belongs to no store
    /// takes this one; an empty folder becomes the store of a board that has none.
    ///
    /// Throws `.storeDiffers` if the board belongs to another store, and `.storeEmpty` if it belongs to one and this folder
    /// is empty.
    package func join(_ board: any Board) async throws(ReelFailure) {
        let known = try await board.store(expecting: id)
        switch (id, known) {
        case (let id?, let known?):
            guard id == known else { throw ReelFailure(.storeDiffers(path: root, store: id, board: known)) }
        case (nil, let known?):
            // Another process may have made a store of the folder meanwhile.
            guard try Store(root: root).id == known else {
                throw ReelFailure(.storeEmpty(path: root, board: known))
            }
        case (_, nil):
            let made = try Store.make(root: root)
            if made.id != nil { try await made.join(board) }
        }
    }
}
