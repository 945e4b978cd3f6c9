package import ReelCore
package import ReelQueue
package import ReelStore

extension JobStore {
    /// Makes sure that board and store belong together, before a program changes either. A board that belongs to no store
    /// takes this one; an empty place becomes the store of a board that has none.
    ///
    /// Throws `.storeDiffers` if the board belongs to another store, and `.storeEmpty` if it belongs to one and this one
    /// is empty.
    package func join(_ board: any Board) async throws(ReelFailure) {
        let own = try await identity()
        let known = try await board.store(expecting: own)
        switch (own, known) {
        case (let own?, let known?):
            guard own == known else { throw ReelFailure(.storeDiffers(path: name, store: own, board: known)) }
        case (nil, let known?):
            // Another process may have made a store of the place meanwhile.
            guard try await identity() == known else { throw ReelFailure(.storeEmpty(path: name, board: known)) }
        case (_, nil):
            _ = try await establish()
            try await join(board)
        }
    }
}
