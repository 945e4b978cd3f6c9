package import ReelCore

/// Locks that all processes of a farm see, for a store that cannot keep writers apart by itself.
package protocol StoreLocks: Sendable {
    /// Takes a lock if no token has it. It lapses after the lease. Throws `.unreachable`.
    func take(_ name: String, token: String, for lease: Duration) async throws(ReelFailure) -> Bool

    /// Keeps a lock that the token has for longer; false if it has lapsed: another token may have had it since. Throws
    /// `.unreachable`.
    func keep(_ name: String, token: String, for lease: Duration) async throws(ReelFailure) -> Bool

    /// Lets a lock go, if the token still has it.
    func release(_ name: String, token: String) async
}
