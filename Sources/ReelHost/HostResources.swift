internal import CSandbox
internal import Foundation
internal import Glibc

/// The memory that this process can use.
package enum HostMemory {
    /// The share of it that passes take together by default.
    private static let share = 0.6
    private static let limitFile = "memory.max"
    private static let legacyLimit = (controller: "memory", file: "memory.limit_in_bytes")

    /// Bytes: the machine's memory, or the limit of the process's control group if that is less, times `share`.
    package static var budget: Int64 {
        let limits = ControlGroups.contents(of: limitFile, legacy: legacyLimit).compactMap(limit(file:))
        return Int64(Double(min(machine, limits.min() ?? machine)) * share)
    }

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

/// The processors that this process can use.
package enum HostProcessors {
    /// The number of processors in its affinity mask, which `taskset` sets, or the processor time of its control group
    /// in whole processors if that is less; at least 1.
    package static var count: Int {
        let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let allowed = status.flatMap(allowed) ?? ProcessInfo.processInfo.activeProcessorCount
        let quotas = ControlGroups.contents(of: "cpu.max").compactMap(quota)
        return max(1, min(allowed, quotas.min() ?? allowed))
    }

    /// The number of processors that a file /proc/PID/status allows: 10 for "Cpus_allowed: ff,00000003". Nil if it does
    /// not say.
    package static func allowed(_ status: String) -> Int? {
        let name = "Cpus_allowed:"
        guard let line = status.split(whereSeparator: \.isNewline).first(where: { $0.hasPrefix(name) }) else {
            return nil
        }
        let count = line.dropFirst(name.count).compactMap(\.hexDigitValue).reduce(0) { $0 + $1.nonzeroBitCount }
        return count > 0 ? count : nil
    }

    /// Processors, rounded up, that a file cpu.max allows: "150000 100000" is 2. Nil for "max".
    package static func quota(_ text: String) -> Int? {
        let numbers = text.split(whereSeparator: \.isWhitespace).map { Int64($0) }
        guard numbers.count == 2, let time = numbers[0], let period = numbers[1], time > 0, period > 0 else {
            return nil
        }
        return Int(min((time - 1) / period + 1, 1 << 20))
    }
}

/// The control groups of this process, which limit what it may use.
private enum ControlGroups {
    /// The contents of the readable files among `files`.
    ///
    /// - Parameters:
    ///   - name: of the file in a group of version 2.
    ///   - legacy: controller and file in a group of version 1; nil for none.
    static func contents(of name: String, legacy: (controller: String, file: String)? = nil) -> [String] {
        guard let groups = text("/proc/self/cgroup") else { return [] }
        return files(name, legacy: legacy, cgroup: groups).compactMap(text)
    }

    /// The paths of such a file in the groups that /proc/self/cgroup names, `cgroup`, and in those above them.
    static func files(_ name: String, legacy: (controller: String, file: String)?, cgroup: String) -> [String] {
        cgroup.split(whereSeparator: \.isNewline).flatMap { line -> [String] in
            let parts = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard parts.count == 3 else { return [] }
            let (root, file): (String, String)
            switch (String(parts[1]), legacy) {
            case ("", _): (root, file) = ("/sys/fs/cgroup", name)
            case (let controller, let legacy?) where controller == legacy.controller:
                (root, file) = ("/sys/fs/cgroup/\(controller)", legacy.file)
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

    private static func text(_ path: String) -> String? { try? String(contentsOfFile: path, encoding: .utf8) }
}

/// A file with holes.
package enum SparseFile {
    /// Gives back the room of a part of an open file, which then reads as zeros. Where the file system has no holes, the
    /// part stays as it is.
    package static func discard(_ range: Range<Int64>, of descriptor: CInt) {
        reel_punch_hole(descriptor, range.lowerBound, range.upperBound - range.lowerBound)
    }
}
