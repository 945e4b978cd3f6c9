internal import Foundation
internal import Glibc

/// The memory that this process can use.
package enum HostMemory {
    /// The share of it that passes take together by default.
    static let share = 0.6

    /// Bytes: the machine's memory, or what the process's control group allows if that is less, times `share`.
    package static var budget: Int64 {
        let limits = ControlGroups.contents(of: limitFile, legacy: legacyLimit).compactMap(limit(file:))
        return Int64(Double(min(machine, limits.min() ?? machine)) * share)
    }

    private static let limitFile = "memory.max"
    private static let legacyLimit = (controller: "memory", file: "memory.limit_in_bytes")

    /// Bytes of the machine's memory. A service manager may hide /proc/meminfo.
    package static var machine: Int64 {
        let pages = Int64(sysconf(Int32(_SC_PHYS_PAGES)))
        return pages > 0 ? pages * Int64(sysconf(Int32(_SC_PAGESIZE))) : 2 << 30
    }

    /// The limit files, of version 2 and 1, of the groups that /proc/self/cgroup names and of those above them.
    package static func limitFiles(cgroup: String) -> [String] {
        ControlGroups.files(limitFile, legacy: legacyLimit, cgroup: cgroup)
    }

    /// Bytes that a limit file allows; nil for "max".
    package static func limit(file: String) -> Int64? {
        Int64(file.trimmingCharacters(in: .whitespacesAndNewlines)).flatMap { $0 > 0 ? $0 : nil }
    }
}
