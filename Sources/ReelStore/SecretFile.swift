internal import Glibc
package import ReelCore

/// A file with a secret: the address of Redis, which may have a password in it, or a server's tokens.
package enum SecretFile {
    /// Whose secret it is, which decides about the failures.
    package enum Kind: Sendable {
        case redis, server
    }

    /// The text of a file of 64 KiB at most. Links are followed: container platforms put their secrets behind some.
    ///
    /// Throws `.redisFileUnusable` or `.secretFileUnusable` if it cannot be read, and `.redisFileOpen` or `.secretFileOpen` if
    /// all users can read it or its group can change it.
    package static func read(_ path: String, of kind: Kind = .redis) throws(ReelFailure) -> String {
        do throws(SystemCode) {
            let file = try Descriptor(open: path, O_RDONLY | O_NONBLOCK)
            let status = try file.status()
            guard status.st_mode & S_IFMT == S_IFREG else { throw SystemCode(EINVAL) }
            if status.st_mode & 0o027 == 0 { return String(decoding: try file.read(1 << 16, at: 0), as: UTF8.self) }
        } catch {
            throw unusable(path, kind, error.value)
        }
        throw ReelFailure(kind == .redis ? .redisFileOpen(path: path) : .secretFileOpen(path: path))
    }

    /// Replaces a server's file at once, as a whole; only its owner can read it.
    ///
    /// Throws `.secretFileUnusable`.
    package static func write(_ text: String, to path: String) throws(ReelFailure) {
        let temporary = Files.temporaryName(beside: path)
        do throws(SystemCode) {
            let file = try Descriptor(open: temporary, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
            try file.write(Array(text.utf8)[...])
            try file.sync()
            try Files.rename(temporary, to: path)
            try Files.syncFolder(Files.folder(of: path))
        } catch {
            unlink(temporary)
            throw unusable(path, .server, error.value)
        }
    }

    private static func unusable(_ path: String, _ kind: Kind, _ errno: CInt) -> ReelFailure {
        ReelFailure(
            kind == .redis
                ? .redisFileUnusable(path: path, errno: errno) : .secretFileUnusable(path: path, errno: errno))
    }
}
