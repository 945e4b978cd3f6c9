internal import Foundation

/// Syncs folders for several threads at once: threads that ask while a sync of the same folder runs share the next one.
final class FolderSync: Sendable {
    static let shared = FolderSync()

    private struct State {
        /// How many syncs have begun, and the number of the last one that ended well.
        var (begun, done) = (0, 0)
        var isRunning = false
    }

    private let condition = NSCondition()
    /// By the folder's path. `nonisolated(unsafe)` because a thread touches it only while it holds the condition's lock.
    nonisolated(unsafe) private var states: [String: State] = [:]

    private init() {}

    /// Makes the names in a folder durable that are there when this is called, as `Files.syncFolder` does. Blocks.
    func sync(_ folder: String) throws(SystemCode) {
        condition.lock()
        defer { condition.unlock() }
        // A sync that runs by now may have passed over the newest names.
        let wanted = states[folder, default: State()].begun + 1
        while states[folder, default: State()].done < wanted {
            if states[folder, default: State()].isRunning {
                condition.wait()
            } else {
                try syncNow(folder)
            }
        }
    }

    /// Syncs while no other thread does; the lock is free meanwhile.
    private func syncNow(_ folder: String) throws(SystemCode) {
        states[folder, default: State()].begun += 1
        states[folder, default: State()].isRunning = true
        let number = states[folder, default: State()].begun
        condition.unlock()
        let outcome = Result { () throws(SystemCode) in try Files.syncFolder(folder) }
        condition.lock()
        states[folder, default: State()].isRunning = false
        if case .success = outcome { states[folder, default: State()].done = number }
        // After a failure, each of them tries for itself.
        condition.broadcast()
        try outcome.get()
    }
}
