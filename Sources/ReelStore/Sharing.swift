internal import Glibc

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
