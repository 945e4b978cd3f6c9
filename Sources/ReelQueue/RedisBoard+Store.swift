package import ReelCore

extension RedisBoard {
    /// The store that the board belongs to. A board without a store gets `id`, which is then the answer; if `id` is
    /// nil, too, so is the answer.
    ///
    /// - Throws: `.boardOfOtherVersion`, or that Redis cannot be reached.
    package func store(expecting id: StoreID?) throws(ReelFailure) -> StoreID? {
        try call(Command.Adopt(store: id))
    }
}
