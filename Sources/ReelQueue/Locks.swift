package import ReelCore

/// Locks by which processes take turns at a store that has none of its own.
extension RedisBoard {
    /// Takes a lock if no other token has it. Its holder may take it again, to have it for longer. Throws `.unreachable`.
    package func lock(_ name: String, token: String, for lease: Duration) throws(ReelFailure) -> Bool {
        try transition(["lock", name, token, String(lease.milliseconds)]).flag()
    }

    /// Lets a lock go, if the token still has it. Throws `.unreachable`.
    package func unlock(_ name: String, token: String) throws(ReelFailure) {
        try transition(["unlock", name, token])
    }
}
