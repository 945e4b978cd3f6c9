internal import Synchronization

/// How a worker ends: it claims no more, lets passes end within the grace, then hands the rest back.
final class Drain: Sendable {
    private let grace: Duration
    private let holdings: Holdings
    private let bell: Bell
    private let begun = Atomic(false)

    init(grace: Duration, holdings: Holdings, bell: Bell) {
        self.grace = grace
        self.holdings = holdings
        self.bell = bell
    }

    /// No more passes are to be claimed.
    var isOn: Bool { begun.load(ordering: .acquiring) }

    /// Waits for so long; false at once where the worker is told to end.
    func stays(off duration: Duration) async -> Bool {
        let end = ContinuousClock.now + duration
        while !isOn, ContinuousClock.now < end {
            let rings = bell.rings
            let alarm = Task { [bell] in
                guard (try? await Task.sleep(until: end)) != nil else { return }
                bell.ring()
            }
            await bell.wait(since: rings)
            alarm.cancel()
        }
        return !isOn
    }

    func begin() {
        guard !begun.exchange(true, ordering: .acquiringAndReleasing) else { return }
        bell.ring()
        Task {
            try? await Task.sleep(for: grace)
            holdings.judgeAll(.drained)
        }
    }

    /// Ends the passes that run now as well.
    func now() {
        begun.store(true, ordering: .releasing)
        bell.ring()
        holdings.judgeAll(.drained)
    }
}

/// Wakes the slots that wait for work.
final class Bell: Sendable {
    private struct State {
        var rings = 0
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    /// How often it was rung so far.
    var rings: Int { state.withLock(\.rings) }

    /// Returns at the first ring after the one that `rings` counted last: none can be missed in between.
    func wait(since rings: Int) async {
        await withCheckedContinuation { continuation in
            let rung = state.withLock { state in
                if state.rings > rings { return true }
                state.waiting.append(continuation)
                return false
            }
            if rung { continuation.resume() }
        }
    }

    func ring() {
        let woken = state.withLock { state in
            defer { state.waiting = [] }
            state.rings += 1
            return state.waiting
        }
        for continuation in woken { continuation.resume() }
    }
}
