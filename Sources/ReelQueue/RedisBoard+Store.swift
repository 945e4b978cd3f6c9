public import ReelCore

extension RedisBoard {
    /// The store that the board belongs to. One that belongs to none is given `id`, which is the answer then; without an
    /// id it is left as it is, and the answer is nil.
    ///
    /// Throws `.boardOfOtherVersion`, and what reaching Redis throws.
    public func store(expecting id: StoreID?) throws(ReelFailure) -> StoreID? {
        try call(Command.Adopt(store: id))
    }
}
