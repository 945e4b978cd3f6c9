internal import Glibc
package import ReelCore

/// An exclusive lock on a file, in which its holder writes its name: "PID HOST". Released explicitly or when the
/// process ends, however it ends.
package final class FileLock: Sendable {
    private let file: Descriptor

    /// Nil if another process, or another lock of this one, holds it.
    init?(_ path: String) throws(SystemCode) {
        while true {
            let file = try Descriptor(regular: path, O_RDWR | O_CREAT)
            guard flock(file.number, LOCK_EX | LOCK_NB) == 0 else {
                if errno == EWOULDBLOCK { return nil }
                throw SystemCode(errno)
            }
            // The last holder may have removed the file before it released the lock: then this lock protects nothing.
            let locked = try file.status()
            guard let named = try Files.target(path), Files.same(named, locked) else { continue }
            guard ftruncate(file.number, 0) == 0 else { throw SystemCode(errno) }
            try file.write(Array("\(getpid()) \(FileLock.host)\n".utf8)[...])
            self.file = file
            return
        }
    }

    /// Waits for others, who hold it for the time of a few reads and writes; throws `EBUSY` after ten seconds.
    static func waiting(for path: String) throws(SystemCode) -> FileLock {
        for _ in 0..<5000 {
            if let lock = try FileLock(path) { return lock }
            usleep(2000)
        }
        throw SystemCode(EBUSY)
    }

    deinit { release() }

    /// Unlocks explicitly: a child process that another thread is just starting has the file open, too, until its exec,
    /// and closing alone would leave the file locked until then.
    package func release() { flock(file.number, LOCK_UN) }

    /// Who wrote its name into the file of a lock; nil if that cannot be read.
    fileprivate static func holder(of path: String) -> (pid: Int?, host: String?) {
        let text = (try? AtomicFile.read(path)).map { String(decoding: $0, as: UTF8.self) } ?? ""
        let parts = text.split(whereSeparator: \.isWhitespace).map(String.init)
        return parts.count == 2 ? (Int(parts[0]), parts[1]) : (nil, nil)
    }

    private static var host: String {
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, name.count - 1) == 0 else { return "localhost" }
        return String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}

extension JobFolder {
    /// Locks the job folder, and makes it if it is missing, until the last reference to the lock is released or the
    /// process ends. Throws `.jobHeld` if another process holds the lock.
    package func lock() throws(ReelFailure) -> FileLock {
        while true {
            try create()
            if let lock = try takeLock() { return lock }
        }
    }

    /// Nil if the folder has been removed meanwhile.
    func takeLock() throws(ReelFailure) -> FileLock? {
        let path = path(.lock)
        do {
            if let lock = try FileLock(path) { return lock }
        } catch {
            if error.value == ENOENT { return nil }
            throw SystemError.store(.lock, path, error.value)
        }
        let (pid, host) = FileLock.holder(of: path)
        throw ReelFailure(.jobHeld(path: self.path, pid: pid, host: host))
    }
}

extension FolderStore {
    /// Locks the store for this process, until the last reference to the lock is released or the process ends. Throws
    /// `.storeHeld` if another process holds the lock.
    package func lock() throws(ReelFailure) -> FileLock {
        let path = root + "/lock"
        let lock = try SystemError.inStore(.lock, path) { () throws(SystemCode) in try FileLock(path) }
        if let lock { return lock }
        let (pid, host) = FileLock.holder(of: path)
        throw ReelFailure(.storeHeld(path: root, pid: pid, host: host))
    }

    /// The folder for the log of a Redis that belongs to this store alone, made if it is missing.
    package func boardFolder() throws(ReelFailure) -> String {
        let path = root + "/board"
        return try SystemError.inStore(.write, path) { () throws(SystemCode) in
            guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw SystemCode(errno) }
            return path
        }
    }
}
