internal import Synchronization

/// Wakes the tasks that wait for it.
///
/// A task reads `count`, looks whether there is something to do, and waits for a signal after that count. It cannot miss
/// a signal that is sent while it looks.
package final class AsyncSignal: Sendable {
    private struct State {
        var count = 0
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    package init() {}

    /// How often the signal was sent so far.
    package var count: Int { state.withLock(\.count) }

    /// Returns when the signal has been sent more often than `count`: at once if it has been by now.
    package func wait(after count: Int) async {
        await withCheckedContinuation { continuation in
            let isSent = state.withLock { state in
                if state.count > count { return true }
                state.waiting.append(continuation)
                return false
            }
            if isSent { continuation.resume() }
        }
    }

    /// Wakes all tasks that wait.
    package func send() {
        let woken = state.withLock { state in
            defer { state.waiting = [] }
            state.count += 1
            return state.waiting
        }
        for continuation in woken { continuation.resume() }
    }
}
