internal import Glibc
package import ReelCore

/// A store in a folder that all machines see, or that several invocations of `run` share. A file gets its name when it is
/// whole.
package struct FolderStore: JobStore {
    /// Path of the folder as it was given: relative paths stay relative.
    package let root: String

    /// The folder's path.
    package var name: String { root }

    private var jobsFolder: String { root + "/jobs" }
    var sourcesFolder: String { root + "/sources" }

    /// The store's id, which no other store has. Nil for an empty folder that is not a store yet.
    package let id: StoreID?

    /// Opens a store. In a store that a group shares, everything that this process writes from now on belongs to the group,
    /// whatever its umask (`Sharing`).
    ///
    /// Throws `.storeMissing` if there is no folder, or one with something else in it, `.storeOfOtherVersion`, and
    /// `.storeUnusable` if it cannot be read or written.
    package init(root: String) throws(ReelFailure) {
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
        } else if names.allSatisfy({ $0.hasPrefix(".") }) {
            id = nil
        } else {
            throw ReelFailure(.storeMissing(path: root))
        }
    }

    /// Makes a folder a store, and creates the folder if it is missing, but none above it. An existing store is
    /// opened. If several machines do this at the same time, they make one store.
    ///
    /// Throws as `init` does, except for other contents of the folder.
    ///
    /// - Parameter mode: of the folder, if it is made.
    package static func make(root: String, mode: UInt32 = 0o777) throws(ReelFailure) -> FolderStore {
        do throws(SystemCode) {
            if try Files.target(root) == nil {
                // Where a file system is not mounted, the folders above it are missing, too.
                guard mkdir(root, 0o777) == 0 || errno == EEXIST else { throw SystemCode(errno) }
                // The umask applies, unless a group is to share the folder.
                guard mode == 0o777 || chmod(root, mode) == 0 else { throw SystemCode(errno) }
            }
        } catch {
            throw SystemError.store(.open, root, error.value)
        }
        _ = try StoreMarker.create(in: root)
        return try FolderStore(root: root)
    }

    /// The id that the folder has now: another process may have made it a store since it was opened.
    package func identity() throws(ReelFailure) -> StoreID? {
        if let id { return id }
        return try FolderStore(root: root).id
    }

    /// Throws `.storeMissing` if the folder is not the store that was opened any more, as while its file system is not mounted:
    /// what is written then is not in the store.
    package func check() throws(ReelFailure) {
        guard let id else { return }
        guard (try? StoreMarker.read(in: root)) == id else { throw ReelFailure(.storeMissing(path: root)) }
    }

    /// Makes folders of the store, and those above them. Throws `.storeMissing` as `check` does, so that nothing is made in
    /// the store's place; `.unreachable` if they cannot be made.
    func makeFolders(_ folders: [String]) throws(ReelFailure) {
        try check()
        for folder in folders {
            do {
                try Files.makeFolders(folder)
            } catch {
                throw SystemError.store(.makeFolder, folder, error.value)
            }
        }
    }

    /// Makes the folder a store, as `make` does.
    package func establish() throws(ReelFailure) -> StoreID { try StoreMarker.create(in: root) }

    /// The folder of a job, which may or may not exist yet.
    package func job(_ id: JobID) -> JobFolder {
        JobFolder(id: id, store: self, path: "\(jobsFolder)/\(FolderStore.folderName(id))")
    }

    /// Every job that the store has a record of, sorted. Throws `.unreachable` if the store cannot be read.
    package func jobs() throws(ReelFailure) -> [JobID] {
        do {
            return try Files.names(in: jobsFolder).map { JobID($0) }.filter { job($0).exists }
        } catch {
            throw SystemError.store(.read, jobsFolder, error.value)
        }
    }

    /// Removes job folders without a record; a later call removes the ones that cannot be removed now. Blocks.
    package func removeUnrecordedJobs(before moment: Double) {
        for name in (try? Files.names(in: jobsFolder)) ?? [] {
            try? job(JobID(name)).removeUnlessRecorded(before: moment)
        }
    }

    /// A new empty folder inside the store, for files without a final place; on the same file system as jobs and
    /// sources, so that files move by renaming. It is removed with the returned object.
    package func temporaryFolder() throws(ReelFailure) -> TemporaryFolder { try TemporaryFolder(in: root) }

    /// Removes the store's own folders if they are empty; `run` does this at its end.
    package func removeIfEmpty() {
        rmdir(sourcesFolder)
        guard rmdir(jobsFolder) == 0 || errno == ENOENT else { return }
        unlink("\(root)/\(StoreMarker.name)")
        rmdir(root)
    }

    /// A job's id as the name of a folder. Ids are hexadecimal, but an id that a user typed may be anything, and must
    /// not lead out of the store.
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
