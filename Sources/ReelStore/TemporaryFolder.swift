internal import Glibc
package import ReelCore
internal import Synchronization

/// A folder that is removed with everything in it when the last reference to it is released, or when the process exits.
package final class TemporaryFolder: Sendable {
    package let path: String
    private let root: String
    private let lock: FileLock

    /// A folder in a store.
    convenience init(in root: String) throws(ReelFailure) {
        try self.init(in: root, prefix: TemporaryFolder.storePrefix, isShared: true)
    }

    /// A folder of this user alone, in a folder for temporary files in which others may write, too.
    package convenience init(scratchIn root: String) throws(ReelFailure) {
        try self.init(in: root, prefix: TemporaryFolder.scratchPrefix, isShared: false)
    }

    private init(in root: String, prefix: String, isShared: Bool) throws(ReelFailure) {
        TemporaryFolder.removeAbandoned(in: root, prefix: prefix, ofOthers: isShared)
        self.root = root
        (path, lock) = try TemporaryFolder.make(in: root, prefix: prefix, mode: isShared ? 0o777 : 0o700)
        TemporaryFolder.remember(path, beneath: root)
    }

    /// Makes a folder and locks it. Between the two, another process may take it for abandoned and remove it: then this
    /// makes a folder with another name.
    private static func make(
        in root: String, prefix: String, mode: mode_t
    ) throws(ReelFailure) -> (path: String, lock: FileLock) {
        var attempts = 0
        while true {
            let path = "\(root)/\(prefix)\(Files.randomName())"
            do throws(SystemCode) {
                guard mkdir(path, mode) == 0 else { throw SystemCode(errno) }
                guard let lock = try FileLock(path + "/lock") else { throw SystemCode(EBUSY) }
                return (path, lock)
            } catch {
                try? Files.removeTree(path, beneath: root)
                attempts += 1
                guard [ENOENT, EBUSY].contains(error.value), attempts < mostAttempts else {
                    throw SystemError.store(.makeFolder, root, error.value)
                }
            }
        }
    }

    private static let mostAttempts = 20

    deinit { TemporaryFolder.remove(path, beneath: root) }

    /// The folders of this process that exist, with the folders in which they lie. A task that outlives the command, such
    /// as a request that is given up, may hold the last reference to one.
    private static let present = Mutex<[String: String]>([:])
    private static let removesAtExit: Void = {
        atexit {
            TemporaryFolder.present.withLock { for (path, root) in $0 { try? Files.removeTree(path, beneath: root) } }
        }
    }()

    private static func remember(_ path: String, beneath root: String) {
        _ = removesAtExit
        present.withLock { $0[path] = root }
    }

    private static func remove(_ path: String, beneath root: String) {
        // Within the lock, so that a process that exits waits for it.
        present.withLock {
            try? Files.removeTree(path, beneath: root)
            $0[path] = nil
        }
    }

    /// Removes the folders that killed processes of this user left in a folder for temporary files.
    package static func removeAbandoned(scratchIn root: String) {
        removeAbandoned(in: root, prefix: scratchPrefix, ofOthers: false)
    }

    /// Removes the folders that killed processes left in a store.
    static func removeAbandoned(in root: String) { removeAbandoned(in: root, prefix: storePrefix, ofOthers: true) }

    private static let scratchPrefix = "reel-scratch."
    private static let storePrefix = "tmp."

    /// Seconds after which a folder without its lock counts as abandoned: its maker was killed before it had the lock.
    private static let mostWithoutLock = 10

    /// A folder is abandoned when its lock is free: its maker was killed.
    private static func removeAbandoned(in root: String, prefix: String, ofOthers: Bool) {
        for name in (try? Files.names(in: root)) ?? [] where name.hasPrefix(prefix) {
            let folder = "\(root)/\(name)"
            guard let entry = try? Files.entry(folder), ofOthers || entry.st_uid == geteuid() else { continue }
            guard access(folder + "/lock", F_OK) == 0 else {
                // It may be about to get its lock file; it is empty until then.
                if entry.st_mtim.tv_sec + mostWithoutLock < time(nil) { rmdir(folder) }
                continue
            }
            guard let lock = try? FileLock(folder + "/lock") else { continue }
            withExtendedLifetime(lock) { try? Files.removeTree(folder, beneath: root) }
        }
    }

    /// Whether a file of 4 MiB can be written here: more than an engine writes at once. The file is removed again.
    package func hasRoom() -> Bool {
        let file = path + "/room"
        defer { unlink(file) }
        do throws(SystemCode) {
            // A network file system may only notice when it syncs that a disk is full.
            try AtomicFile.writeDurably([UInt8](repeating: 0x72, count: 4 << 20), to: file)
            return true
        } catch {
            // A process that makes the file beforehand must not make a disk full by that.
            return ![ENOSPC, EDQUOT].contains(error.value)
        }
    }
}
