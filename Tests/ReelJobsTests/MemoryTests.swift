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
