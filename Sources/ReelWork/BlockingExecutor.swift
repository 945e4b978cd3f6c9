internal import Dispatch

/// Runs work that waits for disks, or hashes files, on threads of its own. On those of Swift's pool, of which there is one
/// for each core, beats and leases would wait for it.
final class BlockingExecutor: TaskExecutor {
    static let shared = BlockingExecutor()

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        // A serial queue gets a thread at once. One that is concurrent shares those of Swift's pool, so that as many files
        // as there are cores, hashed at the same time, would stop everything else.
        DispatchQueue(label: "reel.blocking").async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
