internal import Glibc
public import ReelCore

/// The folder where jobs live that several machines, or several runs, work on: the truth, of which Redis is an index.
public struct Store: Sendable {
    /// As it was given: relative paths stay relative.
    public let root: String

    private var jobsFolder: String { root + "/jobs" }
    var sourcesFolder: String { root + "/sources" }

    /// Opens a store, making its folders where they are missing.
    ///
    /// Throws `.unreachable`, cause incompatible, where they cannot be made or written.
    public init(root: String) throws(ReelFailure) {
        self.root = root
        do {
            try Files.makeFolders(jobsFolder)
        } catch {
            throw SystemError.store(.open, root, error.value)
        }
        guard access(jobsFolder, W_OK | X_OK) == 0 else { throw SystemError.store(.open, root, errno) }
    }

    /// The folder of a job, which may or may not exist yet.
    public func job(_ id: JobID) -> JobFolder {
        JobFolder(id: id, store: self, path: "\(jobsFolder)/\(Store.folderName(id))")
    }

    /// Every job that the store has a record of, sorted. Throws `.unreachable` where the store cannot be read.
    public func jobs() throws(ReelFailure) -> [JobID] {
        do {
            return try Files.names(in: jobsFolder).map { JobID($0) }.filter { job($0).exists }
        } catch {
            throw SystemError.store(.read, jobsFolder, error.value)
        }
    }

    /// A new empty folder inside the store, for what has no place yet; on the same file system as jobs and sources, so that
    /// files move by renaming. It goes when the returned object does.
    public func temporaryFolder() throws(ReelFailure) -> TemporaryFolder { try TemporaryFolder(in: root) }

    /// Removes the store's own folders where nothing is in them: what `run` does at its end.
    public func removeIfEmpty() {
        rmdir(sourcesFolder)
        rmdir(jobsFolder)
        rmdir(root)
    }

    /// A job's name as a folder's. Ids are hexadecimal; one that a person typed may be anything, and must not lead
    /// out of the store.
    private static func folderName(_ id: JobID) -> String {
        let safe = id.text.unicodeScalars.map { scalar in
            switch scalar {
            case "0"..."9", "a"..."z", "A"..."Z", "-": Character(scalar)
            default: "_" as Character
            }
        }
        return safe.isEmpty ? "_" : String(safe)
    }
}
