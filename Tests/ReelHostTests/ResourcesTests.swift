import Foundation
import ReelHost
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

    @Test(
        "processors that a process may run on are those of its mask",
        arguments: [
            ("Name:\tx\nCpus_allowed:\tff,00000003\nCpus_allowed_list:\t0-1,32-39\n", 10), ("Cpus_allowed:\t1\n", 1),
            ("Cpus_allowed:\t0\n", nil), ("Name:\tx\n", nil),
        ] as [(String, Int?)])
    func affinity(status: String, count: Int?) { #expect(HostProcessors.allowed(status) == count) }
}
