package import ReelCore

/// Locks that all processes of a farm see, for a store that cannot keep writers apart by itself.
package protocol StoreLocks: Sendable {
    /// Takes a lock if no other token has it. Its holder may take it again, to have it for longer. Throws `.unreachable`.
    func take(_ name: String, token: String, for lease: Duration) async throws(ReelFailure) -> Bool

    /// Lets a lock go, if the token still has it.
    func release(_ name: String, token: String) async
}
