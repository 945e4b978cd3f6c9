internal import Foundation
internal import Glibc

/// The memory that this process can use.
public enum HostMemory {
    /// The share of it that passes take together by default.
    static let share = 0.6

    /// Bytes: the machine's memory, or what the process's control group allows if that is less, times `share`.
    public static var budget: Int64 {
        let group = (try? text("/proc/self/cgroup")).map(limitFiles(cgroup:)) ?? []
        let limits = group.compactMap { try? text($0) }.compactMap(limit(file:))
        return Int64(Double(min(machine, limits.min() ?? machine)) * share)
    }

    /// Bytes of the machine's memory. A service manager may hide /proc/meminfo.
    package static var machine: Int64 {
        let pages = Int64(sysconf(Int32(_SC_PHYS_PAGES)))
        return pages > 0 ? pages * Int64(sysconf(Int32(_SC_PAGESIZE))) : 2 << 30
    }

    /// The limit files, of version 2 and 1, of the groups that /proc/self/cgroup names and of those above them.
    package static func limitFiles(cgroup: String) -> [String] {
        cgroup.split(whereSeparator: \.isNewline).flatMap { line -> [String] in
            let parts = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard parts.count == 3 else { return [] }
            let (root, file): (String, String)
            switch parts[1] {
            case "": (root, file) = ("/sys/fs/cgroup", "memory.max")
            case "memory": (root, file) = ("/sys/fs/cgroup/memory", "memory.limit_in_bytes")
            default: return []
            }
            var folder = ""
            return ["\(root)/\(file)"]
                + parts[2].split(separator: "/").map { name in
                    folder += "/\(name)"
                    return "\(root)\(folder)/\(file)"
                }
        }
    }

    /// Bytes that a limit file allows; nil for "max".
    package static func limit(file: String) -> Int64? {
        Int64(file.trimmingCharacters(in: .whitespacesAndNewlines)).flatMap { $0 > 0 ? $0 : nil }
    }

    private static func text(_ path: String) throws -> String { try String(contentsOfFile: path, encoding: .utf8) }
}
