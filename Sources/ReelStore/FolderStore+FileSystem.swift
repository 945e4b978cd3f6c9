internal import Glibc

extension FolderStore {
    /// Bytes that this user may still write on the folder's disk; nil if the system does not tell.
    package var freeSpace: Int64? {
        let room = FileCopy.room(beside: root + "/.")
        return room == .max ? nil : room
    }

    /// Whether files written by another host may become visible here only after a delay. True unless the kernel says
    /// that the store is on this machine's own disks or in its memory.
    package var showsWritesLate: Bool {
        guard let status = try? Files.target(root),
            let mounts = try? AtomicFile.read("/proc/self/mountinfo"),
            let type = FolderStore.type(of: UInt64(status.st_dev), in: String(decoding: mounts, as: UTF8.self))
        else { return true }
        return !FolderStore.localTypes.contains(type)
    }

    private static let localTypes: Set = ["ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "zfs", "overlay", "tmpfs"]

    /// The type of the file system on a device, from `/proc/PID/mountinfo` (proc_pid_mountinfo(5)). In a line such as
    /// "36 35 98:0 / /mnt … - ext3 …" the third word is the device and the first after the dash the type. Nil if the
    /// device is not listed.
    static func type(of device: UInt64, in mounts: String) -> String? {
        let major = (device >> 8) & 0xFFF | (device >> 32) & ~0xFFF
        let minor = device & 0xFF | (device >> 12) & ~0xFF
        for line in mounts.split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count > 2, words[2] == "\(major):\(minor)", let dash = words.lastIndex(of: "-") else {
                continue
            }
            return words.indices.contains(dash + 1) ? String(words[dash + 1]) : nil
        }
        return nil
    }
}
