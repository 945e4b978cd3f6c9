internal import Dispatch
internal import Foundation
internal import Synchronization

/// Runs one actor's jobs on a thread of its own, so that calls that block do not occupy the cooperative pool.
///
/// The thread ends with the executor, which lives as long as its actor and the jobs enqueued on it.
package final class SerialThreadExecutor: SerialExecutor {
    private let queue = JobQueue()

    /// - Parameter name: the thread's.
    package init(name: String) {
        let thread = Thread { [queue] in
            while let entry = queue.next() { entry.run() }
        }
        thread.name = name
        thread.start()
    }

    deinit { queue.close() }

    /// Runs a job after all earlier jobs.
    package func enqueue(_ job: consuming ExecutorJob) { queue.append(Entry(job: UnownedJob(job), executor: self)) }
}

/// A job and the executor it runs on, kept alive until the job has run.
private struct Entry: Sendable {
    let job: UnownedJob
    let executor: SerialThreadExecutor

    func run() { job.runSynchronously(on: executor.asUnownedSerialExecutor()) }
}

/// The jobs that an executor hands to its thread. The thread holds this queue and not the executor, which it would
/// otherwise keep alive.
private final class JobQueue: Sendable {
    private let entries = Mutex<[Entry]>([])
    private let available = DispatchSemaphore(value: 0)

    func append(_ entry: Entry) {
        entries.withLock { $0.append(entry) }
        available.signal()
    }

    /// Ends the thread: it wakes and finds no entry.
    func close() { available.signal() }

    /// Waits for the next entry; nil when the queue is closed.
    func next() -> Entry? {
        available.wait()
        return entries.withLock { $0.isEmpty ? nil : $0.removeFirst() }
    }
}
