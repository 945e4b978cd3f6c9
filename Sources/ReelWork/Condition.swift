internal import ReelCore
internal import ReelQueue
internal import Synchronization

/// What a worker says of itself with its beats: why it does less than it could.
final class Condition: Sendable {
    private struct State {
        var full: [String]?
        var slotsOut = 0
        var storeFailure: ReelFailure?
        var clockOffset = 0
    }

    private let state = Mutex(State())

    /// The folders of which one's disk is full, nil when there is room again.
    func setFull(_ folders: [String]?) { state.withLock { $0.full = folders } }

    /// One more slot claims nothing.
    func slotLeaves() { state.withLock { $0.slotsOut += 1 } }

    /// One that claimed nothing does again.
    func slotReturns() { state.withLock { $0.slotsOut -= 1 } }

    /// Why the store cannot be written, nil when it can be again. Whether that is news.
    func setStoreFailure(_ failure: ReelFailure?) -> Bool {
        state.withLock { state in
            defer { state.storeFailure = failure }
            return state.storeFailure != failure
        }
    }

    func setClocks(_ clocks: Clocks) {
        // A clock may be beyond every year.
        let offset = Int(exactly: (clocks.host - clocks.board).rounded()) ?? 0
        state.withLock { $0.clockOffset = offset.magnitude > 60 ? offset : 0 }
    }

    var slotsOut: Int { state.withLock(\.slotsOut) }

    var notes: [Diagnostic] {
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
