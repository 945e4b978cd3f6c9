internal import Synchronization

/// Ends the work on a pass at once. It may be fired before there is anything to end: the work ends as soon as it is
/// known then.
package final class KillSwitch: Sendable {
    private struct State {
        var isFired = false
        var action: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())

    package init() {}

    /// Says how the work is ended.
    package func arm(_ action: @escaping @Sendable () -> Void) {
        let isLate = state.withLock { state in
            state.action = action
            return state.isFired
        }
        if isLate { action() }
    }

    /// Ends the work. Firing again repeats the action.
    package func fire() {
        let action = state.withLock { state in
            state.isFired = true
            return state.action
        }
        action?()
    }
}
