internal import ReelCore
internal import Synchronization

/// What a worker says of itself with its beats: why it does less than it could.
final class Condition: Sendable {
    private struct State {
        var full: String?
        var slotsOut = 0
    }

    private let state = Mutex(State())

    /// The disk that is full, nil when there is room again.
    func setFull(_ disk: String?) { state.withLock { $0.full = disk } }

    /// One more slot claims nothing for good.
    func slotLeaves() { state.withLock { $0.slotsOut += 1 } }

    var slotsOut: Int { state.withLock(\.slotsOut) }

    var notes: [String] {
        state.withLock { state in
            var notes: [String] = []
            if let full = state.full { notes.append("claims nothing: the disk of \(full) is full") }
            if state.slotsOut > 0 {
                let slots = state.slotsOut == 1 ? "1 slot" : "\(state.slotsOut) slots"
                notes.append(
                    "\(slots) out of work: engines crashed there in \(SlotHealth.jobsInARow) jobs in a row; restart "
                        + "the worker when the machine is sound")
            }
            return notes
        }
    }
}
