internal import CSandbox
internal import Glibc

/// A domain of Landlock: what this process, and all that it starts from now on, may reach of files, network and other
/// processes. A domain can only be narrowed.
struct Landlock {
    /// The version of the kernel's interface; 0 if it has no Landlock, or a boot option turned it off.
    static var version: Int { max(0, reel_landlock_version()) }

    private static let (writeFile, readFile, readFolder, removeFile, makeFile, truncate) = (
        UInt64(1 << 1), UInt64(1 << 2), UInt64(1 << 3), UInt64(1 << 5), UInt64(1 << 8), UInt64(1 << 14)
    )

    /// All rights in files that a version knows: execute to make links, then the rights that later versions added.
    private static func files(_ version: Int) -> UInt64 {
        let added = [(2, 13), (3, 14), (5, 15)].filter { version >= $0.0 }
        return added.reduce(0x1FFF) { $0 | 1 << $1.1 }
    }

    /// Confines the calling thread, which must be the only one. Returns false if the kernel refuses; the thread is then
    /// as it was.
    ///
    /// - Parameters:
    ///   - reads: descriptors of files that may be read, and of folders whose files may be.
    ///   - folders: descriptors of folders in which files may be made, written, renamed, read and removed.
    static func restrict(reads: [Int32], folders: [Int32]) -> Bool {
        let version = version
        guard version > 0 else { return false }
        let all = files(version)
        // TCP; abstract Unix sockets and signals of others.
        var rules = reel_landlock_ruleset(files: all, network: version >= 4 ? 3 : 0, scoped: version >= 6 ? 3 : 0)
        let domain = reel_landlock_create(&rules)
        guard domain >= 0 else { return false }
        defer { close(domain) }
        let working = writeFile | readFile | readFolder | removeFile | makeFile | truncate
        for (places, rights) in [(reads, readFile), (folders, working)] {
            for place in places { _ = reel_landlock_allow(domain, place, rights & all) }
        }
        return reel_landlock_restrict(domain) == 0
    }
}
