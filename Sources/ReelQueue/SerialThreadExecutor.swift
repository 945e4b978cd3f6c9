internal import Dispatch
internal import Foundation
internal import Synchronization

/// Runs one actor's jobs on a thread of its own, so that calls that block do not occupy the cooperative pool.
///
/// The thread ends with the executor, which lives as long as its actor and the jobs enqueued on it.
package final class SerialThreadExecutor: SerialExecutor {
    private let queue = JobQueue()

    package init(name: String) {
        let thread = Thread { [queue] in
            while let run = queue.next() { run() }
        }
        thread.name = name
        thread.start()
    }

    deinit { queue.close() }

    /// Runs a job after all earlier jobs. The executor is kept alive until then.
    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.append { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
}

/// The jobs that an executor hands to its thread. The thread holds this queue and not the executor, which it would
/// otherwise keep alive.
private final class JobQueue: Sendable {
    private let jobs = Mutex<[@Sendable () -> Void]>([])
    private let available = DispatchSemaphore(value: 0)

    func append(_ job: @escaping @Sendable () -> Void) {
        jobs.withLock { $0.append(job) }
        available.signal()
    }

    /// Ends the thread: it wakes and finds no job.
    func close() { available.signal() }

    /// Waits for the next job; nil when the queue is closed.
    func next() -> (@Sendable () -> Void)? {
        available.wait()
        return jobs.withLock { $0.isEmpty ? nil : $0.removeFirst() }
    }
}
