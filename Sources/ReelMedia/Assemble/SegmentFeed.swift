internal import Dispatch
package import ReelCore
internal import Synchronization

/// Brings segments to an assembly as they become known: one thread adds them, another takes them.
package final class SegmentFeed: Sendable {
    private let segments = Mutex<[StoredSegment]>([])
    private let arrived = DispatchSemaphore(value: 0)

    /// A feed that has brought nothing.
    package init() {}

    /// Adds segments, which an assembly that waits gets at once.
    package func add(_ more: [StoredSegment]) {
        segments.withLock { $0 += more }
        arrived.signal()
    }

    /// Forgets the segments that have not been taken: they were for an assembly that has ended.
    package func clear() {
        segments.withLock { $0 = [] }
    }

    /// The segments added since the last call. Waits for one if there is none, and returns none after the time.
    func next(within time: DispatchTimeInterval) -> [StoredSegment] {
        let deadline = DispatchTime.now() + time
        while true {
            let taken = segments.withLock { segments in
                defer { segments = [] }
                return segments
            }
            if !taken.isEmpty || arrived.wait(timeout: deadline) == .timedOut { return taken }
        }
    }
}
