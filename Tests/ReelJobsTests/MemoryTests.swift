import ReelJobs
import Testing

@Suite struct MemoryTests {
    @Test func machineMemory() {
        let text = "MemTotal:       24737236 kB\nMemFree:        17000000 kB\n"
        #expect(HostMemory.total(meminfo: text) == Int64(25_330_929_664))
        #expect(HostMemory.total(meminfo: "MemFree: 1 kB") == nil)
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
