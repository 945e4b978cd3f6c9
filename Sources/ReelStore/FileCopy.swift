internal import Crypto
internal import Glibc
internal import ReelCore

/// Copying a whole file durably.
enum FileCopy {
    /// FICLONE of linux/fs.h, _IOW(0x94, 9, int): a macro that Swift does not import.
    private static let cloneRequest: UInt = 0x4004_9409

    /// Writes a copy under a name that must not exist yet, and syncs it. ECANCELED if the task was cancelled.
    ///
    /// - Parameters:
    ///   - mode: of the copy, whatever the umask.
    ///   - isHashed: whether to hash the bytes of the copy as they go by, or as they are read from a clone.
    /// - Returns: size of the copy, and its SHA-256 in hexadecimal, empty if it was not hashed.
    @discardableResult
    static func write(
        _ input: borrowing Descriptor, to target: String, mode: mode_t, isHashed: Bool = false
    ) throws(SystemCode) -> (bytes: Int64, sha256: String) {
        let output = try Descriptor(open: target, O_RDWR | O_CREAT | O_EXCL, mode: 0o600)
        guard fchmod(output.number, mode) == 0 else { throw SystemCode(errno) }
        var hash = isHashed ? SHA256() : nil
        if ioctl(output.number, cloneRequest, input.number) != 0 {
            // Better to fail now than after filling the disk.
            guard try Int64(input.status().st_size) <= room(beside: target) else { throw SystemCode(ENOSPC) }
            try input.forEachBlock(isCancellable: true) { block throws(SystemCode) in
                hash?.update(data: block)
                try output.write(block)
            }
        } else if isHashed {
            try output.forEachBlock(isCancellable: true) { hash?.update(data: $0) }
        }
        try output.sync()
        return (Int64(try output.status().st_size), hash.map { Hexadecimal.text($0.finalize()) } ?? "")
    }

    /// Bytes that this user may still write beside `path`; no limit if the file system does not tell.
    static func room(beside path: String) -> Int64 {
        var system = statvfs()
        guard statvfs(Files.folder(of: path), &system) == 0, system.f_blocks > 0 else { return .max }
        let (bytes, overflow) = UInt64(system.f_bavail).multipliedReportingOverflow(by: UInt64(system.f_frsize))
        return overflow ? .max : Int64(clamping: bytes)
    }

    /// The mode of a new file of this user, outside of any store.
    static var newFileMode: mode_t { 0o666 & ~Sharing.umaskOfUser }
}

/// Modes of files in a store that a group shares, as git's `core.sharedRepository` has it: the store's folder is setgid
/// and its group may write in it. New folders and files then get its group from the kernel; but whether the group may
/// write them depends on the user's umask. So a program that opens such a store changes its umask to allow that, and
/// its engines inherit it. Files that it delivers outside the store still get the user's own umask.
enum Sharing {
    /// The umask with which this process was started. Read from the kernel, since asking `umask` means changing it.
    static let umaskOfUser: mode_t = {
        let status = (try? Descriptor(open: "/proc/self/status", O_RDONLY).readAll()) ?? []
        let field = String(decoding: status, as: UTF8.self).split(separator: "\n").first { $0.hasPrefix("Umask:") }
        return field.flatMap { mode_t($0.dropFirst("Umask:".count).drop(while: \.isWhitespace), radix: 8) } ?? 0o022
    }()

    static func isShared(_ mode: mode_t) -> Bool { mode & S_ISGID != 0 && mode & S_IRWXG == S_IRWXG }

    /// - Parameter mode: of the store's folder.
    static func begin(with mode: mode_t) {
        let own = umaskOfUser
        if isShared(mode) { umask(own & ~S_IRWXG) }
    }

    /// The mode of a source's copy in the store: only users that may read the source may read the copy, and the store's
    /// group, which works on it.
    static func modeOfCopy(source: mode_t, store: mode_t) -> mode_t {
        let both = (source | S_IRUSR | S_IWUSR) & store & 0o666
        return isShared(store) ? both | S_IRGRP : both
    }
}
