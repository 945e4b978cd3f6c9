internal import Glibc
package import ReelCore

/// A store in a folder that all machines see, or that several invocations of `run` share. A file gets its name when it
/// is whole. `JobStore` documents the functions that it requires; comments here cover the specifics of a folder.
package struct FolderStore: JobStore {
    /// Path of the folder as it was given: relative paths stay relative.
    package let root: String

    package var name: String { root }

    var jobsFolder: String { root + "/jobs" }
    var sourcesFolder: String { root + "/sources" }

    /// Nil for an empty folder that is not a store yet.
    package let id: StoreID?

    /// Opens a store. If a group shares it, everything that this process writes from now on belongs to the group,
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
        let names = try SystemError.inStore(.open, root, Files.names(in: root))
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
        try SystemError.inStore(.open, root) { () throws(SystemCode) in
            if try Files.target(root) == nil {
                // Where a file system is not mounted, the folders above it are missing, too.
                guard mkdir(root, 0o777) == 0 || errno == EEXIST else { throw SystemCode(errno) }
                // The umask applies, unless a group is to share the folder.
                guard mode == 0o777 || chmod(root, mode) == 0 else { throw SystemCode(errno) }
            }
        }
        _ = try StoreMarker.create(in: root)
        return try FolderStore(root: root)
    }

    /// The id that the folder has now: another process may have made it a store since it was opened.
    package func identity() throws(ReelFailure) -> StoreID? {
        if let id { return id }
        return try FolderStore(root: root).id
    }

    /// Writes while another folder is in the store's place would not reach the store.
    package func check() throws(ReelFailure) {
        guard let id else { return }
        guard (try? StoreMarker.read(in: root)) == id else { throw ReelFailure(.storeMissing(path: root)) }
    }

    /// Makes folders of the store, and the folders above them. Returns whether any was missing. Throws `.storeMissing` as
    /// `check` does, so that nothing is made in the store's place; `.storeUnusable` or `.storeFull` if they cannot be
    /// made.
    @discardableResult
    func makeFolders(_ folders: [String]) throws(ReelFailure) -> Bool {
        try check()
        var isMade = false
        for folder in folders {
            if try SystemError.inStore(.makeFolder, folder, Files.makeFolders(folder)) { isMade = true }
        }
        return isMade
    }

    package func establish() throws(ReelFailure) -> StoreID { try StoreMarker.create(in: root) }

    package func job(_ id: JobID) -> JobFolder {
        JobFolder(id: id, store: self, path: "\(jobsFolder)/\(FolderStore.folderName(id))")
    }

    package func jobs() throws(ReelFailure) -> [JobID] {
        try SystemError.inStore(.read, jobsFolder, Files.names(in: jobsFolder)).map { JobID($0) }
            .filter { job($0).exists }
    }

    /// A later call removes the folders that cannot be removed now. Blocks.
    package func removeUnrecordedJobs(before moment: Double) {
        for name in (try? Files.names(in: jobsFolder)) ?? [] {
            try? job(JobID(name)).removeUnlessRecorded(before: moment)
        }
    }

    /// A new empty folder inside the store, for files without a final place; on the same file system as jobs and
    /// sources, so that files move by renaming. It is removed with the returned object.
    package func temporaryFolder() throws(ReelFailure) -> TemporaryFolder { try TemporaryFolder(in: root) }

    /// Removes the temporary folders in the store that killed processes have left.
    package func removeAbandoned() { TemporaryFolder.removeAbandoned(in: root) }

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

extension FolderStore {
    package var freeSpace: Int64? {
        let room = FileCopy.room(beside: root + "/.")
        return room == .max ? nil : room
    }

    /// True unless the kernel says that the store is on this machine's own disks or in its memory.
    package var showsWritesLate: Bool {
        guard let status = try? Files.target(root),
            let mounts = try? AtomicFile.read("/proc/self/mountinfo"),
            let type = FolderStore.type(of: UInt64(status.st_dev), in: String(decoding: mounts, as: UTF8.self))
        else { return true }
        return !FolderStore.localTypes.contains(type)
    }

    private static let localTypes: Set = ["ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "zfs", "overlay", "tmpfs"]

    /// The type of the file system on a device, from `/proc/PID/mountinfo` (proc_pid_mountinfo(5)). In a line such as
    /// "36 35 98:0 / /mnt … - ext3 …" the third word is the device and the first after the dash the type. Nil if the
    /// device is not listed.
    static func type(of device: UInt64, in mounts: String) -> String? {
        let major = (device >> 8) & 0xFFF | (device >> 32) & ~0xFFF
        let minor = device & 0xFF | (device >> 12) & ~0xFF
        for line in mounts.split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count > 2, words[2] == "\(major):\(minor)", let dash = words.lastIndex(of: "-") else {
                continue
            }
            return words.indices.contains(dash + 1) ? String(words[dash + 1]) : nil
        }
        return nil
    }

    /// Fails if the store is mounted read-only, is full, or belongs to another user; or if there are unfinished jobs,
    /// and this process may write in none of their folders.
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

    package func hasRoom() -> Bool { (try? temporaryFolder())?.hasRoom() ?? false }
}

/// The file that makes a folder a store, with the store's id.
package struct StoreMarker: Codable {
    package static let name = "store.json"
    /// Grows when earlier releases would misread the store.
    static let version = 1

    private let version: Int
    package let id: StoreID

    package init(id: StoreID) { (version, self.id) = (StoreMarker.version, id) }

    static func read(in root: String) throws(ReelFailure) -> StoreID {
        let path = "\(root)/\(name)"
        return try read(AtomicFile.read(path), at: path, root: root)
    }

    /// The id in a marker's bytes. Throws `.storeOfOtherVersion` and `.storeFileDamaged`.
    ///
    /// - Parameters:
    ///   - path: of the marker, for messages.
    ///   - root: the store's name.
    package static func read(_ bytes: [UInt8], at path: String, root: String) throws(ReelFailure) -> StoreID {
        let version = try AtomicFile.checked(path) { try CanonicalJSON.value(Version.self, from: bytes) }.version
        guard version == StoreMarker.version else {
            throw ReelFailure(.storeOfOtherVersion(path: root, found: version, known: StoreMarker.version))
        }
        return try AtomicFile.checked(path) { try CanonicalJSON.value(StoreMarker.self, from: bytes) }.id
    }

    /// The id of the store, which gets one if it has no id yet. If several processes do this at once, one of them makes
    /// it.
    static func create(in root: String) throws(ReelFailure) -> StoreID {
        let marker = StoreMarker(id: StoreID(Files.randomName()))
        let path = "\(root)/\(name)"
        if access(path, F_OK) == 0 { return try read(in: root) }
        return try AtomicFile.create(AtomicFile.json(of: marker), at: path) ? marker.id : try read(in: root)
    }

    private struct Version: Decodable {
        let version: Int
    }
}
