internal import Crypto
internal import Glibc
internal import ReelCore

/// Copying a whole file durably.
enum FileCopy {
    /// FICLONE of linux/fs.h, _IOW(0x94, 9, int): a macro that Swift does not import.
    private static let cloneRequest: UInt = 0x4004_9409

    /// Writes a copy under a name that must not exist yet, and syncs it. ECANCELED if the task was cancelled.
    ///
    /// - Parameters:
    ///   - mode: of the copy, whatever the umask.
    ///   - isHashed: whether to hash the bytes of the copy as they go by, or as they are read from a clone.
    /// - Returns: size of the copy, and its SHA-256 in hexadecimal, empty if it was not hashed.
    @discardableResult
    static func write(
        _ input: borrowing Descriptor, to target: String, mode: mode_t, isHashed: Bool = false
    ) throws(SystemCode) -> (bytes: Int64, sha256: String) {
        let output = try Descriptor(open: target, O_RDWR | O_CREAT | O_EXCL, mode: 0o600)
        guard fchmod(output.number, mode) == 0 else { throw SystemCode(errno) }
        var hash = isHashed ? SHA256() : nil
        if ioctl(output.number, cloneRequest, input.number) != 0 {
            // Better to fail now than after filling the disk.
            guard try Int64(input.status().st_size) <= room(beside: target) else { throw SystemCode(ENOSPC) }
            try eachBlock(of: input) { block throws(SystemCode) in
                hash?.update(data: block)
                try output.write(block)
            }
        } else if isHashed {
            try eachBlock(of: output) { hash?.update(data: $0) }
        }
        try output.sync()
        return (Int64(try output.status().st_size), hash.map { Hexadecimal.text($0.finalize()) } ?? "")
    }

    private static func eachBlock(
        of input: borrowing Descriptor, _ body: (ArraySlice<UInt8>) throws(SystemCode) -> Void
    ) throws(SystemCode) {
        var block = [UInt8](repeating: 0, count: 1 << 20)
        while true {
            if Task.isCancelled { throw SystemCode(ECANCELED) }
            let count = try input.read(into: &block)
            if count == 0 { return }
            try body(block[..<count])
        }
    }

    /// Bytes that this user may still write beside `path`; no limit if the file system does not tell.
    static func room(beside path: String) -> Int64 {
        var system = statvfs()
        guard statvfs(Files.folder(of: path), &system) == 0, system.f_blocks > 0 else { return .max }
        let (bytes, overflow) = UInt64(system.f_bavail).multipliedReportingOverflow(by: UInt64(system.f_frsize))
        return overflow ? .max : Int64(clamping: bytes)
    }

    /// The mode of a new file of this user, outside of any store.
    static var newFileMode: mode_t { 0o666 & ~Sharing.umaskOfUser }
}
