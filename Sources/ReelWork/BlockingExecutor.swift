internal import Dispatch

/// Runs work that waits for disks, or hashes files, on threads of its own. On those of Swift's pool, of which there is one
/// for each core, beats and leases would wait for it.
final class BlockingExecutor: TaskExecutor {
    static let shared = BlockingExecutor()

    private let queue = DispatchQueue(label: "reel.blocking", attributes: .concurrent)

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
