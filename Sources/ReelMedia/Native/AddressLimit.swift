internal import Glibc

/// The limit on this process's address space.
package enum AddressLimit {
    /// Limits the address space to a number of bytes. Beyond it an allocation fails, and the pass with it, instead of the
    /// machine. The limit is a soft one: an encoder that does not survive a refusal while it starts is let go beyond it.
    ///
    /// Call it before the process is confined: it opens a file of /proc.
    package static func set(_ bytes: UInt64) {
        _ = statistics
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit)
        limit.rlim_cur = min(rlim_t(bytes), limit.rlim_max)
        setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit)
    }

    /// Runs `body`, with the limit raised if `isAllowed`. Also returns whether the process is within the limit
    /// afterwards.
    @discardableResult
    static func exceed<R>(if isAllowed: Bool, _ body: () -> R) -> (result: R, isWithin: Bool) {
        var limit = rlimit()
        guard isAllowed, getrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit) == 0,
            limit.rlim_cur != limit.rlim_max
        else { return (body(), true) }
        var raised = rlimit(rlim_cur: limit.rlim_max, rlim_max: limit.rlim_max)
        setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &raised)
        let result = body()
        setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit)
        return (result, bytes() <= limit.rlim_cur)
    }

    /// Whether so little of the address space is left that an allocation may just have failed: an eighth of the limit, or 64 MiB
    /// if that is more. Encoders ask for whole pictures at once, and do not all say that they got none.
    static var isNearlyReached: Bool {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit) == 0, limit.rlim_cur != limit.rlim_max else {
            return false
        }
        return bytes() >= limit.rlim_cur - min(limit.rlim_cur, max(64 << 20, limit.rlim_cur / 8))
    }

    /// Descriptor of the kernel's figures about this process's memory.
    private static let statistics = open("/proc/self/statm", O_RDONLY | O_CLOEXEC)

    /// Bytes of address space that the process has; 0 if /proc cannot be read.
    private static func bytes() -> UInt64 {
        var line = [UInt8](repeating: 0, count: 128)
        let count = pread(statistics, &line, line.count, 0)
        guard count > 0 else { return 0 }
        let pages = String(decoding: line[..<count], as: UTF8.self).split(separator: " ").first.flatMap { UInt64($0) }
        return (pages ?? 0) * UInt64(sysconf(Int32(_SC_PAGESIZE)))
    }
}
