package import ReelCore
package import ReelQueue
package import ReelStore

extension JobStore {
    /// Makes sure that board and store belong together, before a program changes either. A board that belongs to no store
    /// takes this one.
    ///
    /// Throws `.storeDiffers` if the board belongs to another store, `.storeEmpty` if it belongs to one and this place is
    /// empty, and `.storeMissing` if the place is empty and the board has no store: a file system may not be mounted there.
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
            guard try await identity() != nil else { throw ReelFailure(.storeMissing(path: name)) }
            try await join(board)
        }
    }
}
