internal import Glibc
public import ReelCore

extension Store {
    /// Makes a file in the store, renames it and removes it again. Throws `.unreachable`, with the system's reason, where
    /// that does not work: the store is mounted read-only, is full, or is another user's.
    public func tryWriting() throws(ReelFailure) {
        let folder = try temporaryFolder()
        try AtomicFile.write(Array("reel\n".utf8), to: folder.path + "/trial")
    }

    /// Whether there are jobs, and their folders are all of users that do not let this process write there.
    public var refusesJobs: Bool {
        guard let jobs = try? jobs(), !jobs.isEmpty else { return false }
        return !jobs.contains { access(job($0).path, W_OK | X_OK) == 0 }
    }
}
