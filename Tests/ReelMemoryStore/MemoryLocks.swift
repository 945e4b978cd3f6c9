internal import ReelStore

/// Locks of one process.
package actor MemoryLocks: StoreLocks {
    private var holders: [String: String] = [:]

    package init() {}

    package func take(_ name: String, token: String, for lease: Duration) -> Bool {
        guard holders[name] == nil else { return false }
        holders[name] = token
        return true
    }

    package func keep(_ name: String, token: String, for lease: Duration) -> Bool { holders[name] == token }

    /// Takes all locks from their holders, as if these had stood still for long.
    package func lapse() { holders = [:] }

    package func release(_ name: String, token: String) { if holders[name] == token { holders[name] = nil } }
}
