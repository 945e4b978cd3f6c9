internal import Glibc
package import ReelCore

extension FolderStore {
    /// Checks that a worker can work here: makes a file in the store, renames it and removes it again, and checks
    /// whether the folder of any job may be written.
    ///
    /// Throws `.storeUnusable` or `.storeFull`, with the system's reason, if that does not work: the store is mounted
    /// read-only, is full, or belongs to another user; or there are unfinished jobs, and this process may write in none
    /// of their folders.
    package func tryWorking() throws(ReelFailure) {
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

    /// Whether the store takes a few MiB now.
    package func hasRoom() -> Bool { (try? temporaryFolder())?.hasRoom() ?? false }
}

extension TemporaryFolder {
    /// Whether a file of 4 MiB can be written here: more than an engine writes at once. It is removed again.
    package func hasRoom() -> Bool {
        let file = path + "/room"
        defer { unlink(file) }
        do throws(SystemCode) {
            let trial = try Descriptor(open: file, O_WRONLY | O_CREAT | O_EXCL)
            try trial.write([UInt8](repeating: 0x72, count: 4 << 20)[...])
            // A network file system may only notice here that a disk is full.
            try trial.sync()
            return true
        } catch {
            // A process that makes the file beforehand must not make a disk full by that.
            return ![ENOSPC, EDQUOT].contains(error.value)
        }
    }
}

extension JobStore {
    /// The failure of an engine as it is, but a full disk only if that is so: an engine that a hostile file has taken over
    /// may only say it, and a full disk is charged to no job and keeps a worker from all others. Ask while the engine's
    /// files are still there.
    ///
    /// - Parameter scratch: where the engine spilled, nil if nowhere.
    package func checked(_ failure: ReelFailure, scratch: TemporaryFolder? = nil) async -> ReelFailure {
        guard failure.cause == .noSpace, await hasRoom(), scratch?.hasRoom() ?? true else { return failure }
        let path: String
        switch failure.reason {
        case .diskFull(let file): path = file ?? name
        case .storeFull(_, let file, _): path = file
        default: return failure
        }
        return ReelFailure(.fileFailed(path: path, step: .write, errno: ENOSPC, passes: true))
    }
}
