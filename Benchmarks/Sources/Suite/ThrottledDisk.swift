internal import CProcess
internal import Foundation
internal import Glibc

/// A control group of the kernel whose processes read a disk no faster than a rate.
struct ThrottledDisk {
    /// Megabytes (10⁶ bytes) a second.
    let rate: Int
    private let group: String

    /// Throttles the disk of a file. Throws if the kernel does not let this user make such a group, or the file is not on a
    /// disk.
    init(of file: String, rate: Int) throws {
        self.rate = rate
        let disk = try ThrottledDisk.numbers(of: file)
        let (bytes, isFirstVersion) = (rate * 1_000_000, FileManager.default.fileExists(atPath: "/sys/fs/cgroup/blkio"))
        group = "/sys/fs/cgroup/\(isFirstVersion ? "blkio/" : "")reel-bench-\(getpid())-\(rate)"
        guard mkdir(group, 0o755) == 0 else {
            throw Trouble("cannot make \(group): \(String(cString: strerror(errno)))")
        }
        do {
            let (name, limit) =
                isFirstVersion ? ("blkio.throttle.read_bps_device", "\(bytes)") : ("io.max", "rbps=\(bytes)")
            try Data("\(disk) \(limit)".utf8).write(to: URL(fileURLWithPath: "\(group)/\(name)"))
        } catch {
            end()
            throw error
        }
    }

    /// A command line that runs the command, and its descendants, in this group.
    func throttled(_ command: [String]) -> [String] {
        ["sh", "-c", "echo $$ >'\(group)/cgroup.procs' && exec \"$@\"", "sh"] + command
    }

    /// Removes the group, which must have no processes left.
    func end() { rmdir(group) }

    /// Major and minor number of the disk that holds a file. A partition cannot be throttled, only all of its disk.
    private static func numbers(of file: String) throws -> String {
        var status = stat()
        guard stat(file, &status) == 0 else { throw Trouble("\(file): \(String(cString: strerror(errno)))") }
        let device = "/sys/dev/block/\(gnu_dev_major(status.st_dev)):\(gnu_dev_minor(status.st_dev))"
        let isPartition = FileManager.default.fileExists(atPath: device + "/partition")
        let numbers = Descendants.text(device + (isPartition ? "/../dev" : "/dev"))
        guard !numbers.isEmpty else { throw Trouble("\(file) is on no disk of this machine") }
        return numbers.trimmingCharacters(in: .newlines)
    }
}
