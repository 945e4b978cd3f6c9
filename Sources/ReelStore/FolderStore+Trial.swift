internal import Glibc
public import ReelCore

extension FolderStore {
    /// Checks that a worker can work here: makes a file in the store, renames it and removes it again, and checks
    /// whether the folder of any job may be written.
    ///
    /// Throws `.storeUnusable` or `.storeFull`, with the system's reason, if that does not work: the store is mounted
    /// read-only, is full, or belongs to another user; or there are unfinished jobs, and this process may write in none
    /// of their folders.
    public func tryWorking() throws(ReelFailure) {
        let folder = try temporaryFolder()
        try AtomicFile.write(Array("reel\n".utf8), to: folder.path + "/trial")
        var refusal: ReelFailure?
        for id in try jobs() {
            let job = job(id)
            if access(job.path, W_OK | X_OK) == 0 { return }
            let code = errno
            // A job that has ended needs no worker.
            guard refusal == nil, let record = try? job.read(), record.state?.isTerminal != true else { continue }
            refusal = SystemError.store(.write, job.path, code)
        }
        if let refusal { throw refusal }
    }
}
