internal import ReelCore
internal import Synchronization

/// What a worker says of itself with its beats: why it does less than it could.
final class Condition: Sendable {
    private struct State {
        var full: [String]?
        var slotsOut = 0
    }

    private let state = Mutex(State())

    /// The folders of which one's disk is full, nil when there is room again.
    func setFull(_ folders: [String]?) { state.withLock { $0.full = folders } }

    /// One more slot claims nothing for good.
    func slotLeaves() { state.withLock { $0.slotsOut += 1 } }

    var slotsOut: Int { state.withLock(\.slotsOut) }

    var notes: [Diagnostic] {
        state.withLock { state in
            let full = state.full.map { Diagnostic.workerDiskFull(folders: $0) }
            let out =
                state.slotsOut > 0
                ? Diagnostic.workerSlotsOut(slots: state.slotsOut, jobs: SlotHealth.jobsInARow) : nil
            return [full, out].compactMap(\.self)
        }
    }
}
