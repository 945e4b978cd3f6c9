import Foundation
import ReelJobs
import Testing

@Suite struct MemoryTests {
    @Test func machineMemory() throws {
        let text = try String(contentsOfFile: "/proc/meminfo", encoding: .utf8)
        let kibibytes = try #require(text.firstMatch(of: /MemTotal: +(\d+) kB/).flatMap { Int64($0.1) })
        #expect(HostMemory.machine == kibibytes * 1024)
    }

    @Test func groupLimitsOfBothVersions() {
        #expect(
            HostMemory.limitFiles(cgroup: "0::/a/b\n") == [
                "/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/a/memory.max", "/sys/fs/cgroup/a/b/memory.max",
            ])
        #expect(
            HostMemory.limitFiles(cgroup: "5:cpu:/x\n4:memory:/y\n") == [
                "/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/y/memory.limit_in_bytes",
            ])
        #expect(HostMemory.limit(file: "1073741824\n") == 1 << 30)
        #expect(HostMemory.limit(file: "max\n") == nil)
    }

    @Test func thisMachineHasMemory() {
        #expect(HostMemory.budget > 64 << 20)
    }
}

@Suite("Processors")
struct ProcessorTests {
    @Test(
        "a quota of processor time is worth so many processors",
        arguments: [
            ("max 100000\n", nil), ("100000 100000\n", 1), ("100001 100000\n", 2), ("50000 100000\n", 1),
            ("350000 100000\n", 4), ("0 100000", nil), ("-1 100000", nil), ("9223372036854775807 1", 1 << 20),
            ("", nil),
            ("1", nil), ("1 0", nil),
        ] as [(String, Int?)])
    func quota(text: String, count: Int?) { #expect(HostProcessors.quota(text) == count) }

    @Test("a process that may run on one processor counts one")
    func affinity() throws {
        var (before, one) = (cpu_set_t(), cpu_set_t())
        let size = MemoryLayout<cpu_set_t>.size
        try #require(sched_getaffinity(0, size, &before) == 0)
        let first = try #require(withUnsafeBytes(of: before) { $0.firstIndex { $0 != 0 } })
        withUnsafeMutableBytes(of: &one) { one in
            one[first] = withUnsafeBytes(of: before) { UInt8(1) << UInt8($0[first].trailingZeroBitCount) }
        }
        // The number of a thread: the rest of this process keeps its processors.
        try #require(sched_setaffinity(0, size, &one) == 0)
        let count = HostProcessors.count
        sched_setaffinity(0, size, &before)
        #expect(count == 1)
    }
}
