package import ReelCore
package import ReelQueue
internal import Synchronization

/// What keeps a worker from working as much as it could. The worker tells it with its beats, for people to read.
package final class WorkerNotes: Sendable {
    private struct State {
        var full: [String]?
        var slotsOut = 0
        var storeFailure: ReelFailure?
        var clockOffset = 0
    }

    private let state = Mutex(State())

    package init() {}

    /// Notes the folders of which one has a full disk; nil when there is room again.
    package func setFull(_ folders: [String]?) { state.withLock { $0.full = folders } }

    /// Notes that one more slot claims nothing.
    package func slotLeaves() { state.withLock { $0.slotsOut += 1 } }

    /// Notes that a slot that claimed nothing claims again.
    package func slotReturns() { state.withLock { $0.slotsOut -= 1 } }

    /// Notes why the store cannot be written; nil when it can be again. Returns whether that is a change.
    package func setStoreFailure(_ failure: ReelFailure?) -> Bool {
        state.withLock { state in
            defer { state.storeFailure = failure }
            return state.storeFailure != failure
        }
    }

    /// Notes by how much the two clocks differ, if that is more than a minute.
    package func setClocks(_ clocks: Clocks) {
        // A clock that is set wrong may be beyond what an integer holds.
        let offset = Int(exactly: (clocks.host - clocks.board).rounded()) ?? 0
        state.withLock { $0.clockOffset = offset.magnitude > 60 ? offset : 0 }
    }

    /// Whether a disk was full, and no room was seen since.
    package var isFull: Bool { state.withLock { $0.full != nil } }

    /// Whether the store could not be written when the worker last tried.
    package var hasStoreFailure: Bool { state.withLock { $0.storeFailure != nil } }

    /// How many slots claim nothing.
    package var slotsOut: Int { state.withLock(\.slotsOut) }

    /// The notes as diagnostics.
    package var diagnostics: [Diagnostic] {
        state.withLock { state in
            let full = state.full.map { Diagnostic.workerDiskFull(folders: $0) }
            let out =
                state.slotsOut > 0
                ? Diagnostic.workerSlotsOut(slots: state.slotsOut, jobs: SlotHealth.jobsInARow) : nil
            let store = state.storeFailure.map { Diagnostic.workerStoreUnusable(last: $0) }
            let clock = state.clockOffset == 0 ? nil : Diagnostic.workerClockDiffers(seconds: state.clockOffset)
            return [full, out, store, clock].compactMap(\.self)
        }
    }
}
