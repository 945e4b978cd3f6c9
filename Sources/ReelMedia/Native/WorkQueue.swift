internal import Foundation

/// Does pieces of work on threads of its own, in their order if it has one. Threads start with the first work, and end
/// with the queue when nothing is left to do.
///
/// libdispatch would do the same, but it watches its threads through files of /proc, which a confined engine cannot
/// read, and traps.
final class WorkQueue: Sendable {
    private let state: State

    init(threads: Int = 1) { state = State(threads: threads) }

    deinit { state.close() }

    /// Returns at once.
    func add(_ work: @escaping @Sendable () -> Void) { state.add(work) }

    func wait() { state.wait() }

    /// `@unchecked` because what changes is touched only while `changed` is locked.
    private final class State: @unchecked Sendable {
        private let changed = NSCondition()
        private var waiting: [@Sendable () -> Void] = []
        /// Threads that may still start, that wait for work, and that do some.
        private var (unstarted, idle, busy): (Int, Int, Int)
        private var isClosed = false

        init(threads: Int) { (unstarted, idle, busy) = (threads, 0, 0) }

        func add(_ work: @escaping @Sendable () -> Void) {
            changed.withLock {
                waiting.append(work)
                if idle < waiting.count, unstarted > 0 {
                    (unstarted, idle) = (unstarted - 1, idle + 1)
                    Thread.detachNewThread { self.run() }
                }
                changed.broadcast()
            }
        }

        func wait() { changed.withLock { while busy > 0 || !waiting.isEmpty { changed.wait() } } }

        func close() {
            changed.withLock {
                isClosed = true
                changed.broadcast()
            }
        }

        private func run() {
            while let work = next() {
                work()
                changed.withLock {
                    (idle, busy) = (idle + 1, busy - 1)
                    changed.broadcast()
                }
            }
        }

        private func next() -> (@Sendable () -> Void)? {
            changed.withLock {
                while waiting.isEmpty {
                    if isClosed { return nil }
                    changed.wait()
                }
                (idle, busy) = (idle - 1, busy + 1)
                return waiting.removeFirst()
            }
        }
    }
}
