internal import Glibc
public import ReelCore

/// A file with the address of Redis, which may have a password in it.
public enum SecretFile {
    /// The text of a file of 64 KiB at most. Links are followed: container platforms put their secrets behind some.
    ///
    /// Throws `.redisFileUnusable` if it cannot be read, and `.redisFileOpen` if all users can read it or its group can
    /// change it.
    public static func read(_ path: String) throws(ReelFailure) -> String {
        do throws(SystemCode) {
            let file = try Descriptor(open: path, O_RDONLY | O_NONBLOCK)
            let status = try file.status()
            guard status.st_mode & S_IFMT == S_IFREG else { throw SystemCode(EINVAL) }
            if status.st_mode & 0o027 == 0 { return String(decoding: try file.read(1 << 16, at: 0), as: UTF8.self) }
        } catch {
            throw ReelFailure(.redisFileUnusable(path: path, errno: error.value))
        }
        throw ReelFailure(.redisFileOpen(path: path))
    }
}
