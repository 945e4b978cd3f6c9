internal import Glibc

/// Copying a whole file durably.
enum FileCopy {
    /// FICLONE of linux/fs.h, _IOW(0x94, 9, int): a macro that Swift does not import.
    private static let cloneRequest: UInt = 0x4004_9409

    /// Writes a copy under a name that must not exist yet, and syncs it. ECANCELED where the task was cancelled.
    static func write(_ source: String, to target: String) throws(SystemCode) {
        let input = try Descriptor(open: source, O_RDONLY)
        let output = try Descriptor(open: target, O_WRONLY | O_CREAT | O_EXCL)
        if ioctl(output.number, cloneRequest, input.number) != 0 {
            // Better to say so now than after filling the disk.
            guard try Int64(input.status().st_size) <= room(beside: target) else { throw SystemCode(ENOSPC) }
            try copyBlocks(input, output)
        }
        try output.sync()
    }

    private static func copyBlocks(_ input: borrowing Descriptor, _ output: borrowing Descriptor) throws(SystemCode) {
        var block = [UInt8](repeating: 0, count: 1 << 20)
        while true {
            if Task.isCancelled { throw SystemCode(ECANCELED) }
            let count = try input.read(into: &block)
            if count == 0 { return }
            try output.write(block[..<count])
        }
    }

    /// Bytes that this user may still write beside `path`; no limit where the file system does not tell.
    static func room(beside path: String) -> Int64 {
        var system = statvfs()
        guard statvfs(Files.folder(of: path), &system) == 0, system.f_blocks > 0 else { return .max }
        let (bytes, overflow) = UInt64(system.f_bavail).multipliedReportingOverflow(by: UInt64(system.f_frsize))
        return overflow ? .max : Int64(clamping: bytes)
    }

    /// The mode of a new file of this user. Read from the kernel, since asking `umask` means changing it.
    static var newFileMode: mode_t {
        let status = (try? Descriptor(open: "/proc/self/status", O_RDONLY).readAll()) ?? []
        let field = String(decoding: status, as: UTF8.self).split(separator: "\n").first { $0.hasPrefix("Umask:") }
        let mask = field.flatMap { mode_t($0.dropFirst("Umask:".count).drop(while: \.isWhitespace), radix: 8) }
        return 0o666 & ~(mask ?? 0o022)
    }
}
