package import ReelCore

/// Locks by which processes take turns at a store that has none of its own.
extension RedisBoard {
    /// Takes a lock if no token has it. Throws `.unreachable`.
    ///
    /// - Parameter again: the token has it, and keeps it for longer; false if it has lapsed meanwhile.
    package func lock(
        _ name: String, token: String, for lease: Duration, again: Bool
    ) throws(ReelFailure) -> Bool {
        try transition(["lock", name, token, String(lease.milliseconds), again ? "1" : ""]).flag()
    }

    /// Lets a lock go, if the token still has it. Throws `.unreachable`.
    package func unlock(_ name: String, token: String) throws(ReelFailure) {
        try transition(["unlock", name, token])
    }
}
