internal import ReelStore

/// Locks of one process.
package actor MemoryLocks: StoreLocks {
    private var holders: [String: String] = [:]

    package init() {}

    package func take(_ name: String, token: String, for lease: Duration) -> Bool {
        guard holders[name, default: token] == token else { return false }
        holders[name] = token
        return true
    }

    package func release(_ name: String, token: String) { if holders[name] == token { holders[name] = nil } }
}
