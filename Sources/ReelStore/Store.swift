internal import Glibc
public import ReelCore

/// The folder where jobs live that several machines, or several runs, work on: the truth, of which Redis is an index.
public struct Store: Sendable {
    /// As it was given: relative paths stay relative.
    public let root: String

    private var jobsFolder: String { root + "/jobs" }
    var sourcesFolder: String { root + "/sources" }

    /// What tells it from other stores. Nil for an empty folder, of which nobody has made a store yet.
    public let id: StoreID?

    /// Opens a store. One that an earlier release made gets an id. In a store that a group shares, what this process
    /// writes from now on is the group's, whatever its umask (`Sharing`).
    ///
    /// Throws `.storeMissing` where there is no folder, or one with something else in it, `.storeOfOtherVersion`, and
    /// `.storeUnusable` where it cannot be read or written.
    public init(root: String) throws(ReelFailure) {
        let status: stat?
        do {
            status = try Files.target(root)
        } catch {
            guard error.value == ENOTDIR else { throw SystemError.store(.open, root, error.value) }
            status = nil
        }
        guard let status, status.st_mode & S_IFMT == S_IFDIR else { throw ReelFailure(.storeMissing(path: root)) }
        guard access(root, R_OK | W_OK | X_OK) == 0 else { throw SystemError.store(.open, root, errno) }
        Sharing.begin(with: status.st_mode)
        let names: [String]
        do {
            names = try Files.names(in: root)
        } catch {
            throw SystemError.store(.open, root, error.value)
        }
        self.root = root
        if names.contains(StoreMarker.name) {
            id = try StoreMarker.read(in: root)
        } else if names.contains("jobs") {
            id = try StoreMarker.create(in: root)
        } else if names.allSatisfy({ $0.hasPrefix(".") }) {
            id = nil
        } else {
            throw ReelFailure(.storeMissing(path: root))
        }
    }

    /// Makes a store of a folder, and the folder and those above it where they are missing. One that is a store already is
    /// opened. Doing it on several machines at the same time makes one store.
    ///
    /// Throws as `init` does, but for what else is in the folder.
    ///
    /// - Parameter mode: of the folder, where it is made.
    public static func make(root: String, mode: UInt32 = 0o777) throws(ReelFailure) -> Store {
        do throws(SystemCode) {
            if try Files.target(root) == nil {
                try Files.makeFolders(root)
                // Less the umask, unless others are to share it.
                guard mode == 0o777 || chmod(root, mode) == 0 else { throw SystemCode(errno) }
            }
        } catch {
            throw SystemError.store(.open, root, error.value)
        }
        _ = try StoreMarker.create(in: root)
        return try Store(root: root)
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
        guard rmdir(jobsFolder) == 0 || errno == ENOENT else { return }
        unlink("\(root)/\(StoreMarker.name)")
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
