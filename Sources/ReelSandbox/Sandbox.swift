internal import CSandbox
internal import Glibc
package import ReelCore

/// Confines this process before it reads hostile files.
package enum Sandbox {
    /// Confines the process as far as the mode says and the kernel can, and returns the confinement in force. It cannot
    /// be undone.
    ///
    /// Call it while the process has one thread: Landlock confines the calling thread, and threads that it starts
    /// later.
    ///
    /// Throws `.sandboxIncomplete` if the mode requires a part that the kernel lacks, `.sourceOutside` if a source lies
    /// outside the roots.
    ///
    /// - Parameters:
    ///   - sources: videos that it may read.
    ///   - roots: the folders in which the sources must lie; nil for any.
    ///   - files: other files that it may read, and folders whose files it may read.
    ///   - folders: folders in which it may make, write, rename, read and remove files.
    ///   - cpuSeconds: CPU time, of all threads, after which it is killed; nil for no limit.
    ///   - fileBytes: the most bytes that a file that it writes can have; nil for no limit.
    package static func enter(
        _ mode: SandboxMode, sources: [String], within roots: SourceRoots?, reads files: [String],
        writes folders: [String], cpuSeconds: Int?, fileBytes: Int64?
    ) throws(ReelFailure) -> SandboxState {
        let (reads, writes) = (try name(sources, within: roots) + name(files), name(folders))
        defer { for place in reads + writes { close(place) } }
        limit(RLIMIT_CORE, to: 0)
        limit(__RLIMIT_MEMLOCK, to: 64 << 10)
        // Segments, sources, and what libraries have open.
        limit(RLIMIT_NOFILE, to: 128 + 4 * rlim_t(files.count + sources.count))
        if let cpuSeconds { limit(RLIMIT_CPU, to: rlim_t(max(1, cpuSeconds)), beyond: 5) }
        if let fileBytes { limit(RLIMIT_FSIZE, to: rlim_t(max(0, fileBytes))) }
        // The other engines of this user could open this one's memory.
        _ = reel_close_memory()
        let isHeld = reel_forbid_new_privileges() == 0
        guard mode != .off else { return .none }
        _ = reel_drop_capabilities()
        var state = SandboxState.none
        if isHeld, hasOneThread, Landlock.restrict(reads: reads, folders: writes) { state.landlock = Landlock.version }
        if isHeld { state.seccomp = CallFilter(process: UInt32(getpid())).install() }
        guard mode != .require || state.missing.isEmpty else {
            throw ReelFailure(.sandboxIncomplete(missing: state.missing))
        }
        return state
    }

    /// Descriptors that name files or folders and do not open them. A missing file stays out of reach.
    private static func name(_ paths: [String]) -> [Int32] {
        // O_PATH, which Swift does not import.
        paths.map { open($0, 0x200000 | O_CLOEXEC) }.filter { $0 >= 0 }
    }

    private static func name(_ sources: [String], within roots: SourceRoots?) throws(ReelFailure) -> [Int32] {
        guard let roots else { return name(sources) }
        var places: [Int32] = []
        for source in sources { if let place = try roots.name(source) { places.append(place) } }
        return places
    }

    /// - Parameter beyond: how far the hard limit, at which the kernel kills without telling the reason, is above the
    ///   soft limit, whose signal tells it.
    private static func limit(_ resource: __rlimit_resource, to number: rlim_t, beyond: rlim_t = 0) {
        var limits = rlimit()
        getrlimit(__rlimit_resource_t(resource.rawValue), &limits)
        limits = rlimit(rlim_cur: min(number, limits.rlim_max), rlim_max: min(number + beyond, limits.rlim_max))
        setrlimit(__rlimit_resource_t(resource.rawValue), &limits)
    }

    /// A process has a folder for each thread, and a folder has two links more than it contains folders.
    private static var hasOneThread: Bool {
        var status = stat()
        return stat("/proc/self/task", &status) == 0 && status.st_nlink == 3
    }
}

/// A domain of Landlock: the files, network and other processes that this process, and all that it starts from now on,
/// may reach. A domain can only be narrowed.
private enum Landlock {
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

extension CallFilter {
    /// Puts the filter in force for all threads. Returns false if the kernel refuses.
    fileprivate func install() -> Bool {
        guard let architecture = Architecture.current else { return false }
        let program = program(for: architecture).map {
            sock_filter(code: $0.code, jt: $0.skipTrue, jf: $0.skipFalse, k: $0.value)
        }
        return reel_filter_calls(program, UInt16(program.count)) == 0
    }
}
